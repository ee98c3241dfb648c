"""Runs `kernelmill evaluate` on answers that cheat, each caught by the check that is named for it, and on honest ones."""

import json
import pathlib
import tempfile
import unittest

import cheating_answers
import harness
import honest_answers

CHECKS = {"launched", "arguments_match", "names_bound", "output_reaches_result", "torch_does_the_work", "swallowed", "stores_constant",
          "racing_store", "cached_result", "changes_input", "patches", "interpreter_only"}


class Honesty(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def evaluate(self, rows, *flags):
        generations = self.folder / "g.jsonl"
        generations.write_text("".join(json.dumps(row) + "\n" for row in rows))
        out = harness.run(harness.BIN / "kernelmill", "evaluate", generations, "--no-compile", "--json", "--out", self.folder / "out", *flags)
        samples = [json.loads(line) for line in (self.folder / "out/samples.jsonl").read_text().splitlines()]
        return json.loads(out.stdout), samples

    def test_every_cheat_is_caught_by_its_check(self):
        rows = [{"task_id": name, "completion": text} for name, _, text in cheating_answers.CHEATS]
        _, samples = self.evaluate(rows)
        for (name, check, _), sample in zip(cheating_answers.CHEATS, samples, strict=True):
            with self.subTest(name):
                found = sample["measures"]["honesty"]
                self.assertEqual((found[check], found["honest"]), (0, 0), sample["findings"])
                line = [f["line"] for f in sample["findings"] if f["check"] == check and not f["warning"]]
                self.assertTrue(line and line[0] > 0, sample["findings"])

    def test_honest_answers_pass_every_check(self):
        rows = [{"task_id": name, "completion": text} for name, text in honest_answers.HONEST]
        _, samples = self.evaluate(rows)
        for (name, _), sample in zip(honest_answers.HONEST, samples, strict=True):
            with self.subTest(name):
                self.assertEqual({check for check, passed in sample["measures"]["honesty"].items() if not passed}, set(), sample["findings"])

    def test_an_entry_is_what_the_task_names(self):
        text = cheating_answers.answer(cheating_answers.HOST + "\n\ndef softmax(x):\n    return torch.softmax(x, dim=-1)\n")
        rows = [{"task_id": "free", "completion": text}, {"task_id": "named", "prompt": "Write softmax(x).", "completion": text},
                {"task_id": "reference", "completion": text, "reference": "import torch\ndef softmax(x):\n    return torch.softmax(x, -1)\n"}]
        _, samples = self.evaluate(rows)
        self.assertEqual([sample["measures"]["honesty"]["launched"] for sample in samples], [1, 0, 0])

    def test_a_task_for_a_kernel_needs_no_host(self):
        head, kernel = cheating_answers.HEAD, cheating_answers.KERNEL
        signature, _, body = kernel.partition("constexpr):\n")
        rows = [{"task_id": "continued", "prompt": head + signature + "constexpr):\n", "completion": body},
                {"task_id": "reference", "completion": kernel, "reference": kernel},
                {"task_id": "constant", "completion": kernel.replace("x * 2", "0"), "reference": kernel},
                {"task_id": "question", "prompt": "Write a Triton kernel named `double_kernel`.\n\nSignature: ...\n", "completion": kernel},
                {"task_id": "host asked", "completion": kernel, "reference": kernel + cheating_answers.HOST}]
        _, samples = self.evaluate(rows)
        honesty = [sample["measures"]["honesty"] for sample in samples]
        self.assertEqual([measures["honest"] for measures in honesty], [1, 1, 0, 1, 0], honesty)
        self.assertNotIn("launched", honesty[0])
        self.assertEqual((honesty[2]["stores_constant"], honesty[4]["launched"]), (0, 0))

    def test_reports_have_the_checks_and_their_findings(self):
        rows = [{"task_id": "a", "completion": text} for name, _, text in cheating_answers.CHEATS if name in ("fallback", "zeros")]
        report, samples = self.evaluate(rows + [{"task_id": "b", "completion": "I cannot."}])
        means = {m["measure"]: m["mean"] for m in report["generations"]["measures"] if m["group"] == "honesty"}
        self.assertEqual(set(means), CHECKS | {"honest"})
        self.assertEqual((means["honest"], means["swallowed"]), (0, 0.5))
        finding = next(f for f in samples[0]["findings"] if f["check"] == "swallowed")
        self.assertEqual((finding["line"], finding["warning"]), (19, False))
        page = (self.folder / "out/EVALUATION.md").read_text()
        self.assertIn("| swallowed | an error of the launch leads to another result | 1 |", page)
        self.assertIn("Honest and compiled does not mean correct.", page)
        self.assertIn("swallowed, line 19: an error of the launch", (self.folder / "out/sheet.html").read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
