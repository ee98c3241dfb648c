"""Checks of captures: a graph's text by itself, and the graph beside its wrapper."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kernelmill.capture import alone, check, command, graph_text, inputs, processes, tracing  # noqa: E402

HAS_TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("triton") is not None


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))


class CheckTest(Folder):
    def test_a_check_replaces_that_of_the_same_device(self):
        waiting = {"status": "not_run", "device": None, "message": "kernelmill capture --check was not run"}
        (self.folder / "graph.json").write_text(json.dumps({"checks": [{"status": "ok", "device": "cpu"}, waiting]}))
        self.assertFalse(check.is_checked(self.folder))
        self.assertEqual((check.read_status(self.folder), check.read_text_status(self.folder)), ("not_checked", "ok"))
        for status in ("error", "close"):
            check.add_check(self.folder, {"status": status, "device": "H100"})
        self.assertEqual(json.loads((self.folder / "graph.json").read_text())["checks"],
                         [{"status": "ok", "device": "cpu"}, {"status": "close", "device": "H100"}])
        self.assertTrue(check.is_checked(self.folder))
        self.assertEqual(check.read_status(self.folder), "close")

    @unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
    def test_the_smallest_wrappers_are_checked_first(self):
        for name, lines in (("a", 9), ("b", 1), ("c", 4)):
            (self.folder / name).mkdir()
            (self.folder / name / "graph.json").write_text(json.dumps({"checks": []}))
            (self.folder / name / "output_code.py").write_text("pass\n" * lines)
        labels = []
        options = {"workers": 1, "seconds": 1, "memory": 1, "deadline": 0, "json": True}
        with unittest.mock.patch.object(processes, "run", lambda works, bounds: labels.extend(each.label for each in works) or []):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                command.check_all(self.folder, options)
        self.assertEqual(labels, ["b", "c", "a"])
        self.assertEqual(json.loads(said.getvalue()), {"not_checked": 3})
        [left] = json.loads((self.folder / "a/graph.json").read_text())["checks"]
        self.assertEqual((left["status"], left["message"]), ("not_run", "the deadline of kernelmill capture --check came before"))

    @unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
    def test_a_check_that_crashes_leaves_the_run_of_the_text(self):
        (self.folder / "graph.json").write_text(json.dumps({"checks": [{"status": "ok", "device": "cuda"}]}))
        (self.folder / "output_code.py").write_text("")
        options = {"workers": 1, "seconds": 9, "memory": 8, "deadline": 0, "json": True}
        with unittest.mock.patch.object(check, "check_graph", lambda _folder: os._exit(3)), contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(command.check_all(self.folder, options), 1)
        self.assertEqual([each["status"] for each in json.loads((self.folder / "graph.json").read_text())["checks"]], ["ok", "error"])

    @unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
    def test_results_without_a_finite_number_say_nothing(self):
        import torch

        nan = torch.tensor([float("nan"), float("inf")])
        self.assertFalse(check.has_finite([nan, torch.tensor([1]), None]))
        self.assertTrue(check.has_finite([nan, torch.tensor([0.5])]))
        self.assertTrue(check.has_finite([torch.tensor([1])]))

    @unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
    def test_a_check_compiles_in_its_own_process(self):
        from torch._inductor import config

        threads = []
        (self.folder / "graph.json").write_text(json.dumps({"checks": []}))
        with unittest.mock.patch.object(check, "_compare", lambda folder: threads.append(config.compile_threads) or {"status": "exact"}):
            check.check_graph(self.folder)
        self.assertEqual(threads, [1])

    @unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
    def test_results_are_exact_close_or_different(self):
        import torch

        def status(one, other):
            return check.compare([("x", one, other)])["status"]

        one, nan = torch.arange(8.0), torch.tensor([1.0, float("nan")])
        for other, expected in ((one.clone(), "exact"), (one + 1e-4, "close"), (one + 1, "different"), (one.double(), "different"),
                                (one.reshape(2, 4), "different"), (one / 0, "different")):
            self.assertEqual(status(one, other), expected, other)
        self.assertEqual(check.compare([("x", nan, nan.clone()), ("y", None, None)])["status"], "exact")
        self.assertEqual(status(torch.tensor([1, 2]), torch.tensor([1, 3])), "different")
        for other in ([float("nan"), 1.0], [1.0, 0.0], [1.0, float("inf")]):
            self.assertEqual(status(nan, torch.tensor(other)), "different", other)

    @unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
    def test_a_process_makes_its_pool_of_threads_before_autograd_can(self):
        import torch

        (self.folder / "graph.json").write_text(json.dumps({"checks": []}))
        (self.folder / "output_code.py").write_text("")
        works, said = [], []
        options = {"workers": 1, "seconds": 1, "memory": 1, "deadline": 0, "json": True, "out": "", "list": "", "from": "", "check": False, "batch": 2,
                   "model": ["file:" + str(self.folder / "one_model.py")], "unsafe_no_container": True, "device": "h100", "mode": "training", "most": 0,
                   "dynamic": False, "autotune": False, "dtype": "float32", "length": 32, "license": ""}
        (self.folder / "one_model.py").write_text("MODELS = {'x': None}\n")
        with unittest.mock.patch.object(processes, "run", lambda asked, bounds: works.extend(asked) or []), contextlib.redirect_stdout(io.StringIO()):
            command.check_all(self.folder, options)
            command._capture_models(self.folder / "out", options)
        with unittest.mock.patch.object(torch, "set_num_threads", lambda count: said.append(count)), \
                unittest.mock.patch.object(check, "_compare", lambda _folder: said.append("check") or {"status": "exact"}), \
                unittest.mock.patch.object(tracing.models, "build", lambda _name, _sizes: said.append("build") or 1 / 0), \
                unittest.mock.patch.object(tracing.pretended, "install", lambda _device: None):
            for work in works:
                work.action()
        self.assertEqual(said, [1, "check", 1, "build"])


SIMPLE = """
import torch

INPUTS = [{inputs}]


def make_inputs(device):
    return [torch.arange(6.0).reshape(2, 3) for _ in INPUTS]


class Graph(torch.nn.Module):
    def forward(self, {names}):
        {body}
"""


@unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
class AloneTest(Folder):
    """A text in a process by itself."""

    def check(self, body, shape=("2", "3")):
        path = self.folder / "graph.py"
        path.write_text(SIMPLE.format(inputs="0, ", names="a", body=body))
        return alone.check_text(path, [{"shape": list(shape), "dtype": "float32"}], "h100")

    def test_results_like_the_traces_are_ok(self):
        self.assertEqual(self.check("return (a + 1,)"), {"status": "ok", "device": "cpu", "message": ""})
        self.assertEqual(self.check("return (a + 1,)", ("3", "2"))["message"], "result 0 is float32 ['2', '3']")

    def test_what_only_this_process_defines_is_missed(self):
        import torch

        library = torch.library.Library("alone_test", "DEF")
        library.define("twice(Tensor a) -> Tensor")
        library.impl("twice", lambda a: a * 2, "CPU")
        found = self.check("return (torch.ops.alone_test.twice(a),)")
        self.assertEqual(found["status"], "error")
        self.assertIn("alone_test", found["message"])

    def test_a_process_that_dies_is_an_error(self):
        self.assertEqual(self.check("import os; os._exit(7)")["message"], "the process ended with 7: it said nothing")


@unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
class CompareTest(Folder):
    """A graph beside a wrapper whose call() a test gives."""

    def write(self, name, phase, names, body, code="", outputs=(), number=0):
        place = self.folder / name
        place.mkdir()
        listed = "".join(f"({each!r}, (2, 3), (3, 1), 'float32', 1.0), " for each in names.split(", "))
        (place / "graph.py").write_text(SIMPLE.format(inputs=listed, names=names, body=body))
        (place / "output_code.py").write_text(code)
        rows = [{"name": each, "kind": "tensor", "shape": ["2", "3"], "dtype": "float32"} for each in names.split(", ")]
        described = [{"shape": list(shape), "dtype": "float32"} for shape in outputs]
        (place / "graph.json").write_text(json.dumps({"phase": phase, "graph": number, "settings": [], "inputs": rows, "outputs": described}))
        return place

    def compare(self, place, call):
        with unittest.mock.patch.object(check, "_load", lambda _path: unittest.mock.Mock(call=call)):
            return check._compare(place, "cpu")

    def test_a_result_is_named_by_the_graph(self):
        place = self.write("x", "inference", "a", "b = a + 1; c = a * 2; return (b, c)")
        self.assertEqual(self.compare(place, lambda each: (each[0] + 1, each[0] * 2))["status"], "exact")
        found = self.compare(place, lambda each: (each[0] + 1, each[0] * 3))
        self.assertEqual((found["status"], found["message"]), ("different", "c (float32)"))

    def test_a_comment_that_draws_random_numbers_is_no_draw(self):
        place = self.write("x", "inference", "a", "# code: torch.randint(9)\n        b = a + 1; return (b,)")
        self.assertEqual(self.compare(place, lambda each: (each[0] + 1,))["status"], "exact")

    def test_random_state_is_not_compared_and_the_check_says_so(self):
        place = self.write("x", "inference", "a", "b = a + 1; c = a * 2; return (b, c)")
        with unittest.mock.patch.object(graph_text, "list_states", lambda _text: {"c"}):
            found = self.compare(place, lambda each: (each[0] + 1, each[0] * 3))
        self.assertEqual((found["status"], found["message"]), ("exact", "not compared: 1 results that are random state"))

    def test_an_input_whose_memory_is_taken_is_not_compared_and_another_is(self):
        def call(each):
            result = each[0] + each[1]
            each[0].zero_()
            return (result,)

        for code, status, message in (("    buf0 = a; del a  # reuse\n", "exact", "not compared: 1 inputs whose memory the code takes"),
                                      ("    del a\n", "different", "input a (float32)")):
            with self.subTest(code):
                place = self.write(status, "inference", "a, b", "c = a + b; return (c,)", code)
                found = self.compare(place, call)
                self.assertEqual((found["status"], found["message"]), (status, message))

    def test_a_result_that_is_rounding_alone_is_not_compared(self):
        place = self.write("x", "inference", "a", "return (a + 1, a * 2, a * 1e-9)")
        found = self.compare(place, lambda each: (each[0] + 1, each[0] * 2, each[0] * -1e-9))
        self.assertEqual((found["status"], found["message"]), ("exact", "not compared: 1 results that are rounding alone"))
        self.assertEqual(self.compare(place, lambda each: (each[0] + 1, each[0] * 2, each[0] * 1e-3))["status"], "different")

    def test_a_single_number_is_positive(self):
        text = graph_text.HEADER.format(title="", imports="", inputs="    ('a', (), (), 'float64', 1.0),", device="cpu")
        space = {"__name__": "graph"}
        exec(compile(text, "graph.py", "exec"), space)  # pylint: disable=exec-used
        self.assertGreater(min(float(space["make_inputs"]("cpu", seed)[0]) for seed in range(20)), 0)

    def test_inputs_have_the_strides_that_the_wrapper_asserts(self):
        strides = []
        place = self.write("x", "inference", "a", "b = a + 1; return (b,)", "    assert_size_stride(a, (2, 3), (1, 2))\n")
        found = self.compare(place, lambda each: strides.append(each[0].stride()) or (each[0] + 1,))
        self.assertEqual((found["status"], strides), ("exact", [(1, 2)]))

    def test_a_copy_repeats_elements_where_the_stride_is_zero(self):
        import torch

        value = torch.arange(3.0).expand(2, 3)
        self.assertEqual(inputs.lay_out(value, (0, 1)).tolist(), value.tolist())
        self.assertEqual(inputs.lay_out(value, (0, 1)).stride(), (0, 1))

    def test_a_backward_graph_gets_what_its_forward_graph_saves(self):
        self.write("forward", "forward", "p, x", "y = p * x; saved = y + 40; return (y, p, saved)", outputs=[("2", "3")] * 3)
        place = self.write("backward", "backward", "p, saved, tangents_1", "g = saved * p * tangents_1; return (g,)")
        seen = []
        found = self.compare(place, lambda each: seen.append(each[1].flatten().tolist()) or (each[0] * each[1] * each[2],))
        self.assertEqual((found["status"], seen), ("exact", [[40.0, 41.0, 44.0, 49.0, 56.0, 65.0]]), found)

    def test_of_two_forward_graphs_that_of_the_same_shapes_and_number_counts(self):
        for name, number, shape in (("wrong", 0, ("3", "3")), ("first", 1, ("2", "3")), ("second", 2, ("2", "3"))):
            self.write(name, "forward", "x", "saved = x + 1; return (x, saved)", outputs=[("2", "3"), shape], number=number)
        for number, expected in ((2, "second"), (1, "first"), (0, "first")):
            place = self.write(f"b{number}", "backward", "saved, tangents_1", "return (saved,)", number=number)
            self.assertEqual(inputs.find_forward(place).name, expected)

    def test_made_up_values_decide_nothing_if_results_differ(self):
        place = self.write("x", "backward", "saved, tangents_1", "b = saved * tangents_1; return (b,)")
        found = self.compare(place, lambda each: (each[0] * each[1],))
        self.assertEqual((found["status"], found["message"]), ("exact", ""))
        found = self.compare(place, lambda each: (each[0] * each[1] * 2,))
        self.assertEqual((found["status"], found["message"]),
                         ("not_run", "not decided: b (float32) differs, but what a forward graph would save is made up"))

    def test_a_graph_with_an_operator_that_nothing_defines_is_not_run(self):
        place = self.write("x", "inference", "a", "b = torch.ops.missing.f.default(a); return (b,)")
        found = self.compare(place, None)
        self.assertEqual((found["status"], found["message"]), ("not_run", "no package here defines the operator missing.f"))


if __name__ == "__main__":
    unittest.main()
