"""Makes and checks the job that the tests of faults run. It has a few hundred files in many sources, so that a fault
always meets work in progress; its dataset must be the same whatever happened."""

import contextlib
import json
import pathlib
import shutil
import sys
import tempfile
import textwrap
import time
import unittest

import cluster as clusters
import harness
import shim as shims

FOLDERS, FILES, FUNCTIONS, GIT_SOURCES = 16, 12, 2, 3
GPL = "# SPDX-License-Identifier: GPL-3.0-only\n"


def write_sources(folder, salt, functions=FUNCTIONS):
    """Folders of made kernels: some under a licence that is refused, some that a holdout has too."""
    harness.write_many_kernels(folder, FOLDERS * FILES, functions)
    for index, path in enumerate(sorted(folder.glob("*.py"))):
        part = folder / f"d{index // FILES:02}"
        part.mkdir(exist_ok=True)
        text = path.read_text().replace("SCALE_", f"SCALE_{salt}_")
        (part / path.name).write_text(GPL + text if index % 24 == 7 else text)
        path.unlink()
    secret = folder / "holdout"
    secret.mkdir()
    (secret / "bench.py").write_text((folder / "d01" / f"kernels_{FILES:05}.py").read_text())


def job_text(url, folders=range(FOLDERS), name="chaos"):
    """A source a folder: the first few through git, which costs more to run, the others from the disk."""
    sources = [f"""
          - {f'git: {url}/many.git' if i < GIT_SOURCES else 'path: ./many'}
            name: d{i:02}
            include: ["d{i:02}/**/*.py"]
            category: made""" for i in folders]
    return textwrap.dedent(f"""
        name: {name}
        sources:{''.join(sources)}
          - path: ./many
            name: twice
            include: ["d00/*.py"]
            tier: 3
          - path: ./many
            name: bench
            include: ["holdout/*.py"]
            role: holdout
        """).lstrip()


class Workload:
    """The sources, served on a web server, and the dataset of a quiet run."""
    DISK_MEGABYTES = 384
    LIMIT_MEGABYTES = 96  # a repair needs as much room as the store takes
    FILE_DELAY_US = 15_000
    FAULTS_PER_JOB, PAUSE_SECONDS = 12, (0.02, 0.6)
    JOB_SECONDS = 180  # for a job to end once the faults are over

    def __init__(self, stack, host="127.0.0.1", url_host=None):
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelmill-chaos-")))
        (self.folder / "git").mkdir()
        self.git = stack.enter_context(harness.git_server(self.folder / "git", host=host))
        self.url = f"http://{url_host or host}:{self.git.server_address[1]}"
        self.renew()

    def renew(self, salt=0):
        """Makes the sources anew, with kernels that those of another salt do not have, and runs the job on
        them quietly."""
        for stale in ("many", "git/many.git", "quiet", "quiet-data"):
            shutil.rmtree(self.folder / stale, ignore_errors=True)
        write_sources(self.folder / "many", salt)
        harness.make_repository(self.folder / "many", self.folder / "git/many.git")
        self.job = self.write_job("job.yaml", job_text(self.url))
        self.quiet = self.folder / "quiet"
        harness.crawl(self.job, self.quiet, self.folder / "quiet-data", "--workers", "2")
        check_ledger(self.quiet)
        kernels = report_of(self.quiet)["kernels"]
        for fate in ("kept", "rejected", "duplicate", "contaminated", "holdout"):
            assert kernels[fate] > 0, f"the job has nothing that is {fate}: {kernels}"

    def write_job(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def check(self, out):
        """The invariant: the dataset is that of the quiet run, byte for byte, and the ledger adds up."""
        got, expected = harness.dataset_digest(out), harness.dataset_digest(self.quiet)
        assert got == expected, f"dataset {got}, of a quiet run {expected}"
        ours, theirs = harness.tree_hashes(out), harness.tree_hashes(self.quiet)
        assert ours == theirs, f"{ours} is not {theirs}"
        check_ledger(out)


class RealWorkload(Workload):
    """A job file of real repositories, and its dataset: that of a quiet run, or one that was made before. The job stays the
    same: when it comes again, the store has its results."""
    DISK_MEGABYTES, LIMIT_MEGABYTES = 3072, 1280
    FILE_DELAY_US = 0  # real files are slow enough
    FAULTS_PER_JOB, PAUSE_SECONDS = 1000, (0.5, 8)  # a task of real files takes seconds, and must end now and then
    JOB_SECONDS = 3600

    def __init__(self, stack, job, quiet=None):
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelmill-chaos-")))
        self.job, self.quiet = pathlib.Path(job).resolve(), quiet and pathlib.Path(quiet).resolve()

    def renew(self, salt=0):
        if self.quiet is None:
            self.quiet = self.folder / "quiet"
            harness.crawl(self.job, self.quiet, self.folder / "quiet-data", "--workers", "2", timeout=self.JOB_SECONDS)
            shutil.rmtree(self.folder / "quiet-data")
        check_ledger(self.quiet)


def report_of(out):
    return json.loads((pathlib.Path(out) / "report.json").read_text())


def rows(out):
    """The ledger without what names the build."""
    return sorted(repr({k: v for k, v in row.items() if k != "stages"}) for row in harness.ledger(out))


def check_ledger(out):
    """files seen = extracted + skipped + failed; kernels found = kept + rejected + duplicates + contaminated;
    and the rows of the ledger say the same."""
    report = report_of(out)
    files, kernels = report["files"], report["kernels"]
    assert files["seen"] == files["extracted"] + files["skipped"] + files["failed"], files
    fates = ("kept", "rejected", "duplicate", "contaminated")
    assert kernels["found"] == sum(kernels[fate] for fate in fates), kernels
    rows = {}
    for row in harness.ledger(out):
        rows[row["fate"]] = rows.get(row["fate"], 0) + 1
    for fate in fates:
        assert rows.get(fate, 0) == kernels[fate], (fate, rows, kernels)


def check_status(status):
    """Every task that the job has is done: none queued, leased or dead."""
    assert status["state"] == "done", status
    assert not status.get("failures"), status["failures"]
    for row in status["stages"]:
        counts = {k: int(row[k]) for k in ("total", "done", "failed", "running")}
        assert counts["total"] == counts["done"], row
        assert counts["failed"] == counts["running"] == 0, row
    counters = status["counters"]
    assert counters["files.seen"] == counters["dataset.files.seen"], counters
    assert counters["kernels.found"] >= counters["dataset.kept"], counters


class ChaosTest(unittest.TestCase):
    """One workload for all tests of a class; each has a folder and a shim of its own."""
    maxDiff = None
    HOST = "127.0.0.1"  # that the web server of the sources listens at
    URL_HOST = None     # and that it is reached at, where another

    @classmethod
    def setUpClass(cls):
        cls.class_stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.class_stack.close)
        cls.workload = Workload(cls.class_stack, cls.HOST, cls.URL_HOST)

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.folder = self.workload.folder / self.id().rsplit(".", 1)[-1]
        self.folder.mkdir()
        self.shim = shims.Shim(self.folder / "shim")
        self.addCleanup(self.stack.close)
        began = time.monotonic()
        self.addCleanup(lambda: print(f"({time.monotonic() - began:.1f} s) ", end="", file=sys.stderr))

    def cluster(self, each=1, slow_ms=40, prepare=None, **kwargs):
        """A running cluster, whose extractor takes `slow_ms` longer over each file until assert_unharmed():
        the job has a middle however fast the machine is. `prepare` sees it before it starts."""
        self.shim.file_delay_us = slow_ms * 1000
        made = self.stack.enter_context(clusters.ChaosCluster(self.folder / "cluster", shim=self.shim, **kwargs))
        if prepare is not None:
            prepare(made)
        return made.start(each)

    def submit(self, cluster, name="out", job=None):
        submission = cluster.submit(job or self.workload.job, self.folder / name, name)
        self.stack.callback(submission.abandon)
        return submission

    def assert_unharmed(self, submission, seconds=clusters.DEADLINE):
        """The job ends as if nothing had happened."""
        self.shim.file_delay_us = 0
        self.assertEqual(submission.wait(seconds), 0, submission.log.read_text()[-2000:])
        self.workload.check(submission.out)
        status = submission.cluster.status(submission.job)
        self.assertIsNotNone(status, "the coordinator does not answer")
        check_status(status)
