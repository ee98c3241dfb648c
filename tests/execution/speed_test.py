"""How fast kernels are: cases that are grown until they fill a device, times with their noise, the roofline, and the rows of all that.
They run on Triton's interpreter: a case grows to kilobytes, and the clock of the process tells times."""

import hashlib
import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

import environment

environment.need("execution")
import kernels  # noqa: E402
import numpy  # noqa: E402
from kernelmill.errors import ProgramError, RequestError  # noqa: E402
from kernelmill.execution import clocks, command, elements, growth, recipes, roofline, speed, timing  # noqa: E402
from kernelmill.execution.case import Case  # noqa: E402
from kernelmill.execution.evidence import Evidence  # noqa: E402
from kernelmill.execution.runner import Bounds  # noqa: E402

SOURCE = kernels.SOURCE + '''

@triton.jit
def rows_kernel(out_ptr, in_ptr, stride, n_cols, BLOCK: tl.constexpr):
    """Scales each row by its sum; the rows of the input lie `stride` apart."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * stride + at, mask=at < n_cols, other=0.0)
    tl.store(out_ptr + row * n_cols + at, x * tl.sum(x, axis=0), mask=at < n_cols)


@triton.jit
def first_kernel(out_ptr, in_ptr, index_ptr, n, BLOCK: tl.constexpr):
    """Gathers by indices of a test."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + at, tl.load(in_ptr + index, mask=at < n), mask=at < n)


@triton.jit
def half_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Serves 64 blocks at most."""
    pid = tl.program_id(0)
    if pid < 64:
        at = pid * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)
'''
N = 100


def view(name, storage, shape, strides=None, dtype="float32", offset=0):
    steps = strides or [int(numpy.prod(shape[place + 1:])) for place in range(len(shape))]
    return {"name": name, "tensor": {"dtype": dtype, "shape": list(shape), "strides": list(steps), "offset": offset, "storage": storage}}


def number(name, value):
    return {"name": name, "scalar": {"type": type(value).__name__, "value": value}}


def constexpr(name, value):
    return {"name": name, "constexpr": repr(value)}


def normal(count, seed=1):
    return {"bytes": 4 * count, "recipe": {"kind": "normal", "dtype": "float32", "seed": seed, "mean": 0.0, "deviation": 1.0}}


def poison(count):
    return {"bytes": 4 * count, "recipe": {"kind": "poison"}}


def make(kernel, arguments, storages, grid, outputs, source=SOURCE):
    """`outputs`: bytes by storage."""
    rows = [{"storage": place, "sha256": hashlib.sha256(content).hexdigest()} for place, content in outputs.items()]
    return Case.make(module_sha256=hashlib.sha256(source.encode()).hexdigest(), kernel=kernel, arguments=arguments, storages=storages,
                     grid=[*grid, 1, 1][:3], options={}, environment={}, outputs=rows, ragged=False, tolerance={"float32": 2e-4},
                     origin={"recorded": {}}).check()


def values(storage):
    return elements.decode(recipes.fill(storage["recipe"], storage["bytes"]), "float32").astype("f4")


def add_case(n=N):
    storages = [normal(n, 1), normal(n, 2), poison(n)]
    x, y = map(values, storages[:2])
    return make("add_kernel", [view("x_ptr", 0, [n]), view("y_ptr", 1, [n]), view("out_ptr", 2, [n]), number("n", n), constexpr("BLOCK", 64)],
                storages, [-(-n // 64)], {2: (x + x + y).tobytes()})


def rows_case(rows=3, columns=60, stride=64):
    storages = [poison(rows * columns), normal(rows * stride)]
    x = values(storages[1]).reshape(rows, stride)[:, :columns]
    return make("rows_kernel", [view("out_ptr", 0, [rows, columns]), view("in_ptr", 1, [rows, columns], [stride, 1]), number("stride", stride),
                                number("n_cols", columns), constexpr("BLOCK", 64)], storages, [rows],
                {0: (x * x.sum(axis=1, keepdims=True)).astype("f4").tobytes()})


def grown(case, factor, **choice):
    """Returns the case as the first way grows it that is like this."""
    way = next(way for way in growth.find_ways(case) if all(getattr(way, name) == value for name, value in choice.items()))
    return growth.grow(case, way, factor)


class Growth(unittest.TestCase):
    def test_a_size_grows_with_its_tensors_and_its_blocks(self):
        case = grown(add_case(), 8, size=N).check()
        self.assertEqual([each["shape"] for each in case.tensors()], [[800]] * 3)
        self.assertEqual(case.row["arguments"][3]["scalar"]["value"], 800)
        self.assertEqual(case.row["grid"], [13, 1, 1])
        self.assertEqual([each["bytes"] for each in case.storages], [3200] * 3)

    def test_rows_that_no_argument_states_grow_with_the_grid(self):
        case = grown(rows_case(), 16, size=3).check()
        self.assertEqual([each["shape"] for each in case.tensors()], [[48, 60], [48, 60]])
        self.assertEqual([each["strides"] for each in case.tensors()], [[60, 1], [64, 1]])
        self.assertEqual((case.row["grid"], case.row["arguments"][2]["scalar"]["value"]), ([48, 1, 1], 64))
        self.assertEqual([each["bytes"] for each in case.storages], [4 * 48 * 60, 4 * 48 * 64])

    def test_an_inner_dimension_moves_the_outer_ones_and_their_strides_apart(self):
        case = make("k", [view("x", 0, [4, 96]), number("x_stride", 96), number("n", 96), constexpr("BLOCK", 32)], [normal(384)], [4, 3],
                    {0: b""})
        case = grown(case, 2, size=96).check()
        self.assertEqual(next(case.tensors())["strides"], [192, 1])
        self.assertEqual([each["scalar"]["value"] for each in case.row["arguments"][1:3]], [192, 192])
        self.assertEqual(case.row["grid"], [4, 6, 1])

    def test_a_product_of_dimensions_grows_by_its_first(self):
        case = make("k", [view("x", 0, [2, 3, 8]), number("rows", 6)], [normal(48)], [6], {0: b""})
        case = grown(case, 4, size=6).check()
        self.assertEqual((next(case.tensors())["shape"], case.row["arguments"][1]["scalar"]["value"], case.row["grid"]),
                         ([8, 3, 8], 24, [24, 1, 1]))

    def test_of_equal_dimensions_each_is_tried(self):
        case = make("k", [view("x", 0, [8, 8]), constexpr("BLOCK", 4)], [normal(64)], [2, 2], {0: b""})
        shapes = {tuple(next(growth.grow(case, way, 2).tensors())["shape"]) for way in growth.find_ways(case)}
        self.assertLessEqual({(16, 8), (8, 16)}, shapes)

    def test_a_size_of_what_is_written_is_likelier_than_that_of_a_loop(self):
        arguments = [view("a", 0, [32, 64]), view("b", 1, [64, 48]), view("c", 2, [32, 48]), number("M", 32), number("N", 48), number("K", 64),
                     constexpr("BM", 16), constexpr("BN", 48), constexpr("BK", 8)]
        case = make("k", arguments, [normal(2048), normal(3072), poison(1536)], [2], {2: b""})
        self.assertEqual(growth.find_ways(case)[0].size, 32)
        self.assertIn(64, [way.size for way in growth.find_ways(case)])

    def test_integers_of_a_test_are_not_grown(self):
        content = {"bytes": 8 * N, "sha256": "0" * 64}
        arguments = [view("out", 0, [N]), view("x", 1, [N]), view("index", 2, [N], dtype="int64"), number("n", N), constexpr("BLOCK", 64)]
        case = make("k", arguments, [poison(N), normal(N), content], [2], {0: b""})
        self.assertEqual([growth.grow(case, way, 2) for way in growth.find_ways(case) if way.size == N], [None] * sum(
            way.size == N for way in growth.find_ways(case)))

    def test_the_factor_is_the_largest_power_of_two_that_the_bounds_allow(self):
        case = add_case()
        way = growth.find_ways(case)[0]
        self.assertEqual(growth.find_factor(case, way, 100_000), 64)
        self.assertEqual(growth.find_factor(case, way, 1000), 1)
        rows = make("k", [view("x", 0, [2, 3])], [normal(6)], [1, 2], {0: b""})
        way = next(way for way in growth.find_ways(rows) if way.axis == 1)
        self.assertLessEqual(growth.grow(rows, way, growth.find_factor(rows, way, 1 << 30)).row["grid"][1], 65535)

    def test_contents_continue_and_repeat(self):
        base = add_case()
        case = grown(base, 8, size=N)
        small = [recipes.fill(each["recipe"], each["bytes"]) for each in base.storages]
        inputs = growth.fill(case, small)
        self.assertEqual([len(each) for each in inputs], [3200] * 3)
        self.assertEqual(inputs[0], recipes.fill(base.storages[0]["recipe"], 3200))
        self.assertEqual(set(inputs[2]), {255})
        content = Case({**case.row, "storages": [{"bytes": 3200, "sha256": "0" * 64}, *case.storages[1:]]})
        self.assertEqual(growth.fill(content, small)[0], small[0] * 8)
        large = Case({**case.row, "storages": [{"bytes": 3 << 20, "recipe": base.storages[0]["recipe"]}]})
        [filled] = growth.fill(large, small[:1])
        self.assertEqual((len(filled), filled[:1 << 20]), (3 << 20, filled[1 << 20:2 << 20]))

    def test_what_was_grown_is_said(self):
        base = add_case()
        self.assertEqual(", ".join(growth.describe(base, grown(base, 2, size=N))),
                         "x_ptr [200], y_ptr [200], out_ptr [200], n = 200, grid [4, 1, 1]")


def fake_torch():
    """Returns a torch whose GPU has a clock of its own, in microseconds, and what was done on it."""
    done, now = [], [0.0]

    def run(name, microseconds):
        done.append(name)
        now[0] += microseconds

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            self.at = now[0]

        def elapsed_time(self, end):
            return (end.at - self.at) / 1000

    cuda = types.SimpleNamespace(Event=Event, synchronize=lambda: None, _sleep=lambda cycles: run("wait", 1.0))
    cache = types.SimpleNamespace(zero_=lambda: run("flush", 80.0))
    return types.SimpleNamespace(cuda=cuda, int8="int8", empty=lambda size, dtype, device: cache, run=run), done


class Times(unittest.TestCase):
    """A clock by which each launch takes what a list says."""

    def launch(self, *parts):
        asked, left = [], list(parts)

        def launches(count):
            asked.append(count)
            return [left[0] if len(left) == 1 else left.pop(0)] * count if not callable(left[0]) else left.pop(0)(count)

        return asked, launches

    def test_a_launch_is_warmed_up_and_timed_within_a_budget(self):
        asked, launches = self.launch(10_000.0)
        self.assertEqual(timing.measure(launches), [10_000.0] * 20)
        self.assertEqual(asked, [3, 5, 20])
        asked, launches = self.launch(1.0)
        self.assertEqual(len(timing.measure(launches)), timing.MOST)
        self.assertEqual(asked, [3, 100, 100])

    def test_noise_is_measured_once_more_and_marked(self):
        def noisy(count):
            return [10.0 + 5 * (place % 2) for place in range(count)]

        _, launches = self.launch(10.0, 10.0, noisy, 10.0)
        self.assertFalse(timing.summarize(timing.measure(launches))["noisy"])
        _, launches = self.launch(10.0, 10.0, noisy, noisy)
        found = timing.summarize(timing.measure(launches))
        self.assertEqual((found["median_us"], found["spread_us"], found["noisy"]), (12.5, 5.0, True))

    def test_a_gpu_is_asked_to_wait_and_forgets_its_cache_before_each_launch(self):
        torch, done = fake_torch()
        with mock.patch.dict(sys.modules, torch=torch):
            times = timing.Timer().measure(lambda: torch.run("launch", 1000.0))
        self.assertEqual(set(times), {1000.0})
        self.assertEqual(done.count("wait"), 3)
        self.assertEqual(done[:3], ["wait", "flush", "launch"])
        self.assertEqual(done.count("flush"), done.count("launch"))

    def test_clocks_are_those_of_the_window(self):
        readings = [(1.0, 300, 2600), (2.0, 1900, 2600), (2.5, 1980, 2619), (3.0, 1980, 2619), (9.0, 200, 1)]
        self.assertEqual(clocks.summarize(readings, [1.5, 3.5]), {"sm_mhz": 1980, "sm_mhz_least": 1900, "memory_mhz": 2619})
        self.assertIsNone(clocks.summarize(readings, [4.0, 5.0]))
        self.assertIsNone(clocks.summarize(readings, []))


class Rooflines(unittest.TestCase):
    H100 = "NVIDIA H100 80GB HBM3"

    def test_bytes_are_read_once_and_written_once(self):
        self.assertEqual(roofline.count_bytes(add_case()), 3 * 4 * N)
        self.assertEqual(roofline.count_bytes(rows_case(3, 60, 64)), 2 * 4 * 180)  # not what lies between the rows
        both = make("k", [view("x", 0, [N])], [normal(N)], [1], {0: b""})
        self.assertEqual(roofline.count_bytes(both), 2 * 4 * N)
        broadcast = make("k", [view("x", 0, [50, N], [0, 1]), view("out", 1, [N])], [normal(N), poison(N)], [1], {1: b""})
        self.assertEqual(roofline.count_bytes(broadcast), 2 * 4 * N)

    def test_operations_of_a_product_of_matrices(self):
        def product(a, b, c):
            return make("k", [view("a", 0, a), view("b", 1, b), view("c", 2, c)], [normal(4096), normal(4096), poison(4096)], [1], {2: b""})

        self.assertEqual(roofline.count_operations(product([16, 32], [32, 8], [16, 8])), (2 * 16 * 32 * 8, "float32"))
        self.assertEqual(roofline.count_operations(product([4, 16, 32], [4, 8, 32], [4, 16, 8])), (4 * 2 * 16 * 32 * 8, "float32"))
        self.assertIsNone(roofline.count_operations(product([16, 32], [16, 32], [16, 32])))

    def test_the_share_is_that_of_the_tighter_bound(self):
        case = add_case(1 << 20)
        row = roofline.account(case, SOURCE, 7.512, self.H100)
        self.assertEqual((row["bytes"], row["operations"], row["bound"]), (12 << 20, None, "memory"))
        self.assertAlmostEqual(row["roofline"], (12 << 20) / 3.35e12 / 7.512e-6, places=3)
        self.assertIsNone(roofline.account(case, SOURCE, 1.0, self.H100)["roofline"])  # it cannot have moved them
        self.assertIsNone(roofline.account(case, SOURCE, 9.0, "another GPU")["roofline"])

    def test_a_product_that_cannot_be_counted_has_no_share(self):
        module = "@j\ndef add_kernel(x):\n    return tl.dot(x, x)\n"
        self.assertIsNone(roofline.account(add_case(), module, 9.0, self.H100)["roofline"])


class Driver:
    def name(self):
        return "a processor"

    def clocks(self):
        return 1000, 2000


class FixedReference:
    """A reference that was bound."""

    def __init__(self, module):
        self.module = module

    def find(self, kernel, cases):
        assert all(set(after) == set(case.outputs) for case, _, after in cases)
        if kernel.name != "add_kernel":
            return None
        return {"module": self.module, "function": "reference", "parameters": {"x": "x_ptr", "y": "y_ptr"}, "outputs": ["out_ptr"]}

    def close(self):
        pass


class Locks(unittest.TestCase):
    """Two runs on a GPU share a lock of their timers."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.object(tempfile, "tempdir", self.folder))

    def lock_of(self, visible):
        with mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=visible):
            return speed.lock_of_gpu()

    def test_runs_on_a_gpu_have_one_lock_and_runs_on_two_have_two(self):
        self.assertEqual(self.lock_of("1"), self.lock_of("1"))
        self.assertNotEqual(self.lock_of("0"), self.lock_of("1"))

    def test_a_folder_of_another_user_is_refused(self):
        os.mkdir(f"{self.folder}/kernelmill-timers-{os.getuid() + 1}")
        with mock.patch.object(os, "getuid", return_value=os.getuid() + 1), self.assertRaisesRegex(ProgramError, "belongs to another user"):
            speed.lock_of_gpu()


class Runs(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.evidence = Evidence(self.work / "evidence.jsonl")
        names = ("add_kernel", "rows_kernel", "first_kernel", "half_kernel", "scale_kernel")
        rows = [{"qualname": name, "name": name, "id": name, "module": SOURCE, "dsl": "triton", "role": "kernel"} for name in names]
        (self.work / "kernels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def add(self, case, outputs, outcome="exact"):
        for content in outputs:
            self.evidence.put(content)
        self.evidence.add(case.row)
        self.evidence.add({"type": "result", "case": case.id, "module_sha256": case.module_sha256, "device": "cpu", "toolchain": {},
                           "environment": {}, "outcome": outcome})

    def add_all(self):
        n = N
        x = values(normal(n))
        y = values(normal(n, 2))
        self.add(add_case(), [(x + x + y).tobytes()])
        self.add(rows_case(), [])
        index = numpy.arange(n)[::-1].astype("i8").tobytes()
        digest = self.evidence.put(index)
        first = make("first_kernel", [view("out_ptr", 0, [n]), view("in_ptr", 1, [n]), view("index_ptr", 2, [n], dtype="int64"), number("n", n),
                                      constexpr("BLOCK", 64)], [poison(n), normal(n), {"bytes": 8 * n, "sha256": digest}], [2], {0: b""})
        self.add(first, [])
        half = make("half_kernel", [view("x_ptr", 0, [n]), view("out_ptr", 1, [n]), number("n", n), constexpr("BLOCK", 16)],
                    [normal(n), poison(n)], [7], {1: b""})
        self.add(half, [])

    def run_speed(self, references=None, **settings):
        given = {"bounds": Bounds(seconds=20, arena=1 << 26), "full": 8_000, "most": 16_000, "workers": 2, **settings}
        summary = speed.run(self.work, self.evidence, speed.Settings(device="cpu", **given), references, driver=Driver())
        return summary, {row["kernel"]: row for row in self.evidence.rows("speed")}

    def test_each_kernel_gets_a_row_that_says_of_which_size_it_is(self):
        self.add_all()
        summary, rows = self.run_speed()
        self.assertEqual((summary.measured, summary.filling, summary.errors, dict(summary.failed)), (4, 2, [], {}))
        for name in ("add_kernel", "rows_kernel"):
            self.assertTrue(rows[name]["fills"], rows[name])
            self.assertGreaterEqual(rows[name]["launches"], 10)
            self.assertGreater(rows[name]["median_us"], 0)
            self.assertIn("spread_us", rows[name])
            self.assertFalse(rows[name]["checked"])
        self.assertIn("grid [", rows["add_kernel"]["sizes"])
        self.assertEqual(rows["rows_kernel"]["hardware"], "a processor")
        self.assertEqual((rows["first_kernel"]["fills"], rows["first_kernel"]["reason"], rows["first_kernel"]["sizes"]), (False, "no_way", ""))
        self.assertEqual((rows["half_kernel"]["fills"], rows["half_kernel"]["reason"]), (False, "not_covered"))
        self.assertEqual(rows["add_kernel"]["case"], add_case().id)
        again = growth.regrow(add_case(), rows["add_kernel"]["grown"])
        self.assertEqual(", ".join(growth.describe(add_case(), again)), rows["add_kernel"]["sizes"])
        self.assertEqual(rows["add_kernel"]["clocks"], {"sm_mhz": 1000, "sm_mhz_least": 1000, "memory_mhz": 2000})
        again = Evidence(self.evidence.file)
        self.assertEqual(len(list(again.rows("speed"))), 4)
        self.assertEqual(len(list(again.cases())), 4)  # grown ones are too large to keep

    def test_what_is_known_is_not_timed_again(self):
        self.add(add_case(), [])
        self.run_speed()
        summary, _ = self.run_speed()
        self.assertEqual((summary.measured, summary.skipped), (0, 1))

    def test_cases_that_differ_somewhere_are_not_timed(self):
        self.add(add_case(), [], "different")
        self.assertEqual(self.run_speed()[0].measured, 0)

    def test_a_deadline_leaves_the_rest(self):
        self.add_all()
        summary, _ = self.run_speed(deadline=0.0)
        self.assertEqual((summary.measured, summary.left), (0, 4))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_a_bound_reference_checks_the_grown_case_and_is_timed(self):
        self.add_all()
        module = "import torch\n\n\ndef reference(x, y):\n    return torch.add(2 * x, y)\n"
        summary, rows = self.run_speed(lambda: FixedReference(module))
        self.assertTrue(rows["add_kernel"]["checked"], rows["add_kernel"])
        self.assertGreater(rows["add_kernel"]["eager_us"], 0)
        self.assertNotIn("eager_us", rows["rows_kernel"])
        self.assertEqual((summary.checked, summary.eager), (1, 1))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_a_size_at_which_the_reference_says_something_else_does_not_count(self):
        self.add(add_case(), [(values(normal(N)) * 2 + values(normal(N, 2))).tobytes()])
        module = "import torch\n\n\ndef reference(x, y):\n    return torch.add(2 * x, y) + (x.numel() > 200)\n"
        _, rows = self.run_speed(lambda: FixedReference(module))
        self.assertEqual((rows["add_kernel"]["fills"], rows["add_kernel"]["reason"]), (False, "reference_differs"))

    def test_a_machine_without_a_gpu_is_refused(self):
        self.add(add_case(), [])
        self.evidence.save()
        try:
            clocks.Nvml()
        except OSError:
            with self.assertRaisesRegex(ProgramError, "speed cannot be measured here"):
                speed.run(self.work, self.evidence, speed.Settings())
        options = {"dataset": str(self.work), "evidence": "", "merge": [], "bundle": "", "device": "cpu", "unsafe_no_sandbox": False,
                   "workers": 1, "mutants": 0, "threshold": 0.9, "made": 4, "deadline": 0, "case_seconds": 60, "python": "", "kernel": [],
                   "json": False, "speed": True}
        with self.assertRaisesRegex(RequestError, "--speed needs a GPU"):
            command.run(options)


if __name__ == "__main__":
    unittest.main()
