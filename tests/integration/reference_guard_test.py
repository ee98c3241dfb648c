"""References that must not get out: of an opted-out file, or like a holdout's text. Neither references.jsonl nor tasks.jsonl has them,
nor any other file of the dataset; the kernel stays."""

import hashlib
import json
import unittest

import evidence_test

SENTENCE = "a very particular remark"
BODY = f'''    # {SENTENCE}: the numbers are doubled by adding each one to itself, as the exercise asks for
    pieces = []
    for row in values.reshape(-1, 8).unbind(0):
        first, second = row.clone(), row.clone()
        summed = torch.add(first, second)
        scaled = torch.where(torch.isfinite(summed), summed, torch.full_like(summed, float("inf")))
        pieces.append(torch.clamp(scaled, min=-1e30, max=1e30))
    joined = torch.stack(pieces).reshape(values.shape)
    checked = joined - values - values
    assert float(checked.abs().max()) < 1e-3 * max(1.0, float(values.abs().max()))
    return joined
'''
REFERENCE = f"import torch\n\n\ndef slow_double(values):\n{BODY}"
HOLDOUT = f'''import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, values):
{BODY.replace("    ", "        ", 1).replace(chr(10) + "    ", chr(10) + "        ")}

def get_inputs():
    return [torch.rand(64)]
'''
LAUNCHER = '''

def double_of(x):
    y = torch.empty_like(x)
    double[(1,)](x, y, x.numel(), BLOCK=64)
    return y
'''
TESTS = '''import torch
from double import double_of
from slow import slow_double


def test_double():
    x = torch.rand(64)
    torch.testing.assert_close(double_of(x), slow_double(x), rtol=0.0625, atol=0)
'''


class Guarded(unittest.TestCase):
    write, write_evidence, crawl, rows = (getattr(evidence_test.Evidence, name) for name in ("write", "write_evidence", "crawl", "rows"))

    def setUp(self):
        evidence_test.Evidence.setUp(self)
        (self.folder / "py/root.py").unlink()
        self.write("py/double.py", "import torch\n" + (self.folder / "py/double.py").read_text() + LAUNCHER)
        self.write("py/test_ops.py", TESTS)
        self.write("py/slow.py", REFERENCE)
        self.crawl("bare", job="")
        [kernel] = self.rows("kernels", "bare")
        self.name = kernel["repository"]
        shown, hidden = (evidence_test.case(kernel, size) for size in (64, 48))
        self.write_evidence("run", [shown, hidden, *(evidence_test.result(case, "cpu", "exact") for case in (shown, hidden)),
                                    evidence_test.adequacy(shown, 0.9)])

    def export(self, more):
        self.crawl("out", "  - {path: ./evidence, role: evidence}\n" + more)
        [kernel] = self.rows("kernels")
        [reference] = self.rows("references")
        [task] = self.rows("tasks")
        self.assertEqual(kernel["name"], "double")
        return reference, task

    def files_with(self, text):
        return sorted(path.name for path in (self.folder / "out").rglob("*") if path.is_file() and path.suffix in (".jsonl", ".json", ".csv", ".md")
                      and text in path.read_text())

    def assert_withheld(self, reference, task):
        self.assertEqual((reference["reference"], reference["status"]), (None, "no_reference"))
        self.assertEqual((task["reference"], task["verified"], task["not_verified"]), (None, False, "no_reference"))
        self.assertEqual(self.files_with(SENTENCE), [])

    def test_without_a_reason_the_reference_is_there(self):
        reference, task = self.export("")
        self.assertEqual((reference["status"], reference["reference"]["name"]), ("reference", "slow_double"))
        self.assertEqual((task["reference"]["text"], task["verified"]), (reference["reference"]["text"], True))
        self.assertEqual(self.files_with(SENTENCE), ["references.jsonl", "tasks.jsonl"])

    def test_a_reference_like_a_holdouts_text_is_withheld(self):
        self.write("bench/1_Double.py", HOLDOUT)
        self.assert_withheld(*self.export("  - {path: ./bench, role: holdout}\n"))

    def test_a_job_that_labels_contamination_keeps_it(self):
        self.write("bench/1_Double.py", HOLDOUT)
        reference, _ = self.export("  - {path: ./bench, role: holdout}\ndedup: {contamination: {action: label}}\n")
        self.assertEqual(reference["status"], "reference")

    def test_a_holdout_of_other_text_withholds_nothing(self):
        self.write("bench/1_Other.py", "import torch\n\n\ndef other(x):\n" + "".join(
            f"    x = torch.nn.functional.conv{i % 3 + 1}d(x, weight_{i}, bias_{i}, stride={i})\n" for i in range(40)) + "    return x\n")
        reference, _ = self.export("  - {path: ./bench, role: holdout}\n")
        self.assertEqual(reference["status"], "reference")

    def test_a_reference_of_an_opted_out_file_is_withheld(self):
        self.assert_withheld(*self.export(f"opt_out:\n  - {{repository: {self.name}, path: slow.py}}\n"))

    def test_so_is_one_whose_file_is_named_by_its_hash(self):
        self.assert_withheld(*self.export(f"opt_out:\n  - {{sha256: {hashlib.sha256(REFERENCE.encode()).hexdigest()}}}\n"))

    def test_an_opted_out_test_leaves_nothing_of_its_text(self):
        reference, task = self.export(f'opt_out:\n  - {{repository: {self.name}, path: "test_*.py"}}\n')
        self.assertEqual((reference["reference"], reference["comparisons"], reference["cases"]), (None, [], []))
        self.assertIsNone(task["reference"])
        self.assertEqual(self.files_with("0.0625"), [])

    def test_the_digest_is_that_of_sources_and_job(self):
        self.write("bench/1_Double.py", HOLDOUT)
        self.export("  - {path: ./bench, role: holdout}\n")
        first = json.loads((self.folder / "out/report.json").read_text())["dataset"]
        self.crawl("again", "  - {path: ./evidence, role: evidence}\n  - {path: ./bench, role: holdout}\n", data="other")
        self.assertEqual(json.loads((self.folder / "again/report.json").read_text())["dataset"], first)


if __name__ == "__main__":
    unittest.main()
