# The program for `python3 -c`: reads the harness from descriptor 3, then serves jobs. See zygote.h.
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import sys


class Sources(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """A finder that loads kernelmill_harness from the texts that the worker sends."""

    def __init__(self, texts):
        self.texts = texts

    def find_spec(self, name, path=None, target=None):
        package = name == "kernelmill_harness"
        if package or name.removeprefix("kernelmill_harness.") in self.texts:
            return importlib.machinery.ModuleSpec(name, self, is_package=package)
        return None

    def get_source(self, fullname):
        return self.texts.get(fullname.removeprefix("kernelmill_harness."), "")


jobs, reports = os.fdopen(3, "rb"), os.fdopen(4, "wb")
harness = json.loads(jobs.readline())
sys.meta_path.insert(0, Sources(harness["modules"]))
from kernelmill_harness import zygote  # noqa: E402

zygote.main(jobs, reports, importlib.import_module("kernelmill_harness." + harness["driver"]))
