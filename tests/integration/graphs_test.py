"""A whole job over captures: a source that keeps graphs becomes pytorch_triton.jsonl, with the kernels by their ids."""

import ast
import contextlib
import hashlib
import json
import pathlib
import shutil
import sys
import tempfile
import textwrap
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "python"))
from kernelmill.capture import command, debug_folder  # noqa: E402

DEBUG = harness.ROOT / "tests/data/inductor/graphs/torch_compile_debug"
KERNEL = "triton_per_fused_add_mean_mul_pow_rsqrt_0"


def rows(out, name):
    path = out / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


class Graphs(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        debug_folder.convert(DEBUG, cls.folder / "captures")
        command.write_job(cls.folder / "captures", "MIT")
        cls.out, cls.done = cls.crawl("captures/job.yaml", "out")
        cls.row = rows(cls.out, "pytorch_triton.jsonl")[0]

    @classmethod
    def crawl(cls, job, out, check=True):
        return cls.folder / out, harness.crawl(cls.folder / job, cls.folder / out, cls.folder / f"{out}-data", check=check)

    def write(self, name, sources):
        (self.folder / name).write_text(f"name: graphs\nsources:\n{textwrap.indent(textwrap.dedent(sources), '  ')}")
        return name

    def test_a_row_leads_to_the_kernels_of_its_wrapper(self):
        [kernel] = self.row["kernels"]
        [record] = [each for each in rows(self.out, "kernels.jsonl") if each["id"] == kernel["kernel_id"]]
        self.assertEqual((kernel["name"], record["name"], kernel["fate"], kernel["split"]), (KERNEL, KERNEL, "kept", "train"))
        self.assertEqual(kernel["sha256"], record["sha256"])
        self.assertIn(record["source"], self.row["wrapper"])
        self.assertEqual(kernel["operators"], ["aten.pow", "aten.mean", "aten.add", "aten.rsqrt", "aten.mul"])

    def test_the_texts_are_those_of_the_files(self):
        folder = self.folder / "captures/debug/torch_compile_debug" / pathlib.Path(self.row["path"]).parent
        for field, name in (("pytorch", "graph.py"), ("wrapper", "output_code.py")):
            self.assertEqual(self.row[field], (folder / name).read_text())
            self.assertEqual(self.row[f"{field}_sha256"], hashlib.sha256((folder / name).read_bytes()).hexdigest())
        self.assertIn("Graph", [each.name for each in ast.parse(self.row["pytorch"]).body if isinstance(each, ast.ClassDef)])

    def test_the_licence_is_the_jobs(self):
        self.assertEqual((self.row["license"], self.row["repository"]), ("MIT", "debug/torch_compile_debug"))

    def test_the_report_counts_graphs(self):
        report = json.loads((self.out / "report.json").read_text())
        self.assertEqual(report["graphs"], {"sources": 1, "found": 1, "rows": 1, "duplicates": 0, "left_out": {}, "kernels": 1, "kept_kernels": 1})
        self.assertEqual(report["rows"]["pytorch_triton"], 1)

    def test_the_lock_file_makes_the_same_rows(self):
        shutil.copyfile(self.out / "job.lock.yaml", self.folder / "captures/again.yaml")
        again, _ = self.crawl("captures/again.yaml", "again")
        self.assertEqual((again / "pytorch_triton.jsonl").read_bytes(), (self.out / "pytorch_triton.jsonl").read_bytes())

    def test_a_graph_like_a_holdouts_file_is_left_out(self):
        held = self.folder / "held"
        held.mkdir(exist_ok=True)
        (held / "bench.py").write_text(self.row["pytorch"] + "\nimport triton\n")
        job = self.write("holdout.yaml", """
            - inductor: ./captures/debug/torch_compile_debug
              keep: graphs
              license: MIT
            - path: ./held
              role: holdout
            """)
        out, _ = self.crawl(job, "holdout-out", check=False)
        self.assertEqual(rows(out, "pytorch_triton.jsonl"), [])
        self.assertEqual(json.loads((out / "report.json").read_text())["graphs"]["left_out"], {"withheld": 1})

    def test_without_the_key_there_is_no_row(self):
        out, _ = self.crawl(self.write("plain.yaml", "- {inductor: ./captures/debug/torch_compile_debug, license: MIT}\n"), "plain-out")
        self.assertEqual(rows(out, "pytorch_triton.jsonl"), [])
        self.assertEqual(len(rows(out, "kernels.jsonl")), 1)

    def test_a_folder_without_captures_is_named(self):
        (self.folder / "none").mkdir()
        (self.folder / "none/a.py").write_text("import triton\n")
        out, done = self.crawl(self.write("none.yaml", "- {path: ./none, keep: graphs, license: MIT}\n"), "none-out", check=False)
        self.assertIn("found no graph.json", done.stdout + done.stderr)
        self.assertTrue((out / "report.json").exists())

    def test_a_debug_folder_says_how_it_becomes_captures(self):
        shutil.copytree(DEBUG, self.folder / "debug")
        out, done = self.crawl(self.write("debug.yaml", "- {inductor: ./debug, keep: graphs, license: MIT}\n"), "debug-out", check=False)
        self.assertEqual(rows(out, "pytorch_triton.jsonl"), [])
        self.assertIn("--from", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
