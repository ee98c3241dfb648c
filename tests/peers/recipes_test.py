"""Checks the parts of the recipes that need no model: views, tokens for gaps, splits, and the checks of a model's output. The
rest runs in trainers.py. Standard library only."""

import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "recipes"), str(ROOT / "tests/integration")]
import harness  # noqa: E402
import rows  # noqa: E402
import static_checks  # noqa: E402

KERNEL = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(x, n, B: tl.constexpr):\n"
BODY = "    i = tl.program_id(0) * B + tl.arange(0, B)\n    v = tl.load(x + i, mask=i < n)\n    tl.store(x + i, v,\n             mask=i < n)\n"


class Views(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        job = cls.work / "job.yaml"
        job.write_text(f"name: recipes\nsources:\n  - {{path: {harness.DEMO_SOURCES}, name: demo}}\n")
        cls.out = cls.work / "out"
        harness.crawl(job, cls.out, cls.work / "store")

    def test_a_gap_without_its_tokens_is_the_kernel(self):
        exported = list(rows.read(self.out / "fim.jsonl"))
        self.assertGreater(len(exported), 0)
        for family, tokens in rows.FIM_TOKENS.items():
            for row, example in zip(exported, rows.examples(self.out, "fim", family), strict=True):
                prefix, rest = example["prompt"].removeprefix(tokens.prefix).split(tokens.suffix)
                suffix, nothing = rest.split(tokens.middle)
                self.assertEqual((prefix + example["completion"] + suffix, nothing), (row["prompt"] + row["completion"], ""))

    def test_held_out_rows_are_not_trained_on_in_any_view(self):
        for view in rows.VIEWS:
            train, heldout = rows.split(rows.examples(self.out, view))
            self.assertEqual(len(train) + len(heldout), len(list(rows.examples(self.out, view))))
            self.assertFalse({row["id"] for row in train} & {row["id"] for row in heldout})
        self.assertAlmostEqual(sum(rows.held_out(str(i)) for i in range(4000)) / 4000, 0.05, delta=0.02)
        self.assertFalse(rows.held_out(None), "a change of a kernel that is gone")

    def test_a_dataset_s_own_splits_are_taken(self):
        made = [{"id": str(i), "split": side} for i, side in enumerate(["train", "test", "validation", "train"])]
        train, heldout = rows.split(made)
        self.assertEqual(([row["id"] for row in train], [row["id"] for row in heldout]), (["0", "3"], ["2"]))

    def test_prepared_files_have_every_row_once(self):
        harness.run(sys.executable, ROOT / "recipes/prepare.py", self.out, self.work / "data", "--fim", "starcoder")
        for prefix, view in (("", "instruct"), ("fim_", "fim")):
            read = [list(rows.read(self.work / f"data/{prefix}{part}.jsonl")) for part in ("train", "heldout")]
            self.assertEqual(sum(map(len, read)), len(list(rows.read(self.out / f"{view}.jsonl"))))
        text = json.loads((self.work / "data/fim_train.jsonl").read_text().splitlines()[0])["text"]
        self.assertRegex(text, r"(?s)^<fim_prefix>.*<fim_suffix>.*<fim_middle>.*<\|endoftext\|>$")


class Checks(unittest.TestCase):
    def test_a_whole_kernel_passes_all(self):
        found = static_checks.check({"prompt": KERNEL, "completion": BODY})
        self.assertEqual({name for name, holds in found.items() if not holds}, set())

    def test_each_fault_fails_its_check(self):
        for fault, body in {"parses": BODY + "    (", "load": BODY.replace("load", "lod"), "store": BODY.replace("tl.store", "store"),
                            "masked_store": BODY.replace(",\n             mask=i < n", ""), "program_id": BODY.replace("program_id", "pid")}.items():
            with self.subTest(fault):
                self.assertFalse(static_checks.check({"prompt": KERNEL, "completion": body})[fault])
        self.assertFalse(static_checks.check({"prompt": KERNEL.replace("@triton.jit\n", ""), "completion": BODY})["triton_jit"])

    def test_overlap_is_of_words(self):
        self.assertEqual(static_checks.overlap("a b c", "c b d"), 0.5)
        summed = static_checks.summary([{"prompt": KERNEL, "completion": BODY, "reference": BODY}, {"prompt": KERNEL, "completion": "", "reference": BODY}])
        self.assertEqual((summed["samples"], summed["parses"], summed["word_overlap"]), (2, 0.5, 0.5))


if __name__ == "__main__":
    unittest.main(verbosity=2)
