"""Runs `kernelmill evaluate` on generations: checks, overlap, memorised text, two models, a sheet that stays text."""

import hashlib
import json
import pathlib
import tempfile
import unittest

import harness
import kernel_texts

HEAD = "import triton\nimport triton.language as tl\n\n\n"
KERNEL = kernel_texts.SCALE_ROWS
SIGNATURE, _, BODY = KERNEL.partition("constexpr):\n")
PROMPT = HEAD + SIGNATURE + "constexpr):\n"
UNMASKED = KERNEL.replace(", mask=mask, other=0.0", "").replace(", mask=mask", "")
HOSTILE = "</pre><script>alert('x')</script><img src=x onerror=\"y\">"


class Evaluate(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.out = self.folder / "out"

    def write(self, name, rows):
        path = self.folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def evaluate(self, generations, *flags, check=True):
        return harness.run(harness.BIN / "kernelmill", "evaluate", generations, "--no-compile", "--json", *flags, check=check)

    def measures(self, model):
        return {(m["group"], m["measure"]): m["mean"] for m in model["measures"]}

    def samples(self):
        return [json.loads(line) for line in (self.out / "samples.jsonl").read_text().splitlines()]

    def test_static_checks_and_overlap_of_each_sample(self):
        fenced = f"Here it is.\n```python\n{HEAD}{UNMASKED}```\nIt scales rows.\n"
        generations = self.write("g.jsonl", [
            {"task_id": "whole", "prompt": PROMPT, "completion": BODY, "reference": BODY},
            {"task_id": "fenced", "prompt": "Write it.", "samples": [fenced, "I cannot."], "reference": HEAD + KERNEL},
            {"task_id": "broken", "prompt": PROMPT, "completion": BODY.replace("tl.sum(", "tl.sum((")}])
        report = json.loads(self.evaluate(generations, "--out", self.out).stdout)
        whole, unmasked, refused, broken = (row["measures"] for row in self.samples())
        self.assertEqual({key: whole["static"][key] for key in ("parses", "has_triton_jit", "has_bounds_masking", "self_contained")},
                         dict.fromkeys(("parses", "has_triton_jit", "has_bounds_masking", "self_contained"), 1))
        self.assertEqual((whole["static"]["masked_accesses"], whole["overlap"]["exact_match"]), (1, 1))
        self.assertEqual((unmasked["static"]["has_kernel"], unmasked["static"]["masked_accesses"]), (1, 0))
        self.assertTrue(0 < unmasked["overlap"]["token_overlap"] < 1)
        self.assertEqual((refused["static"]["parses"], refused["static"]["has_kernel"], refused["overlap"]["exact_match"]), (0, 0, 0))
        self.assertEqual((broken["static"]["parses"], "overlap" in broken), (0, False))
        self.assertEqual((report["generations"]["tasks"], report["generations"]["samples"]), (3, 4))
        self.assertIsNone(report["compile"])

    def test_two_models_are_compared_and_every_run_gives_the_same_bytes(self):
        names = [f"t{i}" for i in range(20)]
        tuned = self.write("tuned.jsonl", [{"task_id": n, "prompt": PROMPT, "completion": BODY} for n in names])
        base = self.write("base.jsonl", [{"task_id": n, "prompt": PROMPT, "completion": UNMASKED.partition("constexpr):\n")[2]} for n in names])
        reference = self.write("r.jsonl", [{"task_id": n, "canonical_solution": BODY} for n in names])
        digests = set()
        for _ in range(2):
            self.evaluate(tuned, "--baseline", base, "--reference", reference, "--out", self.out)
            digests.add(tuple(hashlib.sha256((self.out / name).read_bytes()).hexdigest()
                              for name in ("evaluation.json", "EVALUATION.md", "sheet.html", "samples.jsonl")))
        self.assertEqual(len(digests), 1)
        report = json.loads((self.out / "evaluation.json").read_text())
        found = {d["measure"]: d for d in report["comparison"]["differences"]}
        self.assertEqual((found["has_bounds_masking"]["difference"], found["has_bounds_masking"]["excludes_zero"]), (1, True))
        self.assertEqual((found["parses"]["difference"], found["parses"]["excludes_zero"]), (0, False))
        self.assertIn("| static | has\\_bounds\\_masking | 0.000 | 1.000 | +1.000 |", (self.out / "EVALUATION.md").read_text())

    def test_memorised_kernels_are_found_in_the_export(self):
        (self.folder / "src").mkdir()
        (self.folder / "src/LICENSE").write_text(harness.MIT_TEXT)
        (self.folder / "src/a.py").write_text(HEAD + KERNEL)
        job = self.folder / "job.yaml"
        job.write_text("name: trained\nsources:\n  - path: ./src\n    name: demo\n")
        harness.crawl(job, self.folder / "data", self.folder / "store")
        renamed = KERNEL.replace("scale_rows", "f").replace("in_ptr", "a").replace("columns", "c").replace("total", "s")
        generations = self.write("g.jsonl", [{"task_id": name, "completion": HEAD + text, "reference": HEAD + KERNEL} for name, text in (
            ("exact", KERNEL), ("near", KERNEL.replace("    total", "    # a sum\n    total")), ("structural", renamed),
            ("new", "@triton.jit\ndef g(a, n):\n    tl.store(a + n, n)\n"))])
        report = json.loads(self.evaluate(generations, "--dataset", self.folder / "data", "--out", self.out).stdout)
        kinds = {row["task_id"]: row["match"] and row["match"]["kind"] for row in self.samples()}
        self.assertEqual(kinds, {"exact": "exact", "near": "near", "structural": "structural", "new": None})
        self.assertEqual(self.samples()[0]["match"]["path"], "a.py")
        self.assertEqual(self.measures(report["generations"])["memorised", "any"], 0.75)
        self.assertEqual(report["generations"]["references_in_dataset"], 4)

    def test_hostile_text_is_text_on_the_sheet(self):
        rows = [{"task_id": HOSTILE, "prompt": HOSTILE, "completion": f"x = 1  # {HOSTILE}\n", "reference": HOSTILE}]
        generations = self.write("g.jsonl", rows)
        self.evaluate(generations, "--baseline", generations, "--out", self.out)
        page = (self.out / "sheet.html").read_text()
        self.assertIn("&lt;script&gt;", page)
        for markup in ("<script", "<img", "onerror=\""):
            self.assertNotIn(markup, page)

    def test_errors_name_file_and_line(self):
        wrong = self.folder / "wrong.jsonl"
        wrong.write_text('{"completion": "x"}\n{"completion": 5}\n')
        done = self.evaluate(wrong, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("wrong.jsonl:2: completion: must be a text, not of type number", done.stderr)
        self.out.mkdir()
        (self.out / "mine.txt").write_text("keep")
        right = self.write("g.jsonl", [{"completion": "x"}])
        self.assertEqual(self.evaluate(right, "--out", self.out, check=False).returncode, 2)
        self.assertEqual([path.name for path in self.out.iterdir()], ["mine.txt"])

    def test_without_toolchains_it_must_be_told_to_compile_nothing_or_elsewhere(self):
        right = self.write("g.jsonl", [{"completion": "x"}])
        done = harness.run(harness.BIN / "kernelmill", "evaluate", right, "--toolchains", self.folder / "none", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--no-compile", done.stderr)
        self.assertIn("kernelmill toolchains --install", done.stderr)
        away = harness.run(harness.BIN / "kernelmill", "evaluate", self.write("k.jsonl", [{"completion": HEAD + KERNEL}]),
                           "--compiler", "127.0.0.1:1", check=False)
        self.assertEqual(away.returncode, 3, away.stderr)
        self.assertIn("Tried the compiler at 127.0.0.1:1 (--compiler)", away.stderr)
        self.assertNotIn("coordinator", away.stderr)
        for flag, name, known in (("--toolchain", "triton", "triton-3.5.1"), ("--target", "sm_90", "cuda:90")):
            refused = harness.run(harness.BIN / "kernelmill", "evaluate", right, flag, name, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f'kernelmill: unknown {flag[2:]} "{name}"', refused.stderr)
            self.assertIn(known, refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
