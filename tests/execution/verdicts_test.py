"""Right answers are correct, and wrong ones are not, on tasks whose recorded cases leave much untold."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

import environment

environment.need("execution")
import harness  # noqa: E402
import verdict_answers  # noqa: E402


def setUpModule():
    global work, dataset, evidence, tasks
    work = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    dataset, evidence = verdict_answers.make(work)
    tasks = {row["name"]: row for row in harness.rows_of(dataset, "tasks")}


def outcomes(answers):
    """{(kernel, name): (outcome, honest, message)} as `kernelmill evaluate --run` says it."""
    verdict_answers.write_answers(work / "answers.jsonl", {name: row["id"] for name, row in tasks.items()}, answers)
    env = {**os.environ, "KERNELMILL_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
    harness.run(harness.BIN / "kernelmill", "evaluate", work / "answers.jsonl", "--no-compile", "--run", dataset, "--evidence", evidence,
                "--json", "--out", work / "report", env=env, timeout=600)
    samples = [json.loads(line) for line in (work / "report/samples.jsonl").read_text().splitlines()]
    found = {}
    # Samples come by task; those of a task are in the order of the answers.
    order = sorted(range(len(answers)), key=lambda place: [kernel for kernel, _, _ in answers].index(answers[place][0]))
    for place, sample in zip(order, samples, strict=True):
        kernel, name, _ = answers[place]
        run = sample["run"]
        found[kernel, name] = (run["outcome"], sample["measures"]["honesty"]["honest"], run["message"] or "")
    return found


class Verdicts(unittest.TestCase):
    maxDiff = None

    def test_options_that_no_recorded_case_varies_are_varied_or_said(self):
        fixed = {name: {each["name"]: each["values"] for each in row["fixed"]} for name, row in tasks.items()}
        self.assertEqual(fixed["p_loss_kernel"]["p_loss"], ["1", "2"])
        self.assertEqual(fixed["act_kernel"]["ACT"], ["'relu'", "'silu'", "'square'"])
        self.assertNotIn("bias_ptr", fixed["norm_kernel"])
        self.assertNotIn("eps", fixed["norm_kernel"])
        self.assertEqual(fixed["tile_kernel"]["grid[1]"], ["1"])
        self.assertEqual(fixed["tile_kernel"]["BLOCK"], ["64"])
        for name, row in tasks.items():
            for each, found in fixed[name].items():
                said = f"along axis {each[5]}" if each.startswith("grid") else f"`{each}`"
                told = row["text"].partition("In all launches")[2]
                self.assertIn(said, told)
                self.assertIn(found[-1], told)

    def test_a_verified_task_has_a_hidden_case(self):
        self.assertEqual({name: row["not_verified"] for name, row in tasks.items() if not row["verified"]}, {"fixed_kernel": "no_hidden_case"})
        for row in tasks.values():
            self.assertEqual(bool(row["hidden_cases"]), row["verified"])
        listed = harness.run(harness.BIN / "kernelmill", "rejected", dataset, "--reason", "unverified").stdout
        self.assertRegex(listed, "fixed_kernel .* no_hidden_case ")
        self.assertNotIn("only_kernel", listed)

    def test_a_kernel_with_one_recorded_case_gets_a_second_one(self):
        cases = [json.loads(line) for line in evidence.read_text().splitlines() if json.loads(line)["type"] == "case"]
        origins = {name: sorted(origin for case in cases if case["kernel"] == name for origin in case["origin"]) for name in ("only_kernel", "fixed_kernel")}
        self.assertEqual(origins, {"only_kernel": ["made", "recorded"], "fixed_kernel": ["recorded"]})
        self.assertEqual([len(tasks["only_kernel"][key]) for key in ("cases", "hidden_cases")], [1, 1])
        self.assertEqual([len(tasks["fixed_kernel"][key]) for key in ("cases", "hidden_cases")], [1, 0])

    def test_right_answers_are_correct_and_honest(self):
        for answer, found in outcomes(verdict_answers.RIGHT).items():
            with self.subTest(answer):
                self.assertEqual(found[:2], ("correct", 1), found)

    def test_wrong_answers_are_not_correct(self):
        for answer, found in outcomes(verdict_answers.WRONG).items():
            with self.subTest(answer):
                self.assertIn(found[0], ("wrong", "error"), found)
                self.assertEqual("only the interpreter runs it" in found[2], answer[0] == "only_kernel", found)


if __name__ == "__main__":
    unittest.main()
