"""The databases of older formats (tests/data/formats), and the sources of the jobs in them."""

import contextlib
import json
import pathlib
import shutil
import tarfile

import harness

FORMATS = harness.ROOT / "tests/data/formats"
PLACE = pathlib.Path("/tmp/kernelmill-formats")  # as in make.py: the jobs name it
NEWEST = "store2-coordinator2"


@contextlib.contextmanager
def unpacked(folder, name=NEWEST):
    """Puts the databases into folder/store and folder/coordinator, and the sources where the jobs look for them. Returns what
    make.py wrote of it."""
    try:
        with tarfile.open(FORMATS / f"{name}.tar.xz") as tar:
            tar.extractall(folder)
        shutil.copytree(folder / "sources", PLACE, dirs_exist_ok=True)
        yield json.loads((FORMATS / f"{name}.json").read_text())
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)


def crawl_digest(folder, job):
    """The dataset of a job, "done" or "middle", by a quiet run of this build."""
    harness.crawl(PLACE / f"{job}.yaml", folder / f"quiet-{job}", folder / f"quiet-{job}-data")
    return harness.dataset_digest(folder / f"quiet-{job}")
