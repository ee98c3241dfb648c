"""Runs answers of models on the cases of a dataset's tasks: `kernelmill evaluate --run`."""

import ast
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import environment

environment.need("execution")
import harness  # noqa: E402
import json_test  # noqa: E402
import kernels  # noqa: E402
import run_test as cases  # noqa: E402
from kernelmill.errors import DatasetError  # noqa: E402
from kernelmill.execution import answer_match, answers, elements, own_launches, recipes, timing  # noqa: E402
from kernelmill.execution.case import Case  # noqa: E402
from kernelmill.execution.runner import Bounds  # noqa: E402
from kernelmill.tasks import model_calls  # noqa: E402

BOUNDS = Bounds(seconds=20, memory=1 << 30, arena=1 << 26)
LAUNCHER = '''

def launch_add(x, y):
    import torch
    out = torch.empty_like(x)
    add_kernel[(-(-x.numel() // 64),)](x, y, out, x.numel(), BLOCK=64)
    return out
'''
OTHER_NAMES = kernels.SOURCE.replace("BLOCK", "SIZE")
REFERENCE = """import torch


def reference(x, y):
    return torch.add(x + x, y)
"""
MODEL = kernels.SOURCE + '''

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        add_kernel[(-(-x.numel() // 64),)](x, y, out, x.numel(), BLOCK=64)
        return out
'''

FLAGS = """
import torch
import triton
import triton.language as tl


@triton.jit
def flag(out, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at, at >= 0, mask=at < n)


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        every = torch.zeros(x.numel(), dtype=torch.bool)
        flag[(-(-x.numel() // 64),)](every, x.numel(), SIZE=64)
        return torch.where(every, x + x + y, x)
"""


def torch_is_here():
    import importlib.util

    return importlib.util.find_spec("torch") is not None


def add_case(seed, recorded=None):
    """Returns a case of add_kernel. `recorded`: what the record has instead of the result."""
    storages = [cases.normal(seed), cases.normal(seed + 1), cases.poison(4 * cases.N)]
    x, y = (elements.decode(recipes.fill(each["recipe"], 4 * cases.N), "float32").astype("f4") for each in storages[:2])
    written = recorded or (x + x + y).tobytes()
    arguments = [cases.view("x_ptr", "float32", 0), cases.view("y_ptr", "float32", 1), cases.view("out_ptr", "float32", 2),
                 cases.number("n", cases.N), {"name": "BLOCK", "constexpr": "64"}]
    return Case.make(module_sha256="", kernel="add_kernel", arguments=arguments, storages=storages, grid=[2, 1, 1], options={},
                     environment={}, outputs=[{"storage": 2, "sha256": hashlib.sha256(written).hexdigest()}], ragged=True, tolerance={},
                     origin={"recorded": {}}).check()


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.write([add_case(1)], [add_case(9)])

    def write(self, shown, hidden, module=kernels.SOURCE, launcher=kernels.SOURCE + LAUNCHER, reference=REFERENCE):
        row = {"id": "t1", "text": "Write add_kernel.", "name": "add_kernel", "qualname": "add_kernel", "module": module, "url": "",
               "repository": "demo", "path": "kernels.py", "license": "MIT", "reference": None,
               "cases": [{"id": case.id, "evidence": json.dumps(case.row)} for case in shown],
               "hidden_cases": [{"id": case.id, "evidence": json.dumps(case.row)} for case in hidden]}
        (self.folder / "tasks.jsonl").write_text(json.dumps(row) + "\n")
        host = {"module": launcher, "qualname": "launch_add", "self_contained": True}
        reference = {"kind": "function", "name": "reference", "module": reference, "self_contained": True} if reference else None
        (self.folder / "references.jsonl").write_text(json.dumps({"kernel_id": "t1", "launcher": host, "reference": reference, "cases": []}) + "\n")

    def examine(self, *codes, seconds=20, prompt="", **settings):
        rows = [{"task_id": "t1", "prompt": prompt, "code": code} for code in codes]
        bounds = dataclasses.replace(BOUNDS, seconds=seconds)
        return answers.examine(rows, answers.Settings(tasks=str(self.folder), bounds=bounds, **settings))[0]

    def one(self, code, **settings):
        [row] = self.each(code, **settings)
        return row

    def paired(self, rows):
        """Pairs rows, whose second item is an answer, with what is said of it."""
        return zip(rows, self.each(*(row[1] for row in rows)), strict=True)

    def each(self, *codes, **settings):
        return [(row["outcome"], row["by"], row["message"]) for row in self.examine(*codes, **settings)]


class Kernels(Base):
    def test_the_same_kernel_is_correct_on_shown_and_hidden_cases(self):
        [row] = self.examine(kernels.SOURCE)
        self.assertEqual((row["outcome"], row["by"], row["cases"]["total"], row["cases"]["exact"]), ("correct", "kernel", 2, 2))
        self.assertIsNone(row["speed"])

    def test_rounding_is_correct_and_says_how_far_off(self):
        [row] = self.examine(kernels.SOURCE.replace("twice(x) + y, mask", "twice(x) + y + 1e-6, mask"))
        self.assertEqual((row["outcome"], row["cases"]["close"]), ("correct", 2))
        self.assertTrue(0 < row["relative"] < 1e-5)

    def test_a_wrong_kernel_is_wrong_and_says_how_far_off(self):
        [row] = self.examine(kernels.SOURCE.replace("twice(x) + y", "x + y"))
        self.assertEqual((row["outcome"], row["message"], row["cases"]["different"]), ("wrong", "values differ", 2))
        self.assertGreater(row["absolute"], 0.1)
        self.assertGreater(row["share"], 0.9)

    def test_what_is_right_on_the_shown_case_alone_is_wrong(self):
        case = add_case(1)
        self.write([case], [add_case(9)])
        first = elements.decode(recipes.fill(case.storages[0]["recipe"], 4), "float32")[0]
        code = kernels.SOURCE.replace("twice(x) + y, mask", f"tl.where(tl.load(x_ptr) == {float(first)!r}, twice(x) + y, x), mask")
        [row] = self.examine(code)
        self.assertEqual((row["outcome"], row["cases"]["exact"], row["cases"]["different"]), ("wrong", 1, 1))

    def test_a_kernel_that_raises_is_an_error(self):
        self.assertEqual(self.one(kernels.SOURCE.replace("twice(x) + y", "twice(x) + z"))[0], "error")
        self.assertEqual(self.one("def f(:"), ("error", "", "it does not parse"))
        self.assertEqual(self.one("x = 1\n"), ("error", "", "it has no kernel"))

    def test_an_import_that_is_missing_is_an_error_also_if_annotations_alone_need_it(self):
        code = kernels.SOURCE.replace("import triton.language as tl\n", "")
        self.assertNotEqual(code, kernels.SOURCE)
        self.assertEqual(self.one(code), ("error", "kernel", "import: NameError: name 'tl' is not defined"))

    def test_a_kernel_that_crashes_runs_on_one_case(self):
        code = kernels.SOURCE.replace("import triton\n", "import os\nimport triton\n", 1).replace(
            "    tl.store(", "    os._exit(7)\n    tl.store(")
        self.assertIn("_exit", code)
        [row] = self.examine(code)
        self.assertEqual((row["outcome"], row["cases"]["total"], row["cases"]["error"]), ("error", 2, 1))

    def test_a_kernel_that_hangs_on_a_later_case_runs_on_no_further_one(self):
        given = [add_case(seed) for seed in (1, 9, 20, 30)]
        self.write(given[:2], given[2:])
        first = elements.decode(recipes.fill(given[0].storages[0]["recipe"], 4), "float32")[0]
        code = kernels.SOURCE.replace("    y = tl.load(y_ptr", f"    while tl.load(x_ptr) != {float(first)!r}:\n        n += 0\n    y = tl.load(y_ptr")
        [row] = self.examine(code, seconds=3)
        self.assertEqual((row["outcome"], row["cases"]["total"], row["cases"]["exact"], row["cases"]["error"]), ("error", 4, 1, 1))

    def test_a_module_that_hangs_has_a_bound_of_its_own(self):
        start = time.monotonic()
        [row] = self.examine(kernels.SOURCE + "\nwhile True:\n    pass\n", seconds=2)
        self.assertEqual((row["outcome"], row["cases"]["error"]), ("error", 1))
        self.assertIn("while it was loaded: ", row["message"])
        self.assertLess(time.monotonic() - start, 45)

    def test_a_module_may_take_longer_to_load_than_a_case(self):
        [row] = self.examine(kernels.SOURCE + "\nimport time\ntime.sleep(4)\n", seconds=2)
        self.assertEqual(row["outcome"], "correct", row["message"])

    def test_answers_that_ended_are_kept_and_do_not_run_again(self):
        kept = self.folder / "kept.jsonl"
        wrong = kernels.SOURCE.replace("twice(x) + y", "x + y")
        examine, ran = answers.Examiner.examine, []

        def counted(examiner, answer):
            ran.append(answer["code"])
            if len(ran) == 2:
                raise DatasetError("cut off")
            return examine(examiner, answer)

        with mock.patch.object(answers.Examiner, "examine", counted):
            with self.assertRaisesRegex(DatasetError, "cut off"):
                self.examine(kernels.SOURCE, wrong, kept=str(kept))
            kept.write_text(kept.read_text() + '{"half')  # as a process that is killed leaves it
            rows = self.examine(kernels.SOURCE, wrong, kept=str(kept))
            self.assertEqual([row["outcome"] for row in rows], ["correct", "wrong"])
            self.assertEqual(ran, [kernels.SOURCE, wrong, wrong])
            self.assertEqual(self.examine(kernels.SOURCE, wrong, kept=str(kept)), rows)
            self.assertEqual(len(ran), 3)
            # Another task, even of the same id, is no longer the same.
            self.write([add_case(2)], [add_case(9)])
            self.examine(kernels.SOURCE, kept=str(kept))
            self.assertEqual(len(ran), 4)

    def test_another_name_with_the_same_parameters_matches(self):
        self.assertEqual(self.one(kernels.SOURCE.replace("add_kernel", "sum_kernel"))[:2], ("correct", "kernel"))

    def test_other_parameters_do_not_match(self):
        outcome, _, message = self.one(OTHER_NAMES)
        self.assertEqual(outcome, "unknown")
        self.assertIn("it does not match the task: add_kernel lacks the parameter BLOCK", message)

    def test_changed_inputs_and_writes_outside_are_wrong(self):
        mutates = kernels.SOURCE.replace("    y = tl.load(y_ptr", "    tl.store(x_ptr + at, x * 0, mask=mask)\n    y = tl.load(y_ptr")
        self.assertEqual(self.one(mutates), ("wrong", "kernel", "it changed storage 0, which the reference leaves alone"))
        [row] = self.examine(kernels.SOURCE.replace("twice(x) + y, mask=mask)", "twice(x) + y)"))
        self.assertEqual((row["outcome"], row["out_of_bounds"]), ("wrong", 4 * 28))

    def test_what_is_expected_is_not_in_the_answers_memory(self):
        reads = kernels.SOURCE.replace("twice(x) + y, mask", "x * 0, mask") + '''
import ctypes, gc
import kernelmill.execution.devices as devices
found = [each for each in gc.get_objects() if type(each).__name__ in ("Verdict", "Usable", "Evidence")]
assert not found
launch = devices.Device.launch
def again(self, function, case):
    ttir = launch(self, function, case)
    for name in list(vars(self)):
        getattr(self, name)
    return ttir
devices.Device.launch = again
'''
        self.assertEqual(self.one(reads)[0], "wrong")

    def test_a_task_that_its_own_module_fails_judges_nobody(self):
        self.write([add_case(1)], [], module=kernels.SOURCE.replace("twice(x) + y", "twice(x) + z"))
        outcome, _, message = self.one(kernels.SOURCE)
        self.assertEqual(outcome, "unknown")
        self.assertIn("the task's own module fails here", message)

    def test_recorded_bytes_judge_where_they_are_at_hand(self):
        evidence = self.folder / "evidence.jsonl"
        evidence.write_text("")
        wrong = b"\0" * 4 * cases.N
        folder = self.folder / "evidence"
        folder.mkdir()
        (folder / hashlib.sha256(wrong).hexdigest()).write_bytes(wrong)
        self.write([add_case(1, recorded=wrong)], [])
        self.assertEqual(self.one(kernels.SOURCE)[0], "correct")  # the bytes are not at hand
        outcome, _, message = self.one(kernels.SOURCE, evidence=str(evidence))
        self.assertEqual((outcome, message), ("unknown", "the task's own module is different here"))

    def test_inputs_that_the_dataset_lacks_are_named(self):
        case = add_case(1)
        row = {key: value for key, value in case.row.items() if key not in ("id", "type")}
        row["storages"] = [{"bytes": 4 * cases.N, "sha256": "0" * 64}, *case.storages[1:]]
        self.write([Case.make(**row).check()], [])
        self.assertIn("--evidence", self.one(kernels.SOURCE)[2])

    def test_answers_without_a_task_have_no_outcome(self):
        rows = [{"task_id": "other", "prompt": "Write add_kernel.\n", "code": kernels.SOURCE},
                {"task_id": "other", "prompt": "?", "code": kernels.SOURCE}]
        found, toolchain = answers.examine(rows, answers.Settings(tasks=str(self.folder), bounds=BOUNDS))
        self.assertEqual(found[0]["outcome"], "correct")
        self.assertIsNone(found[1])
        self.assertIn("triton", toolchain)
        with self.assertRaisesRegex(DatasetError, "must be a task's id"):
            answers.examine(rows[1:], answers.Settings(tasks=str(self.folder)))
        (self.folder / "tasks.jsonl").write_text("{}\n")
        with self.assertRaisesRegex(DatasetError, "tasks.jsonl:1: "):
            answers.examine(rows, answers.Settings(tasks=str(self.folder)))


@unittest.skipUnless(torch_is_here(), "torch is not installed")
class Launchers(Base):
    def test_a_launcher_serves_the_case_if_no_kernel_does(self):
        self.assertEqual(self.one(OTHER_NAMES + LAUNCHER.replace("BLOCK", "SIZE")), ("correct", "launcher", ""))

    def test_a_launcher_on_the_gpus_name_is_run_on_the_processor(self):
        host = LAUNCHER.replace("BLOCK", "SIZE").replace("torch.empty_like(x)", "torch.empty(x.shape, device='cuda')\n    assert x.is_cuda")
        self.assertEqual(self.one(OTHER_NAMES + host)[0], "correct")

    def test_a_wrong_result_is_wrong(self):
        for host, message in ((LAUNCHER.replace("return out", "return out * 0"), "values differ"),
                              (LAUNCHER.replace("return out", "return x"), "values differ"),
                              (LAUNCHER.replace("return out", "return out[:3]"), "as no output is"),
                              (LAUNCHER.replace("return out", "x.zero_()\n    return out"), "which the reference leaves alone")):
            with self.subTest(message):
                outcome, by, said = self.one(OTHER_NAMES + host.replace("BLOCK", "SIZE"))
                self.assertEqual((outcome, by), ("wrong", "launcher"))
                self.assertIn(message, said)

    def test_a_launcher_beside_a_kernel_that_matches_is_called_too(self):
        good = kernels.SOURCE + LAUNCHER
        other = good.replace("launch_add", "plus")
        both = "kernel and launcher"
        for (name, code, wanted), found in self.paired((
                ("right", good, ("correct", both, "")),
                ("right, of another name", other, ("correct", both, "")),
                ("wrong", good.replace("return out", "return out * 0"), ("wrong", both, "values differ")),
                ("wrong, of another name", other.replace("return out", "return out * 0"), ("wrong", both, "values differ")),
                ("reshaped", good.replace("return out", "return out.reshape(1, -1)"),
                 ("wrong", both, f"match: Unmatched: a result has the shape [1, {cases.N}], and [{cases.N}] is wanted")),
                ("torch", good.replace("return out", "return x + x + y"), ("wrong", both, "its result does not come from its kernels")),
                ("launches nothing", kernels.SOURCE + "\n\ndef blocks(n):\n    return n // 64\n", ("correct", "kernel", "")),
                ("fits no case", other.replace("plus(x, y)", "plus(x, y, scale)"), ("correct", "kernel", "")))):
            with self.subTest(name):
                self.assertEqual(found, wanted)

    def test_parameters_without_a_name_in_the_case_do_not_match(self):
        outcome, _, message = self.one(OTHER_NAMES + LAUNCHER.replace("BLOCK", "SIZE").replace("(x, y)", "(x, y, scale)"))
        self.assertEqual(outcome, "unknown")
        self.assertIn("launch_add needs scale, which no argument of the case is named for", message)

    def test_without_a_launcher_of_the_task_nothing_is_known(self):
        (self.folder / "references.jsonl").unlink()
        outcome, _, message = self.one(OTHER_NAMES + LAUNCHER.replace("BLOCK", "SIZE"))
        self.assertEqual(outcome, "unknown")
        self.assertIn("the task's own launcher does not serve its cases", message)


@unittest.skipUnless(torch_is_here(), "torch is not installed")
class Models(Base):
    """Answers in KernelBench's form: a kernel with the ModelNew that launches it."""

    def changed(self, old, new, module=MODEL):
        self.assertIn(old, module)
        return module.replace(old, new)

    def test_a_model_that_launches_the_kernel_is_correct(self):
        more = self.changed("return out", "return torch.index_select(out, 0, torch.arange(out.numel()))")
        for (name, _, by), found in self.paired((
                ("right", MODEL, "kernel and model"),
                ("a kernel of its own", MODEL.replace("BLOCK", "SIZE"), "model"),
                ("on the GPU's name", self.changed("torch.empty_like(x)", "torch.empty(x.shape, device='cuda')"), "kernel and model"),
                ("torch goes on with what its kernel wrote", more, "kernel and model"))):
            with self.subTest(name):
                self.assertEqual(found, ("correct", by, ""))

    def test_a_right_kernel_in_a_wrong_model_is_wrong(self):
        launch = "        add_kernel[(-(-x.numel() // 64),)](x, y, out, x.numel(), BLOCK=64)\n"
        helper = self.changed("return out", "return plus(x, y)") + "\n\ndef plus(x, y):\n    return torch.add(x + x, y)\n"
        for (name, _, message), found in self.paired((
                ("no launch", self.changed(launch, "").replace("return out", "return torch.zeros_like(x)"), "values differ"),
                ("torch, no launch", self.changed(launch, "").replace("return out", "return x + x + y"),
                 "its own call launches none of its kernels"),
                ("torch, launch thrown away", self.changed("return out", "return x + x + y"), "its result does not come from its kernels"),
                ("torch behind a helper", helper, "its result does not come from its kernels"),
                ("the first result for all", self.changed("return out", "self.kept = getattr(self, 'kept', out)\n        return self.kept"),
                 "its result does not come from its kernels"),
                ("half of the grid", self.changed("(-(-x.numel() // 64),)", "(1,)").replace("empty_like", "zeros_like"), "values differ"),
                ("one is added", self.changed("return out", "return out + 1"), "values differ"),
                ("rounded", self.changed("return out", "return out.half().float()"), "values differ"),
                ("64 bits", self.changed("return out", "return out.double()"), "match: Unmatched: a result is torch.float64, and float32 is wanted"),
                ("another shape", self.changed("return out", "return out.reshape(1, -1)"),
                 f"match: Unmatched: a result has the shape [1, {cases.N}], and [{cases.N}] is wanted"),
                ("two results", self.changed("return out", "return out, out"), "match: Unmatched: it returns 2 tensors, and 1 are wanted"),
                ("the input changes", self.changed("return out", "x.zero_()\n        return out"),
                 "it changed storage 0, which the reference leaves alone"))):
            with self.subTest(name):
                self.assertEqual(found, ("wrong", "kernel and model", message))

    def test_a_model_may_keep_its_buffer_and_write_flags(self):
        kept = self.changed("        out = torch.empty_like(x)\n",
                            "        if not hasattr(self, 'out'):\n            self.out = torch.empty_like(x)\n        out = self.out\n")
        self.assertEqual(self.each(kept, FLAGS), [("correct", "kernel and model", ""), ("correct", "model", "")])

    def test_a_kernel_whose_result_does_not_count_is_found(self):
        model = MODEL.replace("BLOCK", "SIZE")
        torch_first = self.changed("return out", "self.calls = getattr(self, 'calls', 0) + 1\n"
                                   "        return torch.add(x + x, y) if self.calls == 1 else out", model)
        idle = self.changed("        return out", "        return torch.add(x + x, y)", model).replace("y, out, x.numel()", "y, out, 0")
        for (name, _), found in self.paired((
                ("torch first, the kernel second", torch_first),
                ("0 times the kernel's result", self.changed("return out", "return torch.add(x + x, y) + 0 * out", model)),
                ("an error if the result is not a number", self.changed(
                    "return out", "assert not out.isnan().any()\n        return torch.add(x + x, y)", model)),
                ("a kernel that writes nothing", idle))):
            with self.subTest(name):
                self.assertEqual(found, ("wrong", "model", "its result does not come from its kernels"))

    def test_a_model_that_cannot_be_called_is_an_error(self):
        for outcome, _, message in self.each(
                self.changed("forward(self, x, y)", "forward(self, x, y, z)"),
                self.changed("    def forward", "    def __init__(self, size):\n        super().__init__()\n\n    def forward")):
            self.assertEqual(outcome, "error")
            self.assertIn("missing 1 required positional argument", message)

    def test_a_task_without_a_problem_judges_no_model(self):
        self.write([add_case(1)], [], reference="")
        right, wrong = self.each(MODEL, self.changed("twice(x) + y", "x + y"))
        self.assertEqual(right, ("unknown", "kernel", "ModelNew cannot be called: the task has no problem in KernelBench's form: no_reference"))
        self.assertEqual(wrong, ("wrong", "kernel", "values differ"))

    def test_a_problem_asks_for_a_model_and_names_its_case(self):
        prompt = f"Optimize this.\n# Licence: MIT. Made by kernelmill export-tasks of case {add_case(9).id}.\n"
        rows = [{"task_id": "1", "prompt": prompt, "code": code} for code in (kernels.SOURCE, MODEL)]
        (without, model), _ = answers.examine(rows, answers.Settings(tasks=str(self.folder), bounds=BOUNDS))
        self.assertEqual((without["outcome"], without["message"]), ("error", "it has no ModelNew, which its problem asks for"))
        self.assertEqual(model["outcome"], "correct")

    def test_with_a_problem_the_model_decides_and_not_what_a_kernel_of_the_tasks_name_takes(self):
        swapped = self.changed("](x, y, out", "](y, x, out", self.changed("twice(x) + y", "x + twice(y)"))
        prompt = f"Optimize this.\n# Licence: MIT. Made by kernelmill export-tasks of case {add_case(9).id}.\n"
        wrong = self.changed("](x, y, out", "](y, x, out")
        self.assertEqual(self.each(swapped, MODEL, wrong, prompt=prompt),
                         [("correct", "model", ""), ("correct", "kernel and model", ""), ("wrong", "kernel and model", "values differ")])


@unittest.skipUnless(torch_is_here(), "torch is not installed")
class Inverted(unittest.TestCase):
    def test_what_changed_differs_and_is_finite(self):
        import torch

        for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
            highest = torch.finfo(dtype).max
            after = torch.tensor([-0.5, 0.0, -0.0, 1.0, highest, -highest, float("nan"), 7.0], dtype=torch.float64).to(dtype)
            was = after.double().clone()
            before = torch.cat([after[:7].view(torch.uint8) ^ 1, after[7:].view(torch.uint8)])
            self.assertTrue(own_launches._invert(after.view(torch.uint8), before, dtype))
            found = after.double()
            self.assertTrue(bool(torch.isfinite(found).all()), (dtype, found))
            self.assertTrue(bool(((found[:6] - was[:6]).abs() >= 1).all()), (dtype, found))
            self.assertEqual(float(found[7]), 7.0)  # it did not change

    def test_flags_and_whole_numbers_are_the_opposite(self):
        import torch

        for given, expected in ((torch.tensor([True, False]), [False, True]), (torch.tensor([5, -1]), [-6, 0])):
            flat = given.view(torch.uint8)
            self.assertTrue(own_launches._invert(flat, flat ^ 3, given.dtype))
            self.assertEqual(given.tolist(), expected)
            self.assertFalse(own_launches._invert(flat, flat.clone(), given.dtype))
            self.assertEqual(given.tolist(), expected)


class Names(unittest.TestCase):
    def test_a_model_is_a_class_of_the_module(self):
        for code, found in (("class ModelNew: pass", True), ("if x:\n  class ModelNew: pass", True), ("def f():\n  class ModelNew: pass", False),
                            ("class A:\n  class ModelNew: pass", False), ("def f():\n  ModelNew = 1", False), ("ModelNew = Model", True)):
            self.assertEqual(answer_match.has_model(ast.parse(code)), found, code)

    def test_the_last_problem_of_a_prompt_is_its_task(self):
        first, last = (f"Made by kernelmill export-tasks of case {letter * 64}." for letter in "ab")
        self.assertEqual(model_calls.case_of_prompt(f"Example: {first}\nTask: {last}"), "b" * 64)
        self.assertEqual(model_calls.case_of_prompt("Write it."), "")

    def test_pointers_are_named_for_their_tensors(self):
        self.assertEqual([answer_match.plain(name) for name in ("x_ptr", "X", "x", "q_pointer", "Out_ptr", "ptr")],
                         ["x", "x", "x", "q", "out", "ptr"])


class Times(unittest.TestCase):
    def test_only_times_are_taken_for_times(self):
        self.assertEqual(timing.clean([1, 2.5]), [1.0, 2.5])
        for wrong in (None, "1", [0], [-1.0], [float("nan")], [float("inf")], [True], [1.0] * 1000, [[1.0]]):
            self.assertEqual(timing.clean(wrong), [])

    def test_the_largest_case_with_times_on_both_sides_counts(self):
        small, large = add_case(1), add_case(2)
        usable = [answers.Usable(small, [b"1"], {}, times=[1.0, 1.0, 1.0]), answers.Usable(large, [b"22"], {}, times=[30.0, 10.0, 20.0])]
        speed = answers._speed(usable, [answers.Execution(times=[9.0]), answers.Execution(times=[8.0, 10.0, 9.0, 9.0])])
        self.assertEqual((speed["case"], speed["median_us"], speed["reference_us"], speed["speedup"]), (large.id, 9.0, 20.0, 2.2222))
        self.assertIsNone(answers._speed(usable, [answers.Execution(), answers.Execution()]))


class Command(unittest.TestCase):
    def test_a_clone_without_made_files_needs_no_extra_to_export(self):
        """records.py is made for a wheel. The message was that an extra of the wheel is missing."""
        work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(environment.ROOT / "python/kernelmill", work / "kernelmill", ignore=shutil.ignore_patterns("records.py", "__pycache__"))
        paths = [str(work), *(each for each in sys.path if each != str(environment.ROOT / "python"))]
        env = {**os.environ, "KERNELMILL_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(paths)}
        (work / "empty").mkdir()
        done = harness.run(harness.BIN / "kernelmill", "export-tasks", work / "empty", "--format", "verifiers", "--out", work / "out", env=env,
                           check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no tasks.jsonl", done.stderr)

    def interrupt(self, command, kept, answers_file, module, task, env):
        """Interrupts the command on the second of two answers, and checks that the first one is kept."""
        text = answers_file.read_text()
        slow = module.replace("    y = tl.load(y_ptr", "    while n > 0:\n        n += 0\n    y = tl.load(y_ptr")
        answers_file.write_text("".join(json.dumps({"prompt": task["text"], "completion": f"```python\n{code}\n```\n"}) + "\n"
                                        for code in (module, slow)))
        process = subprocess.Popen([str(each) for each in command], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 60
        while not (kept.exists() and kept.read_text().strip()) and time.monotonic() < end:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("runs.jsonl has the answers that were run: the same command goes on with the others", said)
        [row] = json.loads(kept.read_text()).values()
        self.assertEqual(row["outcome"], "correct")
        answers_file.write_text(text)

    def test_evaluate_runs_answers_on_the_tasks_of_an_export(self):
        work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (work / "kernels").mkdir()
        (work / "kernels/kernels.py").write_text(kernels.SOURCE)
        (work / "kernels/LICENSE").write_text(harness.MIT_TEXT)
        job = work / "job.json"
        sources = [{"path": str(work / "kernels"), "name": "demo"}]
        job.write_text(json.dumps({"name": "plain", "sources": sources}))
        harness.crawl(job, work / "plain", work / "data")
        [module] = [row["module"] for row in kernels.rows(work / "plain") if row["name"] == "add_kernel"]
        evidence = cases.Evidence(work / "seen/evidence.jsonl")
        cases.modules = {"add_kernel": module}
        for seed in (1, 20, 40):
            cases.add_case(evidence, seed)
        evidence.save()
        env = {**os.environ, "KERNELMILL_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
        harness.run(harness.BIN / "kernelmill", "run", work / "plain", "--evidence", evidence.file, env=env)
        job.write_text(json.dumps({"name": "tasks", "sources": [*sources, {"path": str(work / "seen"), "name": "seen", "role": "evidence"}]}))
        harness.crawl(job, work / "out", work / "data")
        [task] = [json.loads(line) for line in (work / "out/tasks.jsonl").read_text().splitlines()]
        rows = [{"prompt": task["text"], "samples": [f"```python\n{code}```\n" for code in (
            module, module.replace("twice(x) + y", "twice(x) - y"), module.replace("BLOCK", "SIZE"), module)]},
            {"task_id": "elsewhere", "completion": "I cannot."}]
        answers_file = work / "answers.jsonl"
        answers_file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        command = [harness.BIN / "kernelmill", "evaluate", answers_file, "--no-compile", "--run", work / "out", "--json", "--out",
                   work / "report"]
        self.interrupt(command, work / "report/runs.jsonl", answers_file, module, task, env)
        done = harness.run(*command, env=env)
        self.assertFalse((work / "report/runs.jsonl").exists())
        report = json.loads(done.stdout)
        self.assertEqual((report["run"]["device"], set(report["run"]["toolchain"])), ("cpu", {"triton", "numpy"}))
        means = {(m["group"], m["measure"]): m["mean"] for m in report["generations"]["measures"]}
        self.assertEqual((means["correct", "on cpu"], means["pass@1 of all", "correct on cpu"]), (0.5, 0.5))
        self.assertAlmostEqual(means["pass@1", "correct on cpu"], 2 / 3)
        self.assertEqual(means["pass@1 honest of all", "correct on cpu"], 0.5)  # the text asks for a kernel without a launcher
        self.assertFalse([group for group, _ in means if group.startswith("fast")])
        checker = json_test.Checker()
        json_test.check_evaluation(checker, done.stdout, (work / "report/samples.jsonl").read_text())
        self.assertEqual((checker.problems, checker.seen & {"runs", "run"}), (set(), {"runs", "run"}))
        samples = [json.loads(line) for line in (work / "report/samples.jsonl").read_text().splitlines()]
        self.assertEqual([row["run"] and row["run"]["outcome"] for row in samples], ["correct", "wrong", "unknown", "correct", None])
        self.assertIn("| generations | 2 | 1 | 0 | 1 | 1 |", (work / "report/EVALUATION.md").read_text())
        self.assertIn("correct on the task's cases (3 exact, 3 total)", (work / "report/sheet.html").read_text())
        # A Python file has no prompt of its own: its name is the task's.
        (work / "files").mkdir()
        (work / f"files/{task['id']}.py").write_text(module)
        done = harness.run(harness.BIN / "kernelmill", "evaluate", work / "files", "--no-compile", "--run", work / "out", "--json", env=env)
        means = {(m["group"], m["measure"]): m["mean"] for m in json.loads(done.stdout)["generations"]["measures"]}
        self.assertEqual((means["correct", "on cpu"], means["honesty", "honest"]), (1, 1))
        for wrong, message in ((work / "plain", "tasks.jsonl: No such file"), (work / "out", "--device must be one of cpu")):
            flags = ["--device", "tpu"] if wrong.name == "out" else []
            refused = harness.run(harness.BIN / "kernelmill", "evaluate", answers_file, "--no-compile", "--run", wrong, *flags, env=env, check=False)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn(message, refused.stderr)


if __name__ == "__main__":
    unittest.main()
