"""The ledger against CPython's own parser, on code that others wrote: the wheels of the quick start's job
(from the configured package index), the demo repository, and any bare git repository named on the
command line or in KERNELMILL_REPOSITORIES (colon-separated): nothing missing, nothing extra, every byte
the same."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import harness
import row_schema

REPOSITORIES = [r for r in os.environ.get("KERNELMILL_REPOSITORIES", "").split(":") if r]


def truth_of(folder):
    script = harness.ROOT / "tests/oracle/jit_functions.py"
    truth = json.loads(harness.run(sys.executable, script, folder).stdout)
    rows = {(f["path"], f["first_line"], f["last_line"], f["sha256"], "gluon" if f["gluon"] else "triton")
            for f in truth["functions"]}
    return rows, {path for path, _ in truth["unparsed"]}


def check_out(repository, folder):
    """The Python files of HEAD that are there; blobs that the copy lacks are passed over."""
    listing = subprocess.run(["git", "--git-dir", repository, "ls-tree", "-r", "-z", "HEAD"],
                             capture_output=True, check=True).stdout
    for entry in listing.split(b"\0"):
        if not entry:
            continue
        (mode, kind, oid), path = entry.split(b"\t", 1)[0].split(), entry.split(b"\t", 1)[1]
        if kind == b"blob" and mode != b"120000" and path.endswith(b".py"):
            blob = subprocess.run(["git", "--git-dir", repository, "cat-file", "blob", oid], capture_output=True)
            if blob.returncode == 0:
                target = folder / os.fsdecode(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(blob.stdout)


class RealKernels(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.temp = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temp.name)

    @classmethod
    def tearDownClass(cls):
        cls.temp.cleanup()

    def compare(self, source, folder):
        """Crawls one source, as YAML, and compares its ledger with the truth about `folder`."""
        job = self.folder / "job.yaml"
        job.write_text(f"name: real\nsources:\n{source}")
        out = self.folder / "out"
        harness.crawl(job, out, self.folder / "data", timeout=600)
        truth, unparsed = truth_of(folder)
        # The truth has only kernels whose decorator the file's imports resolve.
        rows = [r for r in harness.ledger(out)
                if r["path"] not in unparsed and r["form"] == "decorated" and r["dsl"] in ("triton", "gluon")]
        ours = collections.Counter((r["path"], r["first_line"], r["last_line"], r["sha256"], r["dsl"]) for r in rows)
        self.assertEqual(sorted(truth - set(ours)), [], "missing")
        self.assertEqual(sorted(set(ours) - truth), [], "extra")
        self.assertEqual([k for k, n in ours.items() if n > 1], [], "twice")
        report = json.loads((out / "report.json").read_text())
        kernels = report["kernels"]
        self.assertEqual(kernels["found"], len(harness.ledger(out)))
        self.assertEqual(row_schema.problems(out), [])
        files = report["files"]
        self.assertEqual(files["seen"], files["extracted"] + files["skipped"] + files["failed"])
        return len(truth)

    def test_the_demo_repository(self):
        repository = self.folder / "demo.git"
        harness.make_repository(harness.DEMO_SOURCES, repository)
        self.assertGreater(self.compare(f"  - git: {repository}\n", harness.DEMO_SOURCES), 8)

    def test_the_wheels_of_the_quick_start(self):
        job = (harness.ROOT / "deploy/jobs/quickstart.yaml").read_text()
        pins = re.findall(r"package: (\S+)", job)
        self.assertGreaterEqual(len(pins), 2)
        for pin in pins:
            with self.subTest(pin):
                wheels = self.folder / f"wheels-{pin}"
                harness.run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                            "--dest", wheels, pin)
                unpacked = self.folder / f"unpacked-{pin}"
                with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
                    wheel.extractall(unpacked)
                self.assertGreater(self.compare(f"  - package: {pin}\n", unpacked), 100)

    def test_named_repositories(self):
        for repository in REPOSITORIES:
            with self.subTest(repository):
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
                check_out(repository, folder)
                count = self.compare(f"  - git: {repository}\n", folder)
                print(f"{repository}: {count} jit functions, none missing, none extra", flush=True)


if __name__ == "__main__":
    REPOSITORIES += sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
