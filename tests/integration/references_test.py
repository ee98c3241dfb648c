"""A job that asks for references: rows, schema and digest, embedded and on a cluster; other jobs are as they were."""

import json
import pathlib
import tempfile
import unittest

import harness
import row_schema

FILES = {
    "LICENSE": harness.MIT_TEXT,
    "lib/__init__.py": "from .ops import scale\n",
    "lib/sizes.py": "STEP = 16\n\n\ndef round_up(n):\n    return (n + STEP - 1) // STEP * STEP\n",
    "lib/ops.py": """import torch
import triton
import triton.language as tl
from .sizes import round_up


@triton.jit
def scale_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def untested_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.exp(tl.load(x + i, mask=i < n)), mask=i < n)


def scale(x):
    y = torch.empty_like(x)
    scale_kernel[(1,)](x, y, x.numel(), B=round_up(x.numel()))
    return y
""",
    "tests/test_scale.py": """import pytest
import torch
from lib import scale

KEY = "someone@example.org"


def reference_scale(x):
    return x * 2 if KEY else None


@pytest.mark.parametrize("n", [8, 16])
@pytest.mark.parametrize("dtype, atol", [(torch.float32, 0), (torch.float16, 1e-3)])
def test_scale(n, dtype, atol):
    x = torch.randn(n, dtype=dtype)
    torch.testing.assert_close(scale(x), reference_scale(x), atol=atol, rtol=0)
""",
}


class References(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        harness.write_files(self.folder / "source", FILES)

    def job(self, name, more):
        path = self.folder / f"{name}.yaml"
        path.write_text(f"name: references\\n{more}sources:\\n  - path: ./source\\n    name: source\\n".replace("\\n", "\n"))
        return path

    def test_rows_are_the_same_embedded_on_a_cluster_and_from_the_lock(self):
        out = self.folder / "out"
        job = self.job("asked", "references: true\n")
        done = harness.crawl(job, out, self.folder / "data")
        self.assertIn("\nreferences 1 reference; no_test 1\n", done.stdout)
        self.assertEqual(json.loads((out / "report.json").read_text())["references"], {"no_test": 1, "reference": 1})
        self.assertEqual(row_schema.problems(out), [])
        rows = {row["name"]: row for row in map(json.loads, (out / "references.jsonl").read_text().splitlines())}
        self.assertEqual(set(rows), {"scale_kernel", "untested_kernel"})
        row = rows["scale_kernel"]
        self.assertEqual((row["status"], row["chain"], row["entry"]), ("reference", ["scale", "scale_kernel"], "scale"))
        self.assertEqual(row["test"]["qualname"], "test_scale")
        self.assertEqual(row["reference"]["module"],
                         'KEY = "xxxxxxx@xxxxxxx.xxx"\n\ndef reference_scale(x):\n    return x * 2 if KEY else None\n')
        self.assertTrue(row["launcher"]["self_contained"])
        self.assertIn("def round_up(n):", row["launcher"]["module"])
        self.assertEqual(row["cases_total"], 4)
        self.assertEqual([[value["value"] for value in case["values"]] for case in row["cases"]],
                         [["8"], ["16"], ["torch.float32", "0"], ["torch.float16", "0.001"]])
        self.assertEqual(row["comparisons"][0]["tolerances"][0]["values"],
                         [{"dtype": "torch.float32", "value": "0"}, {"dtype": "torch.float16", "value": "0.001"}])
        self.assertEqual((rows["untested_kernel"]["status"], rows["untested_kernel"]["test"]), ("no_test", None))

        again = self.folder / "again"
        harness.crawl(out / "job.lock.yaml", again, self.folder / "other-data")
        self.assertEqual(harness.tree_hashes(again), harness.tree_hashes(out))
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            there = self.folder / "there"
            cluster.client("submit", job, "--out", there)
        self.assertEqual(harness.tree_hashes(there), harness.tree_hashes(out))

    def test_a_job_that_does_not_ask_has_no_stage_and_no_row(self):
        out = self.folder / "out"
        done = harness.crawl(self.job("plain", ""), out, self.folder / "data", "--json")
        summary = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((summary["references"], summary["tasks"]), (None, None))
        stages = {stage["stage"]: stage for stage in harness.last_status(done.stdout + done.stderr)["stages"]}
        self.assertEqual(int(stages.get("reference", {}).get("total", 0)), 0)
        self.assertNotIn("reference", json.loads((out / "report.json").read_text())["stages"])
        references = out / "references.jsonl"
        self.assertEqual(references.read_text() if references.exists() else "", "")


if __name__ == "__main__":
    unittest.main()
