"""Changes of kernels, measured: cases that bind by name, configurations and their grids, verdicts on claims, and the rows of all that.
They run on Triton's interpreter: the clock of the process tells times."""

import json
import pathlib
import tempfile
import unittest

import environment

environment.need("execution")
import speed_test as made  # noqa: E402
from kernelmill.errors import DatasetError, RequestError  # noqa: E402
from kernelmill.execution import changes, claims, command, speed  # noqa: E402
from kernelmill.execution.evidence import Evidence  # noqa: E402
from kernelmill.execution.runner import Bounds, Runner  # noqa: E402

N = 100
BODY = '''

{decorators}@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, {parameters}BLOCK: tl.constexpr{last}):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, {value}, mask=mask)
'''
VALUE = "tl.load(x_ptr + at, mask=mask) * 2 + tl.load(y_ptr + at, mask=mask)"
OTHER = "tl.load(y_ptr + at, mask=mask) + 2 * tl.load(x_ptr + at, mask=mask)"
TUNED = """@triton.autotune(configs=[triton.Config({"BLOCK": 32}, num_warps=1), triton.Config({"BLOCK": 128}, num_warps=4)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
"""


def module(value=VALUE, decorators="", parameters="", last=""):
    head = "import triton\nimport triton.language as tl\n"
    return head + BODY.format(value=value, decorators=decorators, parameters=parameters, last=last)


def side(text, name="add_kernel"):
    return {"name": name, "module": text, "dsl": "triton", "role": "kernel"}


def change(before, after, number=1, claims=(), kind="speed"):
    return {"change_id": str(number), "repository": "someone/kernels", "commit": f"commit{number}", "kind": kind, "claims": list(claims),
            "before": side(before), "after": side(after)}


def claim(form, text="", **values):
    return {"form": form, "text": text or form, "before": None, "after": None, "value": None, "unit": None, "hardware": [], **values}


class Binding(unittest.TestCase):
    def test_a_version_takes_the_arguments_that_it_has_parameters_for(self):
        version = changes.Version.of(side(module(parameters="stride, ", last=", EVEN: tl.constexpr = False")))
        case = made.add_case(N)
        self.assertEqual(version.missing(case), {"stride"})
        older = changes.Version.of(side(module().replace("y_ptr, ", "").replace("tl.load(y_ptr + at, mask=mask)", "0")))
        self.assertEqual([each["name"] for each in older.bind(case).row["arguments"]], ["x_ptr", "out_ptr", "n", "BLOCK"])

    def test_an_option_that_is_a_parameter_is_passed_once(self):
        version = changes.Version.of(side(module(last=", num_warps: tl.constexpr = 4")))
        case = changes.configure(made.add_case(N), {"constexprs": {"num_warps": "2"}, "options": {"num_warps": 2, "num_stages": 3}})
        self.assertEqual(version.bind(case).row["options"], {"num_stages": 3})

    def test_a_version_that_cannot_run_is_none(self):
        for broken in ({"module": None}, {"dsl": "gluon"}, {"role": "device"}, {"module": "def f(:"}, {"name": "other_kernel"}):
            self.assertIsNone(changes.Version.of({**side(module()), **broken}), broken)

    def test_cases_that_bind_better_come_first(self):
        case = made.add_case(N)
        fields = {key: value for key, value in case.row.items() if key not in ("id", "type")}
        extra = changes.Case.make(**{**fields, "arguments": [*case.row["arguments"], made.number("scale", 2)]})
        row = change(module(), module())
        pair = changes.Change(row, changes.Version.of(row["before"]), changes.Version.of(row["after"]))
        self.assertEqual([each.id for each in changes.bound_cases(pair, [extra, case])], [case.id])


class Grids(unittest.TestCase):
    def test_an_axis_holds_the_blocks_of_a_size_or_stays(self):
        configurations = [{"constexprs": {"BLOCK": str(block)}, "options": {}} for block in (32, 64, 128)]
        found = changes.grids(made.add_case(N), configurations)
        self.assertEqual(found, [((2, 1, 1),) * 3, ((4, 1, 1), (2, 1, 1), (1, 1, 1))])

    def test_configurations_without_blocks_keep_the_grid(self):
        found = changes.grids(made.add_case(N), [{"constexprs": {}, "options": {"num_warps": count}} for count in (1, 4)])
        self.assertEqual(found, [((2, 1, 1), (2, 1, 1))])


class Claims(unittest.TestCase):
    def test_what_a_claim_states(self):
        for given, ratio, direction in (
                (claim("before_after", before=12.0, after=8.0, unit="ms"), 1.5, "faster"),
                (claim("before_after", before=100.0, after=150.0, unit="GB/s"), 1.5, "faster"),
                (claim("before_after", before=0.0, after=8.0, unit="ms"), None, None),
                (claim("ratio", value=0.5, unit="x"), 0.5, "slower"), (claim("percent", value=30.0), None, "faster"),
                (claim("value", value=12.0, unit="ms"), None, None)):
            self.assertEqual((claims.stated_ratio(given), claims.stated_direction(given)), (ratio, direction), given)

    def test_direction_and_number_hold_apart(self):
        def measured(ratio, direction, agree="exact", fills=True):
            return {"ratio": ratio, "direction": direction, "agree": agree, "fills": fills}

        stated = claim("ratio", "2x", value=2.0)
        for row, direction, number in ((measured(1.9, "faster"), True, True), (measured(1.3, "faster"), True, False),
                                       (measured(1.0, "same"), False, False), (measured(2.0, "faster", "different"), None, None),
                                       (measured(2.0, "faster", fills=False), None, None),
                                       ({"ratio": None}, None, None), (None, None, None)):
            said = claims.verdict(stated, row)
            self.assertEqual((said["direction"], said["number"]), (direction, number), row)

    def test_a_claim_of_a_commit_holds_if_it_holds_for_a_kernel(self):
        stated = [claim("ratio", "2x", value=2.0), claim("value", "3 ms", value=3.0)]
        rows = [change(module(), module("1.0"), 1, stated), {**change(module(), module("2.0"), 2, stated), "commit": "commit1"},
                change(module(), module("3.0"), 3, stated), {**change(module(), module(), 4, stated), "before": side(None)}]

        def measured(row, ratio, direction):
            version = [changes.Version.of(row[name]) for name in changes.SIDES]
            return {**{name: {"module_sha256": each.sha256, "kernel": each.name} for name, each in zip(changes.SIDES, version)},
                    "ratio": ratio, "direction": direction, "agree": "exact", "fills": True, "reason": "launch"}

        found = claims.count(claims.join(rows, [measured(rows[0], 2.1, "faster"), measured(rows[1], 1.0, "same"),
                                                measured(rows[2], None, "")]))["someone/kernels"]
        self.assertEqual((found.stated, found.replayed, found.direction, found.numbers, found.number), (3, 1, 1, 1, 1))
        self.assertEqual(dict(found.unmeasured), {"launch": 1, "no_module": 1})


class Measured(unittest.TestCase):
    """Through the real path: history.jsonl, evidence, zygote and judge."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.evidence = Evidence(self.work / "evidence.jsonl")
        self.case = made.add_case(N)
        self.evidence.add(self.case.row)
        (self.work / "kernels.jsonl").write_text(json.dumps({
            "repository": "someone/kernels", "commit": "c", "path": "k.py", "qualname": "add_kernel", "name": "add_kernel", "first_line": 1,
            "last_line": 2, "sha256": "", "source": "", "module": made.SOURCE, "dsl": "triton", "role": "kernel", "id": "k"}) + "\n")

    def measure(self, *rows, **settings):
        (self.work / "history.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
        told = []
        given = {"full": 1 << 11, "most": 1 << 12, "bounds": Bounds(seconds=100), **settings}
        summary = changes.run(self.work, self.evidence, speed.Settings(device="cpu", **given), told.append, driver=made.Driver())
        return summary, told

    def test_both_versions_are_timed_on_a_grown_case(self):
        summary, [row] = self.measure(change(module(), module(OTHER)))
        self.assertEqual((summary.measured, summary.agree, summary.left), (1, 1, 0))
        self.assertTrue(row["fills"] and row["sizes"], row)
        self.assertIn(row["agree"], ("exact", "close"))
        self.assertAlmostEqual(row["ratio"], row["before"]["median_us"] / row["after"]["median_us"], places=3)
        self.assertEqual(row["case"], self.case.id)
        again = Evidence(self.work / "evidence.jsonl")
        self.assertEqual(len(list(again.rows("change"))), 1)
        self.assertEqual(self.measure(change(module(), module(OTHER)))[0].skipped, 1)

    def test_an_autotuner_takes_its_fastest_configuration_with_the_grid_that_it_needs(self):
        value = "tl.load(x_ptr + at, mask=mask) * 2 + tl.load(y_ptr + at, mask=mask) + (0 if EVEN else 0)"
        _, [row] = self.measure(change(module(), module(value, TUNED, last=", EVEN: tl.constexpr")))
        self.assertIn(row["agree"], ("exact", "close"), row)
        after = row["after"]
        self.assertEqual((after["configurations"], after["tried"], after["note"]), (2, 2, ""))
        block = int(after["configuration"]["constexprs"]["BLOCK"])
        size = next(int(each.rpartition(" ")[2]) for each in row["sizes"].split(", ") if each.startswith("n = "))
        self.assertEqual(after["grid"], [-(-size // block), 1, 1])
        self.assertEqual(row["before"]["configurations"], 0)

    def test_a_change_of_results_is_no_speed(self):
        summary, [row] = self.measure(change(module(), module("tl.load(x_ptr + at, mask=mask)")))
        self.assertEqual((summary.measured, summary.agree, row["agree"]), (1, 0, "different"))

    def test_what_cannot_be_measured_says_why(self):
        broken = "import triton\nimport triton.language as tl\nraise ValueError('no')\n" + module()
        summary, rows = self.measure(change(module(), module(parameters="stride, "), 1), change(broken, module(), 2),
                                     change(module(), module("tl.nothing(x_ptr)"), 3),
                                     {**change(module(), module(), 4), "repository": "other/kernels"})
        self.assertEqual(dict(summary.unmeasured), {"parameters": 1, "load": 1, "launch": 1})
        self.assertEqual(summary.without_case, 1)
        self.assertTrue(all(each["ratio"] is None for each in rows))
        self.assertIn("after: stride", [each["message"] for each in rows])

    def test_a_deadline_leaves_changes(self):
        self.assertEqual(self.measure(change(module(), module("1.0")), deadline=0.0)[0].left, 1)

    def test_a_damaged_history_is_told(self):
        (self.work / "history.jsonl").write_text("{}\n")
        with self.assertRaisesRegex(DatasetError, "history.jsonl:1"):
            list(changes.read_changes(self.work))

    def test_a_case_that_something_contradicts_is_left_out(self):
        self.evidence.add({"type": "result", "case": self.case.id, "module_sha256": self.case.module_sha256, "device": "cpu",
                           "toolchain": {}, "environment": {}, "outcome": "different", "message": "", "absolute": 0.0, "relative": 0.0,
                           "share": 0.0, "out_of_bounds": 0})
        self.assertEqual(self.measure(change(module(), module("1.0")))[0].without_case, 1)

    def test_one_process_serves_a_pair_and_a_dead_one_is_replaced(self):
        inputs = changes.inputs_of(self.case, self.evidence)
        version = changes.Version.of(side(module()))
        kills = "import os\nos._exit(3)\n" + module()
        with Runner("cpu", Bounds(seconds=60)) as runner:
            launch = (0, version.bind(self.case), inputs)
            good = runner.run_modules([module(), kills], "", [launch, (1, *launch[1:]), launch], decorated="launched")
            self.assertEqual([bool(each.error) for each in good], [False, True, False])
            self.assertEqual(good[1].stage, "death")
            plain = runner.run_modules([module()], "add_kernel", [launch])
            self.assertEqual(plain[0].error, "")

    def test_the_command_needs_a_gpu(self):
        options = {"dataset": str(self.work), "evidence": str(self.work / "evidence.jsonl"), "device": "cpu", "merge": [], "bundle": "",
                   "unsafe_no_sandbox": True, "workers": 1, "mutants": 0, "threshold": 0.9, "made": 4, "deadline": 0, "case_seconds": 60,
                   "python": "", "kernel": [], "json": False, "speed": False, "changes": True}
        self.evidence.save()
        with self.assertRaisesRegex(RequestError, "--changes needs a GPU"):
            command.run(options)


if __name__ == "__main__":
    unittest.main()
