"""Exports the tasks of a dataset, and grades answers to them: what is exported is whole, what is left out is counted, and only an honest
answer that is right on all cases gets the reward."""

import ast
import collections
import dataclasses
import json
import pathlib
import struct
import sys
import tempfile
import unittest
from unittest import mock

import environment

environment.need("recording")
import numpy  # noqa: E402
import task_data  # noqa: E402
from kernelmill.errors import DatasetError, ProgramError, RequestError  # noqa: E402
from kernelmill.execution.mutants import make_mutants  # noqa: E402
from kernelmill.tasks import answers, command, contents, expected, export, grade, kernelbench, references  # noqa: E402
from kernelmill.tasks.interface import Interface  # noqa: E402


def setUpModule():
    global work, dataset, evidence, rows
    work = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    dataset, evidence = task_data.make(work, speed=True)
    rows = {row["name"]: row for row in contents.read_rows(dataset, contents.TASKS)}


def exported(form, out, **settings):
    return export.export(dataset, export.Settings(form, pathlib.Path(out), evidence=settings.pop("evidence", str(evidence)), **settings))


def fenced(code):
    return f"Sure.\n\n```python\n{code}\n```\n"


class Contents(unittest.TestCase):
    def test_cases_have_their_inputs_and_outputs(self):
        for case in expected.cases_of(rows["add_kernel"], evidence):
            given, after = case.inputs(), case.outputs()
            n = given["n"]
            numpy.testing.assert_array_equal(after["out_ptr"], given["x_ptr"] + given["x_ptr"] + given["y_ptr"])
            self.assertEqual(given["out_ptr"].shape, (n,))
            self.assertTrue(numpy.isnan(given["out_ptr"]).all())

    def test_a_strided_view_has_the_elements_of_its_rows(self):
        case = next(each for each in expected.cases_of(rows["softmax_kernel"], evidence) if each.inputs()["stride"] == 64)
        as_torch, as_numpy = case.inputs("torch")["in_ptr"], case.inputs()["in_ptr"]
        self.assertEqual(as_torch.stride(), (64, 1))
        numpy.testing.assert_array_equal(as_torch.numpy(), as_numpy)
        numpy.testing.assert_allclose(as_torch.softmax(1).numpy(), case.outputs()["out_ptr"], rtol=1e-5)

    def test_types_that_numpy_lacks_become_float32(self):
        tensor = contents.Tensor("x", "bfloat16", (2,), (1,), 0, 0)
        data = struct.pack("<2H", 0x3FC0, 0xC000)
        self.assertEqual(tensor.numpy(data).tolist(), [1.5, -2.0])
        self.assertEqual(tensor.torch(data).tolist(), [1.5, -2.0])

    def test_without_evidence_outputs_are_computed_and_other_bytes_are_missing(self):
        self.assertEqual(len(expected.cases_of(rows["add_kernel"], None)), 3)
        self.assertEqual(len(expected.cases_of(rows["scale_kernel"], evidence)), 2)
        self.assertEqual(len(expected.cases_of(rows["scale_kernel"], None)), 1)

    def test_bytes_with_another_hash_are_refused(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / ("0" * 64)).write_bytes(b"other")
        with self.assertRaisesRegex(DatasetError, "is damaged"):
            contents.Source([folder]).get("0" * 64)

    def test_a_task_above_its_bound_loses_its_largest_cases(self):
        whole, half, left = contents.load_cases(rows["add_kernel"], contents.Source([]), contents.Bounds(3 * 4 * 100 + 4 * 100 + 100))
        self.assertEqual((len(whole) + len(half), left["too_large"]), (1, 2))


class Answers(unittest.TestCase):
    def test_the_last_block_with_the_kernel_is_the_code(self):
        text = fenced("def k(): 1") + fenced("def k(): 2") + fenced("def other(): 3")
        self.assertEqual(answers.find_code(text, "k"), "def k(): 2\n")

    def test_thinking_is_no_answer(self):
        self.assertEqual(answers.find_code(f"<think>{fenced('def k(): 1')}", "k"), "")
        self.assertEqual(answers.find_code(f"<think>{fenced('def k(): 1')}</think>{fenced('def k(): 2')}", "k"), "def k(): 2\n")

    def test_an_answer_without_the_kernel_has_no_code(self):
        for text in ("No.", fenced("def other(): 1"), "```\ndef k():", "x" * (2 << 20)):
            self.assertEqual(answers.find_code(text, "k"), "")


    def test_only_a_function_that_triton_decorates_is_a_kernel(self):
        head = "import triton\nimport triton.language as tl\n"
        for code, why in (("@triton.jit\ndef k(x): pass", ""), ("@triton.autotune(configs=[], key=[])\n@triton.jit\ndef k(x): pass", ""),
                          ("from triton import jit\n@jit\ndef k(x): pass", ""), ("def k(x): pass", "decorated"),
                          ("@other\n@triton.jit\ndef k(x): pass", "decorated"), ("@triton.jit\ndef k(x): pass\nk = 1", "again"),
                          ("@triton.jit\ndef k(x): pass\nfrom os import path as k", "again"), ("class k: pass", "one function"),
                          ("def jit(f): pass\n@jit\ndef k(x): pass", "name of Triton"), ("import os as triton\n@triton.jit\ndef k(): 1", "elsewhere"),
                          ("from os import jit\n@jit\ndef k(x): pass", "elsewhere"), ("def", "parse")):
            found = answers.why_no_kernel(head + code, "k")
            self.assertTrue(why in found if why else not found, (code, found))


class Grades(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = work / "verifiers/kernelmill_tasks/data"
        cls.summary = exported("verifiers", work / "verifiers")
        cls.grader = cls.enterClassContext(grade.Grader(cls.data, grade.Settings(case_seconds=10)))
        cls.by_name = {row["name"]: row for row in cls.grader.rows.values()}

    def grade(self, kernel, code):
        return self.grader.grade(self.by_name[kernel]["id"], fenced(code))

    def test_all_tasks_and_cases_are_there(self):
        self.assertEqual((self.summary.exported, self.summary.tasks, self.summary.cases), (3, 3, 8))
        self.assertFalse(+self.summary.tasks_left + self.summary.cases_left)

    def test_the_kernel_itself_is_right(self):
        for name, row in self.by_name.items():
            found = self.grade(name, row["module"])
            self.assertEqual((found.reward, found.stage, found.share, found.honest), (1.0, "right", 1.0, True), found.message)

    def test_a_wrong_kernel_gets_nothing(self):
        module = self.by_name["add_kernel"]["module"].replace("twice(x) + y", "twice(x) - y")
        found = self.grade("add_kernel", module)
        self.assertEqual((found.reward, found.stage, found.honest), (0.0, "run", True))
        self.assertIn("different", found.message)

    def test_what_hidden_cases_alone_tell_gets_no_reward(self):
        row = self.by_name["add_kernel"]
        shown = [next(each["value"] for each in case["arguments"] if each["name"] == "n") for case in row["cases"]]
        hidden = [next(each["value"] for each in case["arguments"] if each["name"] == "n") for case in row["hidden_cases"]]
        self.assertTrue(shown and hidden and not set(shown) & set(hidden))
        module = row["module"].replace("tl.store(out_ptr + at, twice(x) + y,",
                                       "tl.store(out_ptr + at, tl.where(" + " | ".join(f"(n == {n})" for n in shown) + ", twice(x) + y, y),")
        found = self.grade("add_kernel", module)
        self.assertEqual(found.reward, 0.0)
        self.assertAlmostEqual(found.share, len(shown) / (len(shown) + len(hidden)))

    def test_mutants_of_every_kind_get_no_reward(self):
        row = self.by_name["softmax_kernel"]
        kinds = collections.defaultdict(list)
        for mutant in make_mutants(row["module"], row["qualname"], 30):
            kinds[mutant.kind].append(self.grade("softmax_kernel", mutant.module).reward)
        for kind in ("no_op", "zeros", "copy", "store_dropped", "reduction"):
            self.assertEqual(sum(kinds[kind]), 0, kind)

    def test_dishonest_answers_are_refused_before_they_run(self):
        row = self.by_name["add_kernel"]
        patch = "import triton.runtime.interpreter as i\n" + row["module"] + "\ni.GridExecutor.__call__ = lambda *a, **k: None\n"
        found = self.grade("add_kernel", patch)
        self.assertEqual((found.reward, found.stage), (0.0, "static"))
        self.assertIn("patches", found.message)

    def test_an_object_in_the_kernels_place_is_no_kernel(self):
        """It would be right on all cases, and computes with numpy."""
        row = self.by_name["add_kernel"]
        fake = row["module"] + """

import numpy


class InterpretedFunction:
    def run(self, x_ptr, y_ptr, out_ptr, n, **_):
        def view(buffer):
            class Memory:
                __array_interface__ = {"data": (buffer.data_ptr(), False), "shape": (n,), "typestr": "<f4", "version": 3}
            return numpy.asarray(Memory())
        view(out_ptr)[:] = view(x_ptr) * 2 + view(y_ptr)


add_kernel = InterpretedFunction()
"""
        found = self.grade("add_kernel", fake)
        self.assertEqual((found.reward, found.stage), (0.0, "static"))
        self.assertIn("binds add_kernel again", found.message)

    def test_host_functions_beside_the_kernel_are_no_fault(self):
        module = self.by_name["add_kernel"]["module"] + "\n\ndef element_count(shape):\n    return shape[0] * shape[1]\n"
        self.assertEqual(self.grade("add_kernel", module).reward, 1.0)

    def test_text_without_the_kernel_is_graded_too(self):
        found = self.grader.grade(self.by_name["add_kernel"]["id"], "I cannot.")
        self.assertEqual((found.reward, found.stage), (0.0, "code"))

    def test_an_endless_kernel_ends_and_the_next_answer_is_graded(self):
        with grade.Grader(self.data, grade.Settings(case_seconds=1, static=False)) as grader:
            row = self.by_name["add_kernel"]
            endless = row["module"].replace("mask = at < n\n    x =", "mask = at < n\n    while n > 0:\n        n = n + 0\n    x =", 1)
            self.assertNotEqual(endless, row["module"])
            self.assertEqual(grader.grade(row["id"], fenced(endless)).reward, 0.0)
            self.assertEqual(grader.grade(row["id"], fenced(row["module"])).reward, 1.0)

    def test_a_runner_that_broke_is_replaced(self):
        row = self.by_name["add_kernel"]
        with grade.Grader(self.data, grade.Settings(static=False)) as grader:
            self.assertEqual(grader.grade(row["id"], fenced(row["module"])).reward, 1.0)
            for runner in grader._runners:
                runner._process.kill()
                runner._process.wait()
            self.assertEqual(grader.grade(row["id"], fenced(row["module"])).reward, 1.0)

    def test_a_folder_that_kernels_could_read_is_refused(self):
        with self.assertRaisesRegex(ProgramError, "may read"):
            grade.Grader(pathlib.Path(sys.prefix) / "lib/tasks")

    def test_missing_bytes_are_an_error_and_no_wrong_answer(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / contents.TASKS).write_text((self.data / contents.TASKS).read_text())
        row = self.by_name["add_kernel"]
        with grade.Grader(folder, grade.Settings(static=False)) as grader, self.assertRaisesRegex(DatasetError, "lacks the bytes"):
            grader.grade(row["id"], fenced(row["module"]))

    def test_an_export_without_evidence_grades_alike(self):
        out = work / "computed"
        summary = exported("verifiers", out, evidence="")
        self.assertEqual((summary.cases, summary.cases_left["inputs_missing"]), (7, 1))
        with grade.Grader(out / "kernelmill_tasks/data", grade.Settings(static=False)) as grader:
            for row in grader.rows.values():
                self.assertEqual(grader.grade(row["id"], fenced(row["module"])).reward, 1.0)


class Bindings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.process = cls.enterClassContext(references.Process())

    def bind(self, kernel, **reference):
        cases = sorted(expected.cases_of(rows[kernel], evidence), key=lambda each: contents.case_bytes(each.case))
        values = reference.pop("values", {})
        found = {**(rows[kernel]["reference"] or {}), **reference}
        return references.bind([references.Candidate(found, values)], cases, self.process)

    def module(self, body, head="def reference(x, y):"):
        return {"module": f"import torch\n\n{head}\n    {body}\n", "name": None, "kind": "torch_chain", "self_contained": True}

    def test_parameters_are_found_by_what_comes_out(self):
        binding, held = self.bind("add_kernel")
        self.assertEqual((dict(binding.parameters), binding.outputs, len(held)), ({"x": "x_ptr", "y": "y_ptr"}, ("out_ptr",), 3))
        binding, _ = self.bind("add_kernel", **self.module("return a + 2 * b", "def reference(a, b):"))
        self.assertEqual(dict(binding.parameters), {"a": "y_ptr", "b": "x_ptr"})

    def test_arguments_go_in_parts_of_bounded_size(self):
        calls = [{"x": {"data": "a" * size}} for size in (3, 3, 9, 1)]
        with mock.patch.object(references, "PART_BYTES", 6):
            parts = [[len(call["x"]["data"]) for call in part] for part in references._parts(calls)]
            self.assertEqual(parts, [[3, 3], [9], [1]])
            binding, held = self.bind("add_kernel", **self.module("return a + 2 * b", "def reference(a, b):"))
        self.assertEqual((dict(binding.parameters), len(held)), ({"a": "y_ptr", "b": "x_ptr"}, 3))

    def test_a_class_is_made_and_called(self):
        module = """import torch

class Sum(torch.nn.Module):
    def __init__(self, factor=2):
        super().__init__()
        self.factor = factor

    def forward(self, a, b):
        return self.factor * a + b
"""
        binding, held = self.bind("add_kernel", module=module, name="Sum", kind="function")
        self.assertEqual((dict(binding.parameters), len(held)), ({"a": "x_ptr", "b": "y_ptr"}, 3))

    def test_parameters_that_are_no_arguments_take_the_values_of_the_test(self):
        change = self.module("return getattr(torch, name)(x, y) if power == 1 else x + x + y", "def reference(x, y, name, power):")
        binding, held = self.bind("add_kernel", **change, values={"name": ("'sub'", "'add'"), "power": ("1", "2")})
        self.assertEqual((dict(binding.parameters), len(held)), ({"x": "x_ptr", "y": "y_ptr"}, 3))
        self.assertIn("power=2", binding.module)

    def test_the_second_reference_counts_if_the_first_is_none(self):
        cases = expected.cases_of(rows["add_kernel"], evidence)
        wrong, right = ({**rows["add_kernel"]["reference"], **self.module(body)} for body in ("return x", "return x + y + x"))
        binding, _ = references.bind([references.Candidate(wrong), references.Candidate(right)], cases, self.process)
        self.assertIn("x + y + x", binding.module)

    def test_a_problem_and_its_solution_return_one_type(self):
        cases = expected.cases_of(rows["add_kernel"], evidence)
        for body in ("return 2 * x.double() + y.double()", "return [2 * x + y]"):
            binding, _ = self.bind("add_kernel", **self.module(body))
            text = kernelbench.make_problem(rows["add_kernel"], Interface.bound(binding), cases).text
            names = {}
            exec(compile(text, "problem", "exec"), names)  # pylint: disable=exec-used  # ours
            inputs = names["get_inputs"]()
            self.assertEqual(names["Model"]()(*inputs).dtype, inputs[0].dtype)

    def test_rows_that_lie_apart_are_bound(self):
        binding, held = self.bind("softmax_kernel")
        self.assertEqual((dict(binding.parameters), len(held)), ({"x": "in_ptr"}, 3))

    def test_a_reference_that_says_something_else_is_not_bound(self):
        for body, reason in (("return x - y", "reference_differs"), ("return x.nothing()", "reference_fails"),
                             ("return torch.zeros_like(x)", "reference_differs"), ("import os; os.abort()", "not_torch")):
            with self.assertRaisesRegex(references.Unbound, reason):
                self.bind("add_kernel", **self.module(body))

    def test_a_reference_of_the_other_direction_is_not_bound(self):
        cases = expected.cases_of(rows["add_kernel"], evidence)
        own = rows["add_kernel"]["reference"]

        def bound(body, backward, head="def reference(x, y):"):
            reference = {**own, **self.module(body, head)}
            return dict(references.bind([references.Candidate(reference)], cases, self.process, backward)[0].parameters)

        self.assertEqual(bound("return 2 * x + y", False), {"x": "x_ptr", "y": "y_ptr"})
        self.assertEqual(bound("return 2 * x + grad", True, "def reference(x, grad):"), {"x": "x_ptr", "grad": "y_ptr"})
        for body, backward in (("return 2 * x + y", True), ("with torch.no_grad():\n        return 2 * x + y", True),
                               ("torch.autograd.grad(x, x)\n    return 2 * x + y", False)):
            with self.assertRaisesRegex(references.Unbound, "other_direction"):
                bound(body, backward)
        for name, tags, backward in (("add_kernel", [], False), ("add_bwd_kernel", [], True), ("_layer_norm_backward", [], True),
                                     ("add_kernel", ["norm", "backward"], True), ("gradual_kernel", [], False), ("dx_grad", [], True)):
            self.assertEqual(references.is_backward({"qualname": name}, tags), backward, name)

    def test_a_reference_that_gives_only_some_of_the_outputs_is_not_bound(self):
        cases = [dataclasses.replace(case, after={**case.after, 1: case.before[1]}) for case in expected.cases_of(rows["add_kernel"], evidence)]
        with self.assertRaisesRegex(references.Unbound, "outputs_missing"):
            references.bind([references.Candidate(rows["add_kernel"]["reference"])], cases, self.process)

    def test_a_reference_that_hangs_or_crashes_ends(self):
        with self.assertRaises(references.Unbound):
            self.bind("add_kernel", **self.module("return torch.empty(1 << 60)"))
        self.bind("add_kernel")  # and the next one runs

    def test_references_cannot_read_what_is_expected(self):
        with self.assertRaises(references.Unbound):
            self.bind("add_kernel", **self.module(f"return torch.frombuffer(open({str(evidence)!r}, 'rb').read(), dtype=torch.float32)"))

    def test_a_reference_may_need_numpy_and_modules_that_stand_for_those_of_its_source(self):
        helpers = "import types\nimport numpy\n\nhelpers = types.ModuleType('helpers')\n\nhelpers.twice = lambda x: 2 * x\n"
        change = {**self.module("return numpy.add(helpers.twice(x), y)"), "self_contained": False,
                  "unresolved_names": [{"name": "numpy", "reason": "package_import"}]}
        binding, _ = self.bind("add_kernel", **{**change, "module": helpers + change["module"]})
        self.assertEqual(dict(binding.parameters), {"x": "x_ptr", "y": "y_ptr"})
        for name, reason in (("numpy", "repository_import"), ("vllm", "package_import")):
            with self.assertRaisesRegex(references.Unbound, "not_self_contained"):
                self.bind("add_kernel", **{**change, "unresolved_names": [{"name": name, "reason": reason}]})

    def test_what_is_no_function_of_torch_is_told_apart(self):
        for change, reason in (({"kind": "library_path"}, "library_path"), ({"self_contained": False}, "not_self_contained"),
                               ({"module": "import kernels\ndef reference(x): pass"}, "not_torch"), ({"module": "reference = 1"}, "no_function"),
                               ({"module": "def reference(*x): pass"}, "variadic"), ({"module": "def"}, "not_python")):
            with self.assertRaisesRegex(references.Unbound, reason):
                self.bind("add_kernel", **change)
        with self.assertRaisesRegex(references.Unbound, "no_reference"):
            references.check_reference(None)


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trace = exported("flashinfer-trace", work / "trace")
        cls.bench = exported("kernelbench", work / "bench")

    def test_no_case_is_lost_without_a_count(self):
        total = sum(len(row["cases"]) + len(row["hidden_cases"]) for row in rows.values())
        self.assertEqual(self.trace.cases + sum(self.trace.cases_left.values()), total)
        self.assertEqual(self.trace.exported + sum(self.trace.tasks_left.values()), self.trace.tasks)
        self.assertEqual(self.bench.exported + sum(self.bench.tasks_left.values()), self.bench.tasks)

    def test_a_task_without_a_bound_reference_is_its_own_or_left_out(self):
        self.assertEqual(self.bench.tasks_left, {"reference_differs": 1})
        tags = {json.loads(path.read_text())["name"].rpartition("_")[0]: json.loads(path.read_text())["tags"][0]
                for path in (work / "trace/definitions").rglob("*.json")}
        self.assertEqual(tags, {"add_kernel": "reference:torch", "softmax_kernel": "reference:torch", "scale_kernel": "reference:kernel"})

    def test_definitions_name_axes_and_workloads_hold_tensors(self):
        [path] = (work / "trace/definitions").rglob("softmax_kernel_*.json")
        definition = json.loads(path.read_text())
        self.assertEqual(list(definition["inputs"]), ["x"])
        self.assertEqual(definition["inputs"]["x"]["shape"], definition["outputs"]["output"]["shape"])
        self.assertEqual({axis["type"] for axis in definition["axes"].values()}, {"var"})
        [lines] = (work / "trace/workloads").rglob("softmax_kernel_*.jsonl")
        cases = {case.id[:32]: case for case in expected.cases_of(rows["softmax_kernel"], evidence)}
        for line in lines.read_text().splitlines():
            workload = json.loads(line)["workload"]
            data = (work / "trace" / workload["inputs"]["x"]["path"]).read_bytes()
            size = struct.unpack("<Q", data[:8])[0]
            head = json.loads(data[8:8 + size])["x"]
            start, end = head["data_offsets"]
            found = numpy.frombuffer(data[8 + size + start:8 + size + end], "f4").reshape(head["shape"])
            numpy.testing.assert_array_equal(found, cases[workload["uuid"]].inputs()["in_ptr"])
            self.assertEqual(sorted(workload["axes"].values()), sorted(found.shape))

    def test_traces_have_measured_times_alone(self):
        traces = [json.loads(line) for path in (work / "trace/traces").rglob("*.jsonl") for line in path.read_text().splitlines()]
        self.assertEqual({trace["solution"].rpartition("_")[0].rpartition("_")[0] for trace in traces}, {"add_kernel"})
        self.assertEqual({(trace["evaluation"]["performance"]["latency_ms"], trace["evaluation"]["performance"]["speedup_factor"])
                          for trace in traces}, {(2.0, 1.5), (6.0, 0.5)})
        [grown] = [trace for trace in traces if trace["evaluation"]["environment"]["hardware"] == "a GPU"]
        self.assertEqual(list(grown["workload"]["axes"].values()), [1600])
        self.assertEqual({each["type"] for each in grown["workload"]["inputs"].values()}, {"random"})
        [solution] = (work / "trace/solutions").rglob("add_kernel_*.json")
        self.assertIn("((1600,), (1600,))", json.loads(solution.read_text())["sources"][0]["content"])

    def test_problems_are_modules_with_a_licence_and_a_source(self):
        for path in (work / "bench").rglob("*.py"):
            text = path.read_text()
            ast.parse(text)
            self.assertIn("# Licence: MIT", text)
            self.assertIn("demo kernels.py", text)
        self.assertEqual(len(list((work / "bench/level1").iterdir())), self.bench.exported)

    def test_the_same_dataset_gives_the_same_files(self):
        exported("flashinfer-trace", work / "again")
        for path in (work / "trace").rglob("*"):
            if path.is_file():
                self.assertEqual(path.read_bytes(), (work / "again" / path.relative_to(work / "trace")).read_bytes(), path)

    def test_a_dataset_without_tasks_is_named(self):
        with self.assertRaisesRegex(DatasetError, "has no tasks.jsonl"):
            export.export(work / "first", export.Settings("verifiers", work / "none"))

    def test_a_folder_with_files_is_refused(self):
        with self.assertRaisesRegex(RequestError, "is not empty"):
            exported("kernelbench", work / "bench")

    def test_the_end_says_what_was_left_out(self):
        text = command.text(self.bench, "kernelbench", "out")
        self.assertIn("2 of 3 tasks as kernelbench", text)
        self.assertIn("tasks left out: reference_differs 1", text)


if __name__ == "__main__":
    unittest.main()
