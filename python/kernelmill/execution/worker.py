"""Runs kernels for kernelmill-runner: `python3 -m kernelmill.execution.worker OPTIONS`, with OPTIONS a JSON object.

With `folder` it runs the cases of a bundle (kernels.jsonl, evidence.jsonl and the tensors in evidence/), and writes each result as a line
of JSON as soon as it is known, so that a worker that is killed loses only what was running. Without one it writes the toolchain of the
device: a line that is written says that this machine can run and confine kernels."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

from kernelmill.errors import DatasetError, Error
from kernelmill.execution import confinement, replay
from kernelmill.execution.bundle import EVIDENCE
from kernelmill.execution.case import Case, Row, canonical
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.runner import Bounds, Runner


def tell(row: Row) -> None:
    print(canonical(row), flush=True)


class ToldEvidence(Evidence):
    """The cases of a file, and results, which are told."""

    def add_file(self, file: pathlib.Path) -> None:
        """Leaves out what is no case. The export of the dataset says so."""
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                try:
                    super().add(Case(json.loads(line)).check().row)
                except (ValueError, KeyError, TypeError, DatasetError):
                    continue

    def add(self, row: Row) -> None:
        super().add(row)
        if row["type"] == "result":
            tell(row)

    def save(self) -> None:
        """Keeps nothing: the worker does that."""


def probe(options: dict[str, Any]) -> None:
    with Runner(options["device"], Bounds(arena=1 << 20), options["confined"]) as runner:
        tell({"type": "toolchain", "toolchain": runner.toolchain})


def run(options: dict[str, Any]) -> None:
    folder = pathlib.Path(options["folder"])
    if options["confined"]:
        confinement.check_hidden(str(folder), options["device"] != "cpu")
    settings = replay.Settings(device=options["device"], workers=options["workers"], confined=options["confined"],
                               bounds=Bounds(seconds=options["seconds"]))
    summary = replay.run(folder, ToldEvidence(folder / EVIDENCE), settings)
    tell({"type": "end", "errors": summary.errors})


def main() -> int:
    options = json.loads(sys.argv[1])
    try:
        (run if "folder" in options else probe)(options)
    except (Error, ModuleNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
