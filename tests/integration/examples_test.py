#!/usr/bin/env python3
"""Checks the jobs in examples/ and deploy/jobs: the client accepts each of them, those that need no network run, and
docs/dataset.md and docs/reference/fields.md explain the files that they write."""

import json
import pathlib
import re
import tempfile
import unittest

import harness
import row_schema

JOBS = sorted([*(harness.ROOT / "examples").glob("*.yaml"), *(harness.ROOT / "deploy/jobs").glob("*.yaml")])
OFFLINE = ("folder", "inductor", "cuda", "splits")


# Objects of report.json and MANIFEST.json whose keys are data: names of checks, reasons, stages and categories.
DATA = {"by_languages", "checks", "stages", "excluded", "by_reason", "skipped_by_reason", "failed_by_reason",
        "skipped_strings_by_reason", "functions_of_other_dsls", "categories", "licenses"}


def keys_in(value):
    """The keys of an object and of those in it."""
    if isinstance(value, list):
        return {key for entry in value for key in keys_in(entry)}
    if not isinstance(value, dict):
        return set()
    return set(value) | {key for name, entry in value.items() if name not in DATA for key in keys_in(entry)}


def keys_of(out):
    """The keys of every record of an export, and of its report."""
    manifest = json.loads((out / "MANIFEST.json").read_text())
    keys = keys_in(json.loads((out / "report.json").read_text())) | keys_in(manifest)
    keys |= {key for category in manifest["categories"].values() for key in keys_in(category)}
    for name in ("kernels", "files", "ledger", "cuda_triton_pairs", "parallel", "notices"):
        for row in harness.rows_of(out, name):
            keys |= keys_in(row)
    return keys


def submit(job):
    """Hands the job to a coordinator that is not there: exit code 3 means that the job itself was taken."""
    return harness.run(harness.BIN / "kernelmill", "submit", job, "--coordinator",
                       f"127.0.0.1:{harness.free_port()}", "--reconnect-seconds", "0", check=False)


class ExamplesTest(unittest.TestCase):
    def test_every_job_is_taken(self):
        self.assertGreater(len(JOBS), 8)
        for job in JOBS:
            with self.subTest(job=job.name):
                done = submit(job)
                self.assertEqual(done.returncode, 3, done.stderr)

    def test_a_job_with_an_unknown_key_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            job = pathlib.Path(folder) / "job.yaml"
            job.write_text("name: a\nsources: [{path: x, includes: [y]}]\n")
            done = submit(job)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("job.yaml:2: sources[0].includes: unknown key", done.stderr)

    def test_those_that_need_no_network_run(self):
        page = "".join((harness.ROOT / "docs" / name).read_text() for name in ("dataset.md", "reference/fields.md"))
        explained = {word for _, span in re.findall(r"(`+)(.+?)\1(?!`)", page) for word in re.findall(r"\w+", span)}
        for name in OFFLINE:
            with self.subTest(job=name), tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder) / "out"
                harness.crawl(harness.ROOT / f"examples/{name}.yaml", out, pathlib.Path(folder) / "data")
                self.assertGreater(json.loads((out / "report.json").read_text())["kernels"]["kept"], 0)
                self.assertEqual(row_schema.problems(out), [])
                self.assertEqual(keys_of(out) - explained, set())


if __name__ == "__main__":
    unittest.main()
