"""The parts of kernelmill.execution that run no kernel: recipes, element types, cases, verdicts, evidence, mutants."""

import dataclasses
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import environment

environment.need("execution")
import numpy  # noqa: E402
from kernelmill.errors import DatasetError  # noqa: E402
from kernelmill.execution import arena, elements, judge, libdevice, made, mutants, ptx, recipes, recorder, spread, zygote  # noqa: E402
from kernelmill.execution import evidence as evidence_file  # noqa: E402
from kernelmill.execution.case import Case, extent  # noqa: E402
from kernelmill.execution.evidence import Evidence  # noqa: E402
from kernelmill.execution.runner import visible_gpus  # noqa: E402
from kernelmill.tasks import references  # noqa: E402
from kernelmill.tasks.contents import TaskCase  # noqa: E402

NORMAL = {"kind": "normal", "dtype": "float32", "seed": 7, "mean": 0.5, "deviation": 2.0}
MODULE = '''import triton
import triton.language as tl


@triton.jit
def scale(x, é):
    return x * 2 + é


@triton.jit
def unused(x):
    return x * 3


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Sums."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    tl.store(out_ptr + at, scale(x, 1) + tl.sum(x, axis=0), mask=mask)
'''


def view(dtype, shape, strides, storage=0, offset=0):
    return {"tensor": {"dtype": dtype, "shape": shape, "strides": strides, "offset": offset, "storage": storage}}


def a_case(**changes):
    fields = {"module_sha256": "m", "kernel": "kernel", "arguments": [{"name": "x", **view("float32", [8], [1])}],
              "storages": [{"bytes": 32, "recipe": {"kind": "poison"}}], "grid": [1, 1, 1], "options": {}, "environment": {},
              "outputs": [{"storage": 0, "sha256": "0" * 64}], "tolerance": {}, "ragged": False, "origin": {}}
    return Case.make(**{**fields, **changes})


class Recipes(unittest.TestCase):
    def test_philox_gives_the_known_answers_of_its_authors(self):
        def block(counter, key):
            return [f"{word:08x}" for word in recipes.philox(numpy.array([counter], numpy.uint64), key)[0]]

        ones = 0xFFFFFFFF
        self.assertEqual(block([0, 0, 0, 0], (0, 0)), ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"])
        self.assertEqual(block([ones] * 4, (ones, ones)), ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"])
        self.assertEqual(block([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], (0xa4093822, 0x299f31d0)),
                         ["d16cfe09", "94fdcceb", "5001e420", "24126ea1"])

    def test_a_recipe_gives_the_same_bytes_for_good(self):
        def digest(recipe, size=4096):
            return hashlib.sha256(recipes.fill(recipe, size)).hexdigest()[:16]

        found = [digest(NORMAL), digest({**NORMAL, "dtype": "bfloat16"}), digest({**NORMAL, "dtype": "float8_e4m3fn"}),
                 digest({"kind": "uniform", "dtype": "float16", "seed": 1, "low": -1.0, "high": 3.0}),
                 digest({"kind": "integers", "dtype": "int64", "seed": 1, "low": -5, "high": 100})]
        self.assertEqual(found, KNOWN)

    def test_a_longer_storage_begins_like_a_shorter_one(self):
        self.assertEqual(recipes.fill(NORMAL, 400)[:40], recipes.fill(NORMAL, 40))

    def test_normal_numbers_have_their_mean_and_deviation(self):
        values = elements.decode(recipes.fill(NORMAL, 4 << 16), "float32")
        self.assertAlmostEqual(values.mean(), 0.5, delta=0.03)
        self.assertAlmostEqual(values.std(), 2.0, delta=0.03)

    def test_constants_and_sequences_are_found_to_the_bit(self):
        self.assertEqual(recipes.find_exact(b"\0" * 64, "float32")["kind"], "constant")
        self.assertEqual(recipes.find_exact(struct.pack("<8i", *range(3, 27, 3)), "int32"),
                         {"kind": "arange", "dtype": "int32", "start": 3, "step": 3})
        self.assertIsNone(recipes.find_exact(struct.pack("<4i", 1, 2, 3, 5), "int32"))

    def test_a_distribution_is_fitted_to_random_numbers_only(self):
        fitted = recipes.fit_distribution(recipes.fill(NORMAL, 1 << 14), "float32", 1)
        self.assertEqual(fitted["kind"], "normal")
        self.assertAlmostEqual(fitted["deviation"], 2.0, delta=0.1)
        self.assertIsNone(recipes.fit_distribution(b"\0" * 4096, "float32", 1))
        self.assertIsNone(recipes.fit_distribution(recipes.poison(4096), "float32", 1))


KNOWN = ["c46ae5c710f1fb70", "d49e418e15ac60ad", "13eec5f274415f50", "8666fee4252c45fc", "c6324d5b6cea96be"]


class Elements(unittest.TestCase):
    def test_every_pattern_of_eight_bits_survives(self):
        for dtype in elements.SMALL_FLOATS:
            values = elements.decode(bytes(range(256)), dtype)
            finite = numpy.isfinite(values)
            self.assertEqual(elements.encode(values[finite], dtype).tobytes(), bytes(numpy.arange(256, dtype=numpy.uint8)[finite]))

    def test_bfloat16_rounds_to_the_nearest_even(self):
        values = numpy.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, -2.5])
        self.assertEqual(elements.decode(elements.encode(values, "bfloat16"), "bfloat16").tolist(), [1.0, 1.0, 1 + 2**-6, -2.5])

    def test_known_values_of_eight_bits(self):
        self.assertEqual(elements.decode(bytes([0x7E, 0x01, 0x80]), "float8_e4m3fn").tolist(), [448.0, 2.0**-9, -0.0])
        self.assertEqual(elements.decode(bytes([0x7B, 0x7C]), "float8_e5m2").tolist(), [57344.0, float("inf")])


class Gpus(unittest.TestCase):
    def test_those_of_the_environment_come_before_those_of_the_machine(self):
        for visible, gpus in (("", []), ("3", ["3"]), ("0, 2", ["0", "2"])):
            with self.subTest(visible), mock.patch.dict("os.environ", CUDA_VISIBLE_DEVICES=visible):
                self.assertEqual(visible_gpus(), gpus)

    def test_the_machine_has_one_for_each_numbered_file(self):
        with mock.patch.dict("os.environ"), mock.patch("glob.glob", return_value=["/dev/nvidia0", "/dev/nvidia1"]):
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            self.assertEqual(visible_gpus(), ["0", "1"])


class Cases(unittest.TestCase):
    def test_an_id_is_that_of_the_content(self):
        case = a_case()
        self.assertEqual(case.id, a_case(origin={"recorded": {}}).id)
        self.assertNotEqual(case.id, a_case(grid=[2, 1, 1]).id)
        with self.assertRaisesRegex(DatasetError, "id is not that of its content"):
            Case({**case.row, "grid": [9, 1, 1]}).check()

    def test_tensors_outside_of_their_storages_are_refused(self):
        for arguments in ([{"name": "x", **view("float32", [9], [1])}], [{"name": "x", **view("float32", [8], [-1])}],
                          [{"name": "x", **view("float64", [8], [1])}], [{"name": "t", "tuple": [view("float32", [2, 8], [8, 1])]}]):
            with self.assertRaisesRegex(DatasetError, "outside its storage"):
                a_case(arguments=arguments).check()
        backwards, empty = view("float32", [8], [-1], offset=7), view("float32", [0], [1], offset=8)
        a_case(arguments=[{"name": "x", **backwards}, {"name": "y", **empty}]).check()

    def test_views_of_one_storage_with_two_types_have_no_type(self):
        arguments = [{"name": "x", **view("float32", [8], [1])}, {"name": "y", **view("int32", [8], [1])}]
        self.assertIsNone(a_case(arguments=arguments).dtype_of(0))
        self.assertEqual(extent({"shape": [2, 3], "strides": [-4, 2], "offset": 5}), (1, 9))


class Verdicts(unittest.TestCase):
    def judge(self, found, expected, dtype="float32", out_of_bounds=0):
        case = a_case(arguments=[{"name": "x", **view(dtype, [8], [1])}])
        after = numpy.frombuffer(found, numpy.uint8)
        return judge.judge(case, [b"\xff" * len(found)], [after], out_of_bounds, {0: expected})

    def test_outcomes_by_distance(self):
        ones, near, far = (struct.pack("<8f", *[value] * 8) for value in (1.0, 1.00001, 1.1))
        self.assertEqual(self.judge(ones, ones).outcome, "exact")
        close = self.judge(near, ones)
        self.assertEqual(close.outcome, "close")
        self.assertAlmostEqual(close.relative, 1e-5, delta=1e-6)
        different = self.judge(far, ones)
        self.assertEqual((different.outcome, different.share), ("different", 1.0))

    def test_a_case_may_have_its_own_tolerance(self):
        ones, near = (struct.pack("<8f", *[value] * 8) for value in (1.0, 1.001))
        for tolerance, outcome in (({}, "different"), ({"float32": 4e-3}, "close"), ({"float32": 0.0}, "different")):
            case = a_case(tolerance=tolerance).check()
            self.assertEqual(judge.judge(case, [b"\xff" * 32], [numpy.frombuffer(near, numpy.uint8)], 0, {0: ones}).outcome, outcome)
        with self.assertRaisesRegex(DatasetError, "tolerance must be a share"):
            a_case(tolerance={"float32": 2.0}).check()

    def test_integers_have_no_tolerance(self):
        self.assertEqual(self.judge(struct.pack("<8i", *[1000001] * 8), struct.pack("<8i", *[1000000] * 8), "int32").outcome, "different")

    def test_poison_that_stays_differs(self):
        expected = struct.pack("<8f", *range(8))
        self.assertEqual(self.judge(expected[:28] + b"\xff" * 4, expected).outcome, "different")
        self.assertEqual(self.judge(recipes.poison(32), expected).outcome, "different")

    def test_nan_and_infinity_equal_themselves_alone(self):
        special = struct.pack("<8f", float("nan"), float("inf"), -float("inf"), 0, 0, 0, 0, 0)
        again = struct.pack("<8f", float("nan"), float("inf"), -float("inf"), 0, 0, 0, 0, -0.0)
        self.assertEqual(self.judge(again, special).outcome, "close")
        self.assertEqual(self.judge(struct.pack("<8f", *[float("inf")] * 8), special).outcome, "different")

    def test_writes_outside_or_to_inputs_differ(self):
        ones = struct.pack("<8f", *[1.0] * 8)
        self.assertEqual(self.judge(ones, ones, out_of_bounds=3).row()["out_of_bounds"], 3)
        self.assertEqual(self.judge(ones, ones, out_of_bounds=3).outcome, "different")
        verdict = judge.judge(a_case(), [b"\0" * 32], [numpy.ones(32, numpy.uint8)], 0, {})
        self.assertIn("leaves alone", verdict.message)


class Arenas(unittest.TestCase):
    def test_each_changed_byte_of_a_guard_zone_is_counted(self):
        memory = arena.Arena(1 << 20)
        places, end = arena.lay_out([10, 0, 300])
        memory.write(places, end, [b"a" * 10, b"", b"c" * 300])
        self.assertEqual(memory.damage(places, end), 0)
        self.assertEqual(memory.read(places[2]).tobytes(), b"c" * 300)
        for at in (0, places[0].offset - 1, places[0].offset + 10, places[1].offset, end - 1):
            memory.bytes[at] ^= 1
        self.assertEqual(memory.damage(places, end), 5)

    def test_guards_are_numbers_that_spoil_a_sum(self):
        memory = arena.Arena(1 << 20)
        places, end = arena.lay_out([16])
        memory.write(places, end, [b"\0" * 16])
        behind = memory.bytes[places[0].offset + 16:][:16]
        self.assertTrue(numpy.isnan(behind.view("f4")).all() and numpy.isnan(behind.view("f2")).all())
        self.assertTrue(numpy.isnan(elements.decode(behind, "bfloat16")).all())


class Files(unittest.TestCase):
    def test_recordings_with_other_arguments_of_pytest_stand_beside_each_other(self):
        row = {"type": "recording", "repository": "demo", "commit": "c", "part": "", "device": "cpu", "toolchain": {}, "cases": 1}
        evidence = Evidence(pathlib.Path("nothing/evidence.jsonl"))
        for arguments, cases in (([], 2), (["-k", "add"], 3), (["-k", "add"], 4), (["-k", "mul"], 5)):
            evidence.add({**row, "arguments": arguments, "cases": cases})
        self.assertEqual([(each["arguments"], each["cases"]) for each in evidence.rows("recording")],
                         [(["-k", "add"], 4), (["-k", "mul"], 5), ([], 2)])
        self.assertTrue(evidence.has(row))  # as rows were before they had arguments

    def test_rows_survive_and_damage_is_seen(self):
        with tempfile.TemporaryDirectory() as work:
            file = pathlib.Path(work) / "evidence.jsonl"
            evidence = Evidence(file)
            digest = evidence.put(b"tensor")
            evidence.add(a_case(storages=[{"bytes": 6, "sha256": digest}], arguments=[]).row)
            evidence.save()
            first = file.read_bytes()
            Evidence(file).save()
            self.assertEqual(file.read_bytes(), first)
            (evidence.folder / digest).write_bytes(b"other!")
            with self.assertRaisesRegex(DatasetError, "damaged"):
                Evidence(file).get(digest)
            file.write_text(first.decode().replace('"grid":[1,1,1]', '"grid":[2,1,1]'))
            with self.assertRaisesRegex(DatasetError, "evidence.jsonl:1: .*not that of its content"):
                Evidence(file)

    def test_a_large_file_is_in_parts_that_a_job_reads(self):
        with tempfile.TemporaryDirectory() as work, mock.patch.object(evidence_file, "PART_BYTES", 3000):
            file = pathlib.Path(work) / "evidence.jsonl"
            evidence = Evidence(file)
            for size in range(8, 40):
                evidence.add(a_case(grid=[size, 1, 1]).row)
            evidence.save()
            names = sorted(each.name for each in pathlib.Path(work).glob("*.jsonl"))
            self.assertEqual(names[:2], ["evidence-0001.jsonl", "evidence-0002.jsonl"])
            self.assertEqual(names[-1], "evidence.jsonl")
            self.assertLessEqual(max(each.stat().st_size for each in pathlib.Path(work).glob("*.jsonl")), 3000)
            again = Evidence(file)
            self.assertEqual([case.id for case in again.cases()], [case.id for case in evidence.cases()])

            with mock.patch.object(evidence_file, "PART_BYTES", 1 << 20):
                again.save()
            self.assertEqual([each.name for each in pathlib.Path(work).glob("*.jsonl")], ["evidence.jsonl"])
            self.assertEqual(len(Evidence(file).cases()), 32)


class Mutants(unittest.TestCase):
    def test_each_kind_changes_the_kernel_or_what_it_calls(self):
        found = mutants.make_mutants(MODULE, "kernel", 1000)
        self.assertEqual({mutant.kind for mutant in found}, set(mutants.KINDS))
        self.assertEqual(len({mutant.module for mutant in found}), len(found))
        for mutant in found:
            compile(mutant.module, "m", "exec")
            self.assertIn("return x * 3", mutant.module)
            old, new = MODULE.split("\n"), mutant.module.split("\n")
            if mutant.kind != "no_op":
                self.assertEqual([place + 1 for place, (a, b) in enumerate(zip(old, new)) if a != b], [mutant.line], mutant.change)

    def test_they_are_the_same_each_time_and_the_first_are_of_all_kinds(self):
        self.assertEqual(mutants.make_mutants(MODULE, "kernel", 9), mutants.make_mutants(MODULE, "kernel", 1000)[:9])
        kinds = [mutant.kind for mutant in mutants.make_mutants(MODULE, "kernel", 10)]
        self.assertEqual(kinds, list(mutants.KINDS))

    def test_a_module_without_the_kernel_has_none(self):
        self.assertEqual(mutants.make_mutants(MODULE, "other", 10), [])
        self.assertEqual(mutants.make_mutants("def (", "kernel", 10), [])

    def test_an_operator_in_brackets_and_comments_is_found(self):
        text = "@j\ndef kernel(p, a, b):\n    tl.store(p, (a)  # - or +\n        - (b))\n"
        found = [mutant for mutant in mutants.make_mutants(text, "kernel", 100) if mutant.kind == "operator"]
        for mutant in found:
            compile(mutant.module, "m", "exec")

    def test_hints_have_no_mutants(self):
        text = ("@j\ndef kernel(p, n):\n    tl.assume(n > 0)\n    tl.static_assert(n == 3, 'm')\n    at = tl.multiple_of(p + 1, 16)\n"
                "    tl.store(at, tl.dot(n, n, input_precision=2), boundary_check=(0,))\n")
        found = [(mutant.line, mutant.change) for mutant in mutants.make_mutants(text, "kernel", 100) if mutant.kind in
                 ("operator", "constant", "bound")]
        self.assertEqual(sorted(found), [(5, "+ becomes -"), (5, "1 becomes 2"), (6, "0 becomes 1")])

    def test_the_first_of_a_spread_lie_far_apart(self):
        self.assertEqual(spread.spread(range(8)), [0, 4, 2, 6, 1, 5, 3, 7])
        self.assertEqual(sorted(spread.spread(range(11))), list(range(11)))


class Made(unittest.TestCase):
    CASE = {"arguments": [{"name": "x", **view("float32", [64], [1])}, {"name": "out", **view("float32", [64], [1], 1)},
                          {"name": "n", "scalar": {"type": "int", "value": 64}}, {"name": "FLAG", "constexpr": "False"},
                          {"name": "BLOCK", "constexpr": "32"}],
            "storages": [{"bytes": 256, "recipe": NORMAL}, {"bytes": 256, "recipe": {"kind": "poison"}}], "grid": [2, 1, 1],
            "outputs": [{"storage": 1, "sha256": "0" * 64}]}

    def variants(self, **changes):
        found = {}
        for name, case in made.variants(a_case(**{**self.CASE, **changes}), MODULE):
            found.setdefault(name, []).append(case.check())
        return found

    def test_changes_are_cases(self):
        found = self.variants()
        self.assertEqual(set(found), set(made.ORDER))
        ids = [case.id for cases in found.values() for case in cases]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertEqual(found["option"][0].row["arguments"][3]["constexpr"], "True")
        self.assertEqual([each["bytes"] for each in found["type"][0].storages], [128, 128])
        self.assertEqual(found["extreme"][0].storages[0]["recipe"]["deviation"], 64.0)
        self.assertEqual(found["tiny"][0].storages[0]["recipe"]["deviation"], 2.0**-11)
        negative = elements.decode(recipes.fill(found["negative"][0].storages[0]["recipe"], 256), "float32")
        self.assertLess(negative.max(), 0)

    def test_a_ragged_tensor_ends_where_its_size_does(self):
        cut, whole = self.variants()["ragged"]
        for case in (cut, whole):
            self.assertEqual(case.row["arguments"][2]["scalar"]["value"], 61)
            self.assertTrue(case.row["ragged"])
        self.assertEqual([view["shape"] for view in cut.tensors()], [[61], [61]])
        self.assertEqual([each["bytes"] for each in cut.storages], [244, 244])
        self.assertEqual([each["bytes"] for each in whole.storages], [256, 256])

    def test_a_size_of_two_dimensions_is_tried_as_each(self):
        square = [{"name": "x", **view("float32", [8, 8], [8, 1])}, *self.CASE["arguments"][1:]]
        square[2] = {"name": "n", "scalar": {"type": "int", "value": 8}}
        shapes = [next(case.tensors())["shape"] for case in self.variants(arguments=square)["ragged"]]
        self.assertEqual(shapes, [[8, 5], [5, 8], [8, 8]])

    def test_a_size_may_be_a_constexpr_but_no_block(self):
        arguments = [*self.CASE["arguments"][:2], {"name": "N", "constexpr": "60"}, *self.CASE["arguments"][3:]]
        arguments[0] = {"name": "x", **view("float32", [60], [1])}
        self.assertEqual([case.row["arguments"][2]["constexpr"] for case in self.variants(arguments=arguments)["ragged"]], ["57", "57"])
        self.assertNotIn("ragged", self.variants(arguments=[*self.CASE["arguments"][:2], *self.CASE["arguments"][3:]]))


class Options(unittest.TestCase):
    MODULE = '''
@triton.jit
def activate(x, act: tl.constexpr):
    if act == "relu":
        return tl.maximum(x, 0)
    elif act in ("gelu", "silu"):
        return x * tl.sigmoid(x)
    return x

@triton.jit
def other(x, act):
    return x if act == "never" else -x

@triton.jit
def kernel(x, bias, out, n, gain, eps, causal, mode, P: tl.constexpr, ACT: tl.constexpr, SCALE: tl.constexpr, FLAG: tl.constexpr,
           GROUP: tl.constexpr, BLOCK: tl.constexpr, DTYPE: tl.constexpr):
    y = tl.load(x) * gain
    if bias is not None:
        y += tl.load(bias)
    if P == 1:
        y = tl.abs(y)
    elif 2 == P:
        y = y * y
    if causal and not FLAG:
        y = 0
    if SCALE is not None:
        y *= SCALE
    tl.store(out, activate(y, ACT))
'''
    ARGUMENTS = [{"name": "x", **view("float32", [64], [1])}, {"name": "bias", **view("float32", [64], [1], 1)},
                 {"name": "out", **view("float32", [64], [1], 2)}, {"name": "n", "scalar": {"type": "int", "value": 64}},
                 {"name": "gain", "scalar": {"type": "float", "value": 2.0}}, {"name": "eps", "scalar": {"type": "float", "value": 1e-6}},
                 {"name": "causal", "scalar": {"type": "int", "value": 1}}, {"name": "mode", "scalar": {"type": "int", "value": 1}},
                 {"name": "P", "constexpr": "2"}, {"name": "ACT", "constexpr": "'relu'"}, {"name": "SCALE", "constexpr": "0.0"},
                 {"name": "FLAG", "constexpr": "False"}, {"name": "GROUP", "constexpr": "3"}, {"name": "BLOCK", "constexpr": "64"},
                 {"name": "DTYPE", "constexpr": "tl.float32"}]

    def test_options_get_the_values_that_the_kernel_tells_apart(self):
        case = a_case(arguments=self.ARGUMENTS, storages=[{"bytes": 256, "recipe": {"kind": "poison"}}] * 3)
        found = {}
        for name, changed in made.options(case, self.MODULE):
            [new] = [each for each, old in zip(changed.check().row["arguments"], self.ARGUMENTS) if each != old]
            found.setdefault(name, []).append(new.get("constexpr", new.get("scalar", {}).get("value")))
        self.assertEqual(found, {"bias": [None], "gain": [3.0], "eps": [0.25], "causal": [0], "P": ["1"], "ACT": ["'gelu'", "'silu'"],
                                 "SCALE": ["0.5", "None"], "FLAG": ["True"]})

    def test_text_that_is_no_module_asks_nothing(self):
        case = a_case(arguments=self.ARGUMENTS, storages=[{"bytes": 256, "recipe": {"kind": "poison"}}] * 3)
        self.assertEqual({name for name, _ in made.options(case, "def (")}, {"gain", "eps", "SCALE", "FLAG"})


class Libdevice(unittest.TestCase):
    def test_functions_by_symbol(self):
        ones = numpy.array([1.0, -0.5], numpy.float32)
        for symbol, expected in (("__nv_tanhf", numpy.tanh(ones)), ("__nv_fast_expf", numpy.exp(ones)), ("__nv_fabsf", numpy.abs(ones)),
                                 ("__nv_isinff", [False, False]), ("__nv_erff", [0.8427008, -0.5204999]), ("__nv_rintf", [1, 0])):
            self.assertTrue(numpy.allclose(libdevice.compute(symbol, [ones]), expected, rtol=1e-6), symbol)
        self.assertEqual(libdevice.compute("__nv_fdiv_rn", [ones, ones]).tolist(), [1.0, 1.0])
        self.assertEqual(libdevice.compute("__nv_float_as_int", [ones[:1]]).tolist(), [0x3F800000])
        self.assertEqual(libdevice.compute("__nv_popc", [numpy.array([7, -1], numpy.int32)]).tolist(), [3, 32])
        with self.assertRaisesRegex(NotImplementedError, "__nv_j0f"):
            libdevice.compute("__nv_j0f", [ones])

    def test_the_inverse_of_erf_is_one(self):
        values = numpy.linspace(-0.999, 0.999, 101)
        found = libdevice.compute("__nv_erfinv", [values])
        self.assertTrue(numpy.allclose(libdevice.compute("__nv_erf", [found]), values, atol=1e-12))
        self.assertEqual(libdevice.compute("__nv_erfinv", [numpy.array([1.0, -1.0])]).tolist(), [numpy.inf, -numpy.inf])
        self.assertTrue(numpy.isnan(libdevice.compute("__nv_erfinv", [numpy.array([2.0])])[0]))


class Ptx(unittest.TestCase):
    """Instructions on known bits; PTX's manual has their meaning."""

    def bits(self, *values):
        return numpy.array(values, numpy.float32).view(numpy.uint32).astype(numpy.uint64)

    def run_one(self, code, *inputs, outputs=1):
        return [int(each[0]) for each in ptx.run(code, outputs, [numpy.array([each], numpy.uint64) for each in inputs], 1)]

    def test_conversions_to_packed_types(self):
        one, two, six, quarter = (int(each) for each in self.bits(1.0, 2.0, 6.0, -0.25))
        for code, inputs, expected in (
                ("cvt.rn.bf16x2.f32 $0, $1, $2;", (one, two), 0x3F804000), ("cvt.rn.f16x2.f32 $0, $1, $2;", (one, two), 0x3C004000),
                ("cvt.rn.satfinite.e2m1x2.f32 $0, $1, $2;", (quarter, six), 0x87), ("cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", (one, two), 0x3840),
                ("cvt.rn.f16x2.e5m2x2 $0, $1;", (0x3C40,), 0x3C004000), ("cvt.rp.ue8m0x2.f32 $0, 0.0, $1;", (int(self.bits(3.0)[0]),), 0x81),
                ("cvt.f32.bf16 $0, $1;", (0x3F80,), one), ("cvt.rni.s32.f32 $0, $1;", (int(self.bits(-2.5)[0]),), 0xFFFFFFFE),
                ("cvt.rzi.u8.f32 $0, $1;", (int(self.bits(300.0)[0]),), 255), ("cvt.s32.s8 $0, $1;", (0x80,), 0xFFFFFF80),
                ("cvt.rn.bf16x2.ue8m0x2 $0, $1;", (0xFF80,), 0x7FC04000)):
            self.assertEqual([each & 0xFFFFFFFF for each in self.run_one(code, *inputs)], [expected], code)

    def test_a_narrow_signed_result_fills_its_register(self):
        self.assertEqual(self.run_one("cvt.s8.s32 a, $1; cvt.rn.f32.s32 $0, a;", 0xFF), [int(self.bits(-1.0)[0])])
        self.assertEqual(self.run_one("cvt.u8.s32 a, $1; cvt.rn.f32.s32 $0, a;", 0xFF), [int(self.bits(255.0)[0])])

    def test_bits_are_combined(self):
        for code, inputs, expected in (
                ("prmt.b32 $0, $1, $2, 0x5140;", (0x33221100, 0x77665544), 0x55114400), ("prmt.b32 $0, $1, $2, 0x000b;", (0x80000000, 0), 0x000000FF),
                ("lop3.b32 $0, $1, 0x000f000f, 0x64006400, 0xea;", (0x12345678,), 0x64046408), ("shr.s32 $0, $1, 4;", (0x80000000,), 0xF8000000),
                ("shl.b32 $0, $1, 32;", (1,), 0), ("sub.s32 $0, $1, 1;", (0,), 0xFFFFFFFF), ("max.s32 $0, $1, -3;", (0x80000000,), 0xFFFFFFFD)):
            self.assertEqual([each & 0xFFFFFFFF for each in self.run_one(code, *inputs)], [expected], code)
        self.assertEqual(self.run_one("mov.b32 {$0, $1}, $2;", 0x12345678, outputs=2), [0x5678, 0x1234])

    def test_arithmetic_rounds_once(self):
        third, other = (int(each) for each in self.bits(1 / 3, -1 / 9))
        x, y = (float(each) for each in self.bits(1 / 3, -1 / 9).astype(numpy.uint32).view(numpy.float32))
        self.assertEqual(self.run_one("fma.rn.f32 $0, $1, $1, $2;", third, other), [int(self.bits(x * x + y)[0])])
        self.assertEqual(self.run_one("add.f16x2 $0, $1, $2;", 0x3C006400, 0x3C003C00), [0x40006401])
        self.assertEqual(self.run_one("mul.bf16x2 $0, $1, $2;", 0x3F804000, 0x40404040), [0x404040C0])

    def test_64_bits_round_to_the_nearest(self):
        draw = numpy.random.default_rng(0)
        x, y = draw.random(1000), draw.random(1000)
        for name, expected in (("add", x + y), ("sub", x - y), ("mul", x * y), ("div", x / y)):
            [found] = ptx.run(f"{name}.rn.f64 $0, $1, $2;", 1, [x.view(numpy.uint64), y.view(numpy.uint64)], 1000)
            self.assertTrue((found.view(numpy.float64) == expected).all(), name)

    def test_nan_is_in_no_ordered_relation(self):
        nan, one, two = (int(each) for each in self.bits(numpy.nan, 1.0, 2.0))
        for relation in ("eq", "ne", "lt", "le", "gt", "ge"):
            self.assertEqual(self.run_one(f"setp.{relation}.f32 $0, $1, $2;", nan, one), [0], relation)
        self.assertEqual(self.run_one("setp.ne.f32 $0, $1, $2;", two, one), [1])
        self.assertEqual(self.run_one("setp.ne.u32 $0, $1, $2;", 2, 2), [0])

    def test_flushed_numbers_are_those_below_the_normal_ones_of_their_type(self):
        self.assertEqual(self.run_one("add.ftz.f16 $0, $1, $2;", 0x0010, 0), [0])
        self.assertEqual(self.run_one("add.f16 $0, $1, $2;", 0x0010, 0), [0x0010])
        self.assertEqual(self.run_one("cvt.rpi.ftz.s32.f32 $0, $1;", 1), [0])

    def test_scopes_one_after_another_may_use_a_name_again(self):
        self.assertEqual(self.run_one("{.reg .b32 a<2>; mov.b32 a0, 1;} {.reg .b32 a<2>; mov.b32 a0, 5; mov.b32 $0, a0;}", 0), [5])

    def test_literals_are_those_of_ptx(self):
        self.assertEqual(self.run_one("and.b32 $0, $1, 017;", 255), [15])
        self.assertEqual(self.run_one("mov.f32 $0, 1.5;", 0), [int(self.bits(1.5)[0])])
        for code in ("and.b32 $0, $1, 019;", "add.f32 $0, $1, 1;", "mov.f32 $0, nan;", "mov.f32 $0, 0d3FF0000000000000;"):
            with self.assertRaises(ptx.Unsupported, msg=code):
                self.run_one(code, 0)

    def test_what_would_be_wrong_is_refused(self):
        for code in ("fma.rn.f64 $0, $1, $1, $1;", "min.f32 $0, $1, $1, $1;", "max.f32 $0, $1, $1, $1;", "abs.f32 $0, $1, $1;",
                     "add.u32 $0, $1;", "not.b32 $0, $1, $1;", "mov.b32 $0, $1, $1;", "rcp.approx.ftz.f64 $0, $1;",
                     "cvt.f32.f16 $0, $1, $1;", "cvt.rn.ftz.f32.f64 $0, $1;", "mov.b64 a, 0x1000001000000001; cvt.rn.f32.s64 $0, a;",
                     "cvt.rn.f16x2.e5m2x2 $0, $1, $1;",
                     "{.reg .b32 a; mov.b32 a, $1; {.reg .b32 a; mov.b32 a, 5;} mov.b32 $0, a;}",
                     "{.reg .b32 a<3>; {.reg .b32 b, a2; mov.b32 $0, 1;}}"):
            with self.assertRaises(ptx.Unsupported, msg=code):
                self.run_one(code, 0)

    def test_what_is_no_arithmetic_is_refused_by_name(self):
        for code, name in (("bar.sync 0;", "bar.sync"), ("ld.global.b32 $0, [$1];", "ld.global.b32"), ("mov.u32 $0, %tid.x;", "%tid.x"),
                           ("add.f32.sat $0, $1, $1;", "sat"), ("@p bra end;", "bra"), ("v_rcp_f32 $0, $1", "v_rcp_f32")):
            with self.assertRaisesRegex(NotImplementedError, name):
                self.run_one(code, 0)


class StandIns(unittest.TestCase):
    """Packages that are not installed, in a process that has torch."""

    def imported(self, text):
        """Imports packages one after another beside the stand-ins for a module."""
        code = ("from kernelmill.execution import harness, zygote\nharness.install()\nzygote.stand_in('import named_by_it.part\\n', True)\n" + text)
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                              check=False)

    def test_what_the_module_imports_is_there(self):
        self.assertEqual(self.imported("import named_by_it.part").returncode, 0)

    def test_what_an_installed_package_looks_for_is_not(self):
        self.assertIn("No module named 'flint'", self.imported("import flint").stderr)

    @unittest.skipUnless(importlib.util.find_spec("sympy"), "sympy is not installed")
    def test_the_compiler_of_torch_can_be_imported(self):
        self.assertEqual(self.imported("import sympy").stderr, "")


class Failures(unittest.TestCase):
    def test_the_failure_of_a_reference_tells_its_innermost_places(self):
        def inner():
            major, minor = ()
            return major, minor

        try:
            inner()
        except ValueError as error:
            told = json.loads(zygote.failure("launch", error, 2))["error"]
            plain = json.loads(zygote.failure("launch", error))["error"]
        self.assertEqual(plain, "ValueError: not enough values to unpack (expected 2, got 0)")
        self.assertRegex(told, re.escape(plain) + r" at units_test.py:\d+ inner < units_test.py:\d+ test_the_failure")


class Ragged(unittest.TestCase):
    def test_a_size_that_fills_its_last_block_is_even(self):
        def ragged(size, grid):
            return recorder.is_ragged([{"scalar": {"type": "int", "value": size}}, {"constexpr": "64"}], [grid, 1, 1])

        self.assertTrue(ragged(100, 2))
        self.assertFalse(ragged(128, 2))
        self.assertFalse(ragged(100, 7))  # not what the blocks cover
        self.assertTrue(ragged(41, 7))    # one block, partly empty


class Pairings(unittest.TestCase):
    def pairings(self, parameters, tensors):
        arguments = [{"name": f"t{place}", **view("float32", [8], [1], place)} for place in range(tensors)]
        storages = [{"bytes": 32, "recipe": {"kind": "constant", "dtype": "float32", "value": 0.0}}] * tensors
        case = TaskCase(a_case(arguments=arguments, storages=storages, outputs=[]), False, (bytes(32),) * tensors, {})
        return references._pairings([references._Parameter(f"p{place}", "", False) for place in range(parameters)], case)

    def test_the_likeliest_come_first(self):
        self.assertEqual(list(self.pairings(2, 2)), [{"p0": "t0", "p1": "t1"}, {"p0": "t1", "p1": "t0"}])

    def test_a_search_ends_where_there_are_fewer_arguments_than_parameters(self):
        self.assertEqual(list(self.pairings(14, 13)), [])


class Item:
    """A test, as pytest has it."""

    def __init__(self, nodeid, **params):
        self.nodeid = nodeid
        self.callspec = type("CallSpec", (), {"params": params})


class Recorder(unittest.TestCase):
    def test_small_tests_come_first(self):
        work = [recorder.estimate_work(each) for each in (
            Item("t[shape0]", shape=(2, 16), dtype="float16"), Item("t[shape1]", shape=(2, (64, 64)), flag=True), Item("t[8-a9]", name="a"),
            Item("t"))]
        self.assertAlmostEqual(work[0], numpy.log(32))
        self.assertAlmostEqual(work[1], numpy.log(8192))
        self.assertAlmostEqual(work[2], numpy.log(72))
        self.assertEqual(work[3], 0)

    def test_recorder_options_are_json(self):
        self.assertEqual(recorder.Options(**dataclasses.asdict(recorder.Options("o", "r", {}))).cases, 6)


if __name__ == "__main__":
    unittest.main()
