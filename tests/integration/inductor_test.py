"""Runs whole jobs over what TorchInductor writes, a torch_compile_debug folder and a cache folder, and compares their
kernels with those that CPython's own parser finds in the files and in their strings."""

import ast
import contextlib
import hashlib
import json
import pathlib
import shutil
import tempfile
import textwrap
import unittest

import harness

DATA = harness.ROOT / "tests/data/inductor"
RUN = "run_2026_01_01_00_00_00_000000-pid_1/torchinductor"
INFERENCE = f"{RUN}/model__0_inference_0.0/output_code.py"
FORWARD = f"{RUN}/model__1_forward_1.1/output_code.py"


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


def jit_spans(tree, shift=0):
    """(name, first line, last line) of every function with a @triton.jit, `shift` lines further down."""
    for node in ast.walk(tree):
        decorators = getattr(node, "decorator_list", [])
        if any(ast.unparse(d) == "triton.jit" for d in decorators):
            yield node.name, min(d.lineno for d in decorators) + shift, node.end_lineno + shift


def spans_in_strings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "async_compile.triton":
            literal = node.args[1]
            yield from jit_spans(ast.parse(literal.value), literal.lineno - 1)


def truth_of(folder):
    """{(path, name, first line, last line, SHA-256)} of the kernels in the folder's generated files."""
    found = set()
    for path in folder.rglob("*.py"):
        if path.name.startswith("fx_graph_"):
            continue
        tree = ast.parse(path.read_bytes())
        for name, first, last in [*jit_spans(tree), *spans_in_strings(tree)]:
            sha256 = hashlib.sha256(b"".join(lines_of(path)[first - 1:last])).hexdigest()
            found.add((path.relative_to(folder).as_posix(), name, first, last, sha256))
    return found


def places(rows):
    return {(r["path"], r["first_line"], r["last_line"], r["sha256"]) for r in rows}


def kernels(out):
    if not (out / "kernels.jsonl").exists():  # a file without rows is not written
        return []
    with open(out / "kernels.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class Inductor(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        shutil.copytree(DATA, cls.folder, dirs_exist_ok=True)
        cls.out, cls.done = cls.crawl("both", """
            - inductor: ./debug
              category: generated
            - inductor: ./cache
            """)

    @classmethod
    def crawl(cls, name, sources, *flags, check=True):
        job = cls.folder / f"{name}.yaml"
        job.write_text(f"name: {name}\nsources:\n{textwrap.indent(textwrap.dedent(sources), '  ')}")
        out = cls.folder / f"{name}-out"
        return out, harness.crawl(job, out, cls.folder / f"{name}-data", *flags, check=check)

    def test_finds_what_cpython_finds_in_files_and_strings(self):
        for source in ("debug", "cache"):
            truth = truth_of(self.folder / source)
            rows = [r for r in harness.ledger(self.out) if r["repository"] == f"./{source}"]
            self.assertGreater(len(truth), 1)
            self.assertEqual(places(rows), {(path, *rest) for path, _, *rest in truth})

    def test_a_record_is_whole_lines_of_the_file_around_the_string(self):
        records = kernels(self.out)
        self.assertEqual({r["name"] for r in records}, {name for _, name, *_ in truth_of(self.folder / "debug")})
        for record in records:
            lines = lines_of(self.folder / "debug" / record["path"])
            span = b"".join(lines[record["first_line"] - 1:record["last_line"]])
            self.assertEqual(record["source"].encode(), span)
            self.assertEqual(record["sha256"], hashlib.sha256(span).hexdigest())

    def test_a_module_has_the_strings_own_imports_and_helpers(self):
        for record in kernels(self.out):
            module = ast.parse(record["module"])
            imports = {ast.unparse(n) for n in module.body if isinstance(n, (ast.Import, ast.ImportFrom))}
            self.assertIn("import triton", imports)
            self.assertNotIn("import torch", imports, "that of the file around the string")
            self.assertEqual(record["free_names"], [])
        scan = next(r for r in kernels(self.out) if r["name"] == "triton_per_fused_cumsum_0")
        self.assertIn("def _triton_helper_fn_add0(", scan["module"])

    def test_provenance_is_model_graph_path_and_nodes(self):
        records = {r["name"]: r for r in kernels(self.out)}
        self.assertEqual(records["triton_poi_fused_addmm_relu_0"]["inductor"], {
            "model": "model__0_inference_0", "graph": "0", "in_string": True,
            "kernel_path": "/tmp/torchinductor_user/vy/cvyq3ifdwlvhixkdgumrrqxd6qgi3m4rwl5bmgyqhmfzwuhcyxke.py",
            "source_node": "[linear, relu], Original ATen: [aten.addmm, aten.relu]"})
        self.assertEqual(records["triton_red_fused_sum_1"]["path"], INFERENCE)
        for name in ("_triton_helper_fn_add0", "triton_per_fused_cumsum_0"):
            self.assertEqual(records[name]["path"], FORWARD)
            self.assertEqual((records[name]["inductor"]["model"], records[name]["inductor"]["graph"]),
                             ("model__1_forward_1", "1"))

    def test_the_cache_repeats_the_debug_folder(self):
        rows = {r["id"]: r for r in harness.ledger(self.out)}
        cached = [r for r in rows.values() if r["repository"] == "./cache"]
        self.assertEqual({(r["fate"], r["reason"]) for r in cached}, {("duplicate", "exact")})
        for row in cached:
            self.assertEqual(rows[row["of"]]["sha256"], row["sha256"])

    def test_a_cache_alone_is_known_for_an_inductors(self):
        out, _ = self.crawl("cache-alone", "- inductor: ./cache\n")
        records = kernels(out)
        self.assertEqual(len(records), len(truth_of(self.folder / "cache")))
        for record in records:
            self.assertEqual(record["inductor"], {"model": None, "graph": None, "kernel_path": None,
                                                  "source_node": None, "in_string": False})

    def test_what_people_wrote_has_no_inductor(self):
        shutil.copytree(harness.DEMO_SOURCES, self.folder / "demo")
        out, _ = self.crawl("demo", "- path: ./demo\n")
        self.assertEqual({r["inductor"] is None for r in kernels(out)}, {True})

    def test_as_a_holdout_it_keeps_its_kernels_out(self):
        out, _ = self.crawl("holdout", """
            - path: ./cache
              name: candidate
            - inductor: ./debug
              role: holdout
            """)
        rows = harness.ledger(out)
        self.assertEqual({(r["repository"], r["fate"], r["reason"]) for r in rows},
                         {("candidate", "contaminated", "exact:source")})
        self.assertEqual(kernels(out), [])
        report = json.loads((out / "report.json").read_text())
        self.assertEqual(report["kernels"]["holdout"], len(truth_of(self.folder / "debug")))

    def test_graphs_are_left_out_unless_globs_name_them(self):
        out, _ = self.crawl("graphs", """
            - inductor: ./debug
              include: ["**/fx_graph_runnable.py"]
            """)
        self.assertEqual([r["name"] for r in kernels(out)], ["written_by_the_user"])
        self.assertNotIn("written_by_the_user", {r["name"] for r in kernels(self.out)})

    def test_the_same_dataset_with_many_workers_and_from_the_lock_file(self):
        out = self.folder / "again"
        harness.crawl(self.folder / "both.yaml", out, self.folder / "again-data", "--workers", "4")
        self.assertEqual(harness.tree_hashes(out), harness.tree_hashes(self.out))
        locked = self.folder / "locked"
        lock = self.folder / "both.lock.yaml"
        shutil.copy(self.out / "job.lock.yaml", lock)
        harness.crawl(lock, locked, self.folder / "locked-data")
        self.assertEqual(harness.dataset_digest(locked), harness.dataset_digest(self.out))

    def test_strings_that_cannot_be_read_are_in_the_report(self):
        odd = self.folder / "odd/model.0/output_code.py"
        odd.parent.mkdir(parents=True)
        text = (self.folder / "debug" / INFERENCE).read_text()
        odd.write_text(text.replace("xmask = xindex < xnumel\n", "xmask = xindex < \\\n        xnumel\n"))
        out, _ = self.crawl("odd", "- inductor: ./odd\n")
        report = json.loads((out / "report.json").read_text())
        self.assertEqual(report["files"]["skipped_strings_by_reason"], {"not_verbatim": 1})
        rows = harness.ledger(out)
        self.assertEqual([(r["path"], r["fate"]) for r in rows], [("model.0/output_code.py", "rejected")])
        self.assertEqual(rows[0]["reason"], "license:NOASSERTION")

    def test_a_folder_that_is_not_there_fails_alone(self):
        out, done = self.crawl("partly", "- inductor: ./debug\n- inductor: ./none\n", check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads((out / "report.json").read_text())
        self.assertEqual([(f["source"], f["code"]) for f in report["failures"]], [("./none", "NOT_FOUND")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
