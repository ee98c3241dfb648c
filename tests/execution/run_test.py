"""Runs kernels of a crawled dataset on Triton's interpreter: what is right is exact, what is wrong or forged is caught."""

import hashlib
import json
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

import environment

environment.need("execution")
import harness  # noqa: E402
import kernels  # noqa: E402
import numpy  # noqa: E402
from kernelmill.errors import ProgramError  # noqa: E402
from kernelmill.execution import bundle, confinement, elements, recipes, replay  # noqa: E402
from kernelmill.execution.case import Case  # noqa: E402
from kernelmill.execution.evidence import Evidence  # noqa: E402
from kernelmill.execution.runner import Bounds, Execution, Runner  # noqa: E402

N = 100
BOUNDS = Bounds(seconds=5, memory=1 << 30, arena=1 << 26)


def setUpModule():
    global work, dataset, modules
    work = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    _, dataset = kernels.crawl(work)
    modules = {row["name"]: row["module"] for row in kernels.rows(dataset)}


def view(name, dtype, storage, shape=(N,), strides=(1,), offset=0):
    return {"name": name, "tensor": {"dtype": dtype, "shape": list(shape), "strides": list(strides), "offset": offset, "storage": storage}}


def number(name, value):
    return {"name": name, "scalar": {"type": type(value).__name__, "value": value}}


def normal(seed, dtype="float32", count=N):
    return {"bytes": count * elements.size(dtype),
            "recipe": {"kind": "normal", "dtype": dtype, "seed": seed, "mean": 0.0, "deviation": 1.0}}


def poison(size):
    return {"bytes": size, "recipe": {"kind": "poison"}}


def make_case(evidence, kernel, arguments, storages, outputs, grid=(2, 1, 1), module=None, ragged=True):
    rows = [{"storage": place, "sha256": evidence.put(content)} for place, content in outputs.items()]
    digest = hashlib.sha256((module or modules[kernel]).encode()).hexdigest()
    case = Case.make(module_sha256=digest, kernel=kernel, arguments=arguments, storages=storages, grid=list(grid), options={},
                     environment={}, outputs=rows, ragged=ragged, tolerance={}, origin={"recorded": {}}).check()
    evidence.add(case.row)
    return case


def add_case(evidence, seed=1, module=None, inputs=None):
    storages = [*(inputs or [normal(seed), normal(seed + 1)]), poison(4 * N)]
    x, y = (elements.decode(recipes.fill(each["recipe"], 4 * N), "float32").astype("f4") for each in storages[:2])
    arguments = [view("x_ptr", "float32", 0), view("y_ptr", "float32", 1), view("out_ptr", "float32", 2), number("n", N),
                 {"name": "BLOCK", "constexpr": "64"}]
    return make_case(evidence, "add_kernel", arguments, storages, {2: (x + x + y).tobytes()}, module=module)


class ForgivingRunner(Runner):
    """Lets a launch that loads from outside of tensors end as if the module were the first one, as a GPU does if a store's mask hides it."""

    def run_modules(self, modules, kernel, launches, seconds=None, **how):
        found = super().run_modules(modules, kernel, launches, seconds, **how)
        return [super(ForgivingRunner, self).run_modules(modules[:1], kernel, [(0, case, before)])[0] if "out of bounds" in each.error else each
                for each, (_, case, before) in zip(found, launches)]


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.evidence = Evidence(self.folder / "evidence.jsonl")

    def run_all(self, folder=None, **settings):
        return replay.run(folder or dataset, self.evidence, replay.Settings(bounds=BOUNDS, **settings))

    def outcomes(self):
        return [(row["outcome"], row["message"]) for row in self.evidence.rows("result")]

    def judge(self, module, cases=1):
        """Returns the results of a module that takes add_kernel's place."""
        rows = [{**row, "module": module} for row in kernels.rows(dataset) if row["name"] == "add_kernel"]
        (self.folder / "kernels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for seed in range(cases):
            add_case(self.evidence, 10 * seed, module=module)
        self.run_all(self.folder)
        return list(self.evidence.rows("result"))


class Replays(Base):
    def test_a_kernel_that_does_what_was_recorded_is_exact(self):
        add_case(self.evidence)
        summary = self.run_all()
        self.assertEqual(self.outcomes(), [("exact", "")])
        self.assertEqual(summary.outcomes["exact"], 1)

    def test_only_what_is_new_runs(self):
        add_case(self.evidence)
        self.run_all()
        first = (self.folder / "evidence.jsonl").read_bytes()
        self.evidence = Evidence(self.folder / "evidence.jsonl")
        self.assertEqual(self.run_all().skipped, 1)
        self.assertEqual((self.folder / "evidence.jsonl").read_bytes(), first)

    def test_a_broken_kernel_is_different(self):
        [row] = self.judge(modules["add_kernel"].replace("twice(x) + y", "twice(x) - y"))
        self.assertEqual((row["outcome"], row["share"] > 0.9), ("different", True))

    def test_writes_outside_of_a_tensor_are_counted(self):
        [row] = self.judge(modules["add_kernel"].replace("twice(x) + y, mask=mask)", "twice(x) + y)"))
        self.assertEqual((row["outcome"], row["out_of_bounds"]), ("different", 4 * 28))

    def test_loads_outside_of_a_tensor_are_seen_also_if_the_store_hides_them(self):
        [row] = self.judge(modules["add_kernel"].replace("tl.load(x_ptr + at, mask=mask)", "tl.load(x_ptr + at)"))
        self.assertEqual((row["outcome"], "out of bounds" in row["message"]), ("error", True), row)

    def test_and_or_and_not_of_tensors_mean_what_they_mean_compiled(self):
        text = modules["add_kernel"]
        for mask in ("(at < n) and (at >= 0)", "(at < n) and (at < n + 64)", "not (at >= n)", "not ((at >= n) or (at < 0))",
                     "(at < n) and (n > 0) and BLOCK"):
            changed = text.replace("mask = at < n", f"mask = {mask}")
            self.assertNotEqual(changed, text)
            outcomes = {row["outcome"] for row in self.judge(changed)}
            self.assertEqual(outcomes, {"exact"}, mask)

    def test_an_annotation_is_what_its_value_says(self):
        text = modules["add_kernel"].replace("import triton.language as tl\n", "import triton.language as tl\nfrom triton.language import constexpr as ce\n")
        self.assertIn(" as ce", text)
        for name in ("ce", "tl.constexpr"):
            changed = text.replace("    tl.store", f"    size: {name} = BLOCK\n    y += tl.zeros((size,), tl.float32)\n    tl.store")
            self.assertEqual({(row["outcome"], row["message"]) for row in self.judge(changed)}, {("exact", "")}, name)
        changed = text.replace("    tl.store", "    constexpr_like: tl.tensor = 0.0\n    y += constexpr_like.to(tl.float32)\n    tl.store")
        self.assertEqual({(row["outcome"], row["message"]) for row in self.judge(changed)}, {("exact", "")})

    def test_ptx_that_computes_is_run_and_other_ptx_is_named(self):
        text = modules["add_kernel"]
        for code, registers, wanted in (
                ("add.f32 $0, $1, $1;", "=r,r", "exact"),
                ("{ .reg .f32 t; mul.f32 t, $1, 0f40000000; // twice\n mov.b32 $0, t; }", "=f,f", "exact"),
                (".reg .pred p; setp.lt.f32 p, $1, 0.0; @p add.f32 $0, $1, $1; @!p fma.rn.f32 $0, $1, 1.0, $1;", "=r,r", "exact"),
                ("lg2.approx.f32 $0, 2.0; fma.rn.f32 $0, $1, $0, $1;", "=r,r", "exact"),
                ("mul.f32 $0, $1, $1;", "=r,r", "different"), ("bar.sync 0;", "=r,r", "error")):
            asm = f'tl.inline_asm_elementwise({code!r}, "{registers}", [x], dtype=tl.float32, is_pure=True, pack=1)'
            changed = text.replace("twice(x) + y", f"{asm} + y")
            digest = hashlib.sha256(changed.encode()).hexdigest()
            [row] = [row for row in self.judge(changed) if row["module_sha256"] == digest]
            self.assertEqual(row["outcome"], wanted, (code, row))
        self.assertIn("the PTX instruction bar.sync on the interpreter", row["message"])

    def test_numbers_that_several_names_get_are_tensors(self):
        text = modules["add_kernel"]
        for line in ("    one, two = 0, 1\n    y += x * one.to(tl.float32) * two", "    one: tl.int32 = 0\n    y += x * one.to(tl.float32)"):
            rows = self.judge(text.replace("    tl.store", f"{line}\n    tl.store"))
            self.assertEqual({row["outcome"] for row in rows}, {"exact"}, rows)

    def test_a_loop_may_end_at_a_number_that_was_loaded(self):
        text = modules["add_kernel"]
        store = "    tl.store(out_ptr + at, twice(x) + y, mask=mask)"
        loop = "    turns = tl.load(x_ptr) * 0.0 + 2.0\n    for _ in range(turns.to(tl.int32)):\n        y += x\n"
        [row] = self.judge(text.replace(store, loop + store.replace("twice(x) + ", "")))
        self.assertEqual((row["outcome"], row["message"]), ("exact", ""))

    def test_libdevice_is_computed(self):
        head = "from triton.language.extra import libdevice\n"
        for call in ("libdevice.abs({}) * tl.where({} < 0, -1.0, 1.0)", "tl.extra.cuda.libdevice.trunc({})"):
            rows = self.judge(head + modules["add_kernel"].replace("twice(x) + y", call.replace("{}", "(twice(x) + y)")))
        self.assertEqual(sorted(row["outcome"] for row in rows), ["different", "exact"], rows)

    def test_a_loops_variable_an_alias_of_the_language_and_a_cache_hint_are_understood(self):
        text = modules["add_kernel"]
        store = "    tl.store(out_ptr + at, twice(x) + y, mask=mask)"
        for old, new in ((store, "    for i in range(0, 2):\n        y += x * (i.to(tl.float32) * 0.0 + 1.0)\n" + store.replace("twice(x) + ", "")),
                         ("@triton.jit\ndef add_kernel", "read = tl.load\n\n\n@triton.jit\ndef add_kernel"),
                         ("tl.load(x_ptr + at, mask=mask)", 'tl.load(x_ptr + at, mask=mask, cache_modifier=".cg")')):
            changed = text.replace(old, new)
            if "read = " in new:
                changed = changed.replace("tl.load(x_ptr", "read(x_ptr")
            self.assertNotEqual(changed, text)
            self.assertEqual({(row["outcome"], row["message"]) for row in self.judge(changed)}, {("exact", "")}, new)

    def test_narrow_floats_are_computed_by_their_values_and_rounded_to_the_nearest(self):
        def value(data, dtype):
            return elements.decode(data, dtype).astype("f4")

        text = modules["add_kernel"]
        for dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
            def rounded(values, dtype=dtype):
                return value(elements.encode(values, dtype), dtype)

            inputs = [normal(seed, dtype) for seed in (1, 2)]
            x, y = (value(recipes.fill(each["recipe"], each["bytes"]), dtype) for each in inputs)
            arguments = [view(name, dtype, place) for place, name in enumerate(("x_ptr", "y_ptr", "out_ptr"))]
            for code, expected in (("x * y", rounded(x * y)), ("twice(x) + y", rounded(rounded(x + x) + y)), ("tl.where(x < y, x, y)", numpy.minimum(x, y)),
                                   ("tl.maximum(x, y)", numpy.maximum(x, y)), ("-x", -x), ("(x.to(tl.float32) * 1.25).to(x.dtype)", rounded(x * 1.25)),
                                   ("(4 * x).to(tl.int32).to(tl.float32).to(x.dtype)", rounded(numpy.trunc(rounded(4 * x)) + 0.0)),
                                   ("(x.to(tl.float16) + y.to(tl.float16)).to(x.dtype)", rounded((x.astype("f2") + y.astype("f2")).astype("f4")))):
                if dtype != "bfloat16" and code in ("x * y", "twice(x) + y", "tl.maximum(x, y)", "(4 * x).to(tl.int32).to(tl.float32).to(x.dtype)", "-x"):
                    continue  # no arithmetic of 8 bits
                with self.subTest(dtype, code=code):
                    self.setUp()
                    module = text.replace("twice(x) + y", code)
                    rows = [{**row, "module": module} for row in kernels.rows(dataset) if row["name"] == "add_kernel"]
                    (self.folder / "kernels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
                    make_case(self.evidence, "add_kernel", [*arguments, number("n", N), {"name": "BLOCK", "constexpr": "64"}],
                              [*inputs, poison(inputs[0]["bytes"])], {2: elements.encode(expected, dtype).tobytes()}, module=module)
                    self.run_all(self.folder)
                    self.assertEqual(self.outcomes(), [("exact", "")])

    def test_every_type_is_copied_to_the_bit(self):
        for dtype in ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"):
            size = elements.size(dtype)
            data = elements.encode(numpy.arange(3 * N + 2) % 2 if dtype == "bool" else numpy.arange(3 * N + 2) - 7, dtype)
            expected = data.view(f"V{size}")[2::3][:N].tobytes()
            storages = [{"bytes": len(data), "sha256": self.evidence.put(data.tobytes())}, poison(N * size)]
            make_case(self.evidence, "copy_kernel", [view("x_ptr", dtype, 0, strides=(3,), offset=2), view("out_ptr", dtype, 1),
                                                     number("n", N), number("x_stride", 3), {"name": "BLOCK", "constexpr": "64"}],
                      storages, {1: expected})
        self.run_all()
        self.assertEqual(self.outcomes(), [("exact", "")] * 10)

    def test_aliases_none_and_floats(self):
        data = elements.decode(recipes.fill(normal(3)["recipe"], 4 * N), "float32").astype("f4")
        constexprs = [{"name": "HAS_BIAS", "constexpr": "False"}, {"name": "BLOCK", "constexpr": "64"}]
        make_case(self.evidence, "scale_kernel", [view("x_ptr", "float32", 0), number("n", N), number("factor", 0.5), {"name": "bias_ptr"},
                                                  *constexprs], [normal(3)], {0: (data * numpy.float32(0.5)).tobytes()})
        arguments = [view("x_ptr", "float32", 0), view("y_ptr", "float32", 0), view("out_ptr", "float32", 0), number("n", N),
                     {"name": "BLOCK", "constexpr": "64"}]
        make_case(self.evidence, "add_kernel", arguments, [normal(3)], {0: (data + data + data).tobytes()})
        self.run_all()
        self.assertEqual(self.outcomes(), [("exact", "")] * 2)

    def test_an_endless_kernel_and_a_greedy_module_end(self):
        text = modules["add_kernel"]
        [row] = self.judge(text.replace("    x = tl.load", "    while True:\n        pass\n    x = tl.load"))
        self.assertEqual((row["outcome"], row["message"].partition(":")[0]), ("error", "launch" if "launch" in row["message"] else "death"))
        [row] = [each for each in self.judge(text + "\nwaste = bytearray(8 << 30)\n") if each != row]
        self.assertEqual((row["outcome"], "MemoryError" in row["message"]), ("error", True))

    def test_mutants_score_cases(self):
        add_case(self.evidence)
        zeros = [{"bytes": 4 * N, "recipe": {"kind": "constant", "dtype": "float32", "value": 0.0}}] * 2
        self.run_all(mutants=30, made=0)
        [good] = self.evidence.rows("adequacy")
        self.assertGreater(good["score"], 0.8)
        self.assertEqual(set(good["mutants"]) >= {"no_op", "zeros", "store_dropped", "mask", "bound", "operator"}, True)
        self.evidence = Evidence(self.folder / "weak.jsonl")
        add_case(self.evidence, inputs=zeros)
        self.run_all(mutants=30, made=0)
        [weak] = self.evidence.rows("adequacy")
        self.assertLess(weak["score"], good["score"])
        self.assertIn("operator", {each["kind"] for each in weak["missed"]})

    def score_on_a_gpu(self, interpreter):
        """Returns the row and the summary of a run on what forgives loads as a GPU does. `interpreter`: whether the machine has one."""
        def runner(device, *arguments, **settings):
            if device == "cpu" and not interpreter:
                raise ProgramError("no kernel can be run on cpu")
            return (Runner if device == "cpu" else ForgivingRunner)("cpu", *arguments, **settings)

        add_case(self.evidence)
        with unittest.mock.patch.object(replay, "Runner", runner):
            summary = self.run_all(device="cuda:90", mutants=30, made=0)
        [row] = self.evidence.rows("adequacy")
        return row, summary

    def test_the_interpreter_sees_dropped_masks_that_a_gpu_forgives(self):
        row, summary = self.score_on_a_gpu(interpreter=True)
        self.assertEqual(row["mutants"]["mask"], {"caught": 3, "total": 3})
        self.assertGreaterEqual(row["seen_by_interpreter"], 2)
        self.assertEqual(summary.errors, [])

    def test_a_mutant_that_an_interpreter_cannot_end_is_not_caught_by_it(self):
        self.run_modules = Runner.run_modules
        with unittest.mock.patch.object(Runner, "run_modules", autospec=True, side_effect=self.run_out_of_time):
            row, _ = self.score_on_a_gpu(interpreter=True)
        self.assertNotIn("seen_by_interpreter", row)

    def run_out_of_time(self, runner, modules, kernel, launches, *rest, **how):
        """Ends mutants on the interpreter beside the GPU as one does that is too slow."""
        found = self.run_modules(runner, modules, kernel, launches, *rest, **how)
        if isinstance(runner, ForgivingRunner):
            return found
        return [Execution(error="time: 20 s", stage="death") if place else each for each, (place, _, _) in zip(found, launches)]

    def test_a_machine_without_an_interpreter_scores_all_the_same_and_says_so(self):
        row, summary = self.score_on_a_gpu(interpreter=False)
        self.assertEqual(row["mutants"]["mask"], {"caught": 1, "missed": 2, "total": 3})
        self.assertEqual(summary.errors, ["no kernel can be run on cpu"])

    def test_a_kernel_that_was_scored_without_other_options_gets_them_once(self):
        x = elements.decode(recipes.fill(normal(1)["recipe"], 4 * N), "float32").astype("f4")
        arguments = [view("x_ptr", "float32", 0), number("n", N), number("factor", 1.5), {"name": "bias_ptr"},
                     {"name": "HAS_BIAS", "constexpr": "False"}, {"name": "BLOCK", "constexpr": "64"}]
        make_case(self.evidence, "scale_kernel", arguments, [normal(1)], {0: (x * numpy.float32(1.5)).tobytes()})
        self.run_all(mutants=2, made=0)
        [scored] = self.evidence.rows("adequacy")
        self.assertNotIn("options", scored)
        for tried in (1, 0):  # the second run knows that they were tried
            with unittest.mock.patch.object(replay.made, "options", side_effect=replay.made.options, autospec=True) as options:
                self.run_all(mutants=2, threshold=0.0)
            self.assertEqual(options.call_count, tried)
            [row] = self.evidence.rows("adequacy")
            self.assertEqual(row, {**scored, "options": 1})
        self.assertEqual([case.row["origin"]["made"]["change"] for case in self.evidence.cases() if "made" in case.row["origin"]], ["option"])

    def test_a_kernel_with_one_case_gets_a_second_one_which_a_task_can_hide(self):
        add_case(self.evidence)
        for _ in range(2):  # the second run finds the score, and both cases
            self.run_all(mutants=2, threshold=0.0)
            made = [case for case in self.evidence.cases() if "made" in case.row["origin"]]
            self.assertEqual([len(made), len(list(self.evidence.rows("adequacy")))], [1, 1])
        self.assertEqual(self.outcomes(), [("exact", "")] * 2)

    def test_weak_cases_get_more_that_are_checked_against_the_reference(self):
        zeros = [{"bytes": 4 * N, "recipe": {"kind": "constant", "dtype": "float32", "value": 0.0}}] * 2
        add_case(self.evidence, inputs=zeros)
        self.run_all(mutants=30, threshold=1.0)
        [row] = self.evidence.rows("adequacy")
        made = [case for case in self.evidence.cases() if "made" in case.row["origin"]]
        self.assertTrue(made)
        self.assertGreaterEqual(row["score"], row["recorded_score"])
        self.assertEqual({outcome for outcome, _ in self.outcomes()}, {"exact"})

    def test_a_bundle_goes_out_and_comes_back(self):
        add_case(self.evidence)
        self.assertEqual(bundle.pack(dataset, self.evidence, self.folder / "bundle.tar.gz"), 1)
        with tarfile.open(self.folder / "bundle.tar.gz") as archive:
            archive.extractall(self.folder, filter="data")
        away = self.folder / "bundle"
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(away), *filter(None, [os.environ.get("PYTHONPATH")])])}
        harness.run(sys.executable, "-m", "kernelmill.execution.command", "run", away, "--device", "cpu", env=env, cwd=away)
        self.evidence.merge(Evidence(away / "evidence.jsonl"))
        self.assertEqual(self.outcomes(), [("exact", "")])

    def test_the_command_says_what_differs(self):
        add_case(self.evidence)
        self.evidence.save()
        env = {**os.environ, "KERNELMILL_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = harness.run(harness.BIN / "kernelmill", "run", dataset, "--evidence", self.evidence.file, env=env)
        self.assertIn("cpu: 1 exact; 0 known before", done.stdout)
        for wrong, message in ((["run", dataset, "--device", "tpu"], "--device must be one of cpu, cuda:80"),
                               (["record", dataset, "--repository", "demo", "--unsafe-no-container"], "must be NAME=FOLDER"),
                               (["run", work, "--evidence", self.evidence.file], "kernels.jsonl: No such file")):
            done = harness.run(harness.BIN / "kernelmill", *wrong, env=env, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


class Worker(Base):
    """kernelmill.execution.worker, as kernelmill-runner starts it."""

    def ask(self, check=True, **options):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        arguments = json.dumps({"device": "cpu", "confined": True, **options})
        done = harness.run(sys.executable, "-m", "kernelmill.execution.worker", arguments, env=env, check=check)
        return [json.loads(line) for line in done.stdout.splitlines()], done

    def test_it_says_by_what_it_runs_kernels(self):
        [[said], _] = self.ask()
        self.assertEqual(set(said["toolchain"]), {"triton", "numpy"})

    def test_a_device_that_is_not_there_is_named(self):
        said, done = self.ask(check=False, device="cuda:90")
        self.assertEqual((said, done.returncode), ([], 2))
        self.assertIn("no kernel can be run on cuda:90", done.stderr)

    def test_it_tells_each_result_and_leaves_out_what_is_no_case(self):
        (self.folder / "kernels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kernels.rows(dataset)))
        for seed in (1, 3):
            add_case(self.evidence, seed)
        self.evidence.save()
        lines = self.evidence.file.read_text()
        forged = json.dumps({**json.loads(lines.splitlines()[0]), "grid": [1, 1, 1]})
        self.evidence.file.write_text("no JSON\n" + lines + forged + "\n{}\n")
        [*results, end], _ = self.ask(folder=str(self.folder), workers=1, seconds=60)
        self.assertEqual(end, {"type": "end", "errors": []})
        self.assertEqual({row["case"] for row in results}, {case.id for case in self.evidence.cases()})
        self.assertEqual({row["outcome"] for row in results}, {"exact"})
        self.assertEqual(self.evidence.file.read_text().count('"type":"result"'), 0, "the worker keeps nothing")


# Modules that try to pass without computing. Each has a kernel that stores nothing right.
FORGERIES = {
    "a verdict is written to the pipe": """
import os
for fd in range(3, 20):
    try:
        os.write(fd, b"R" * 64)
    except OSError:
        pass
""",
    "the channel is found and answers": """
import sys, gc
for each in gc.get_objects():
    if type(each).__name__ == "Channel":
        for _ in range(9):
            each.answer(b'{"ttir": "%s"}' % (b'0' * 64))
""",
    "the judge is replaced": """
import kernelmill.execution.judge as judge
judge.judge = lambda *_: judge.Verdict("exact")
judge.compare = lambda *_: judge.Verdict("exact")
""",
    "the launch does nothing": "import kernelmill.execution.devices as d\nd.Device.launch = lambda *_: ''\nd.Cpu.launch = lambda *_: ''\n",
    "the evidence is looked up": """
import glob, os
tops = (os.path.dirname("EVIDENCE"), "/tmp", os.getcwd() + "/..")
found = [path for top in tops for path in glob.glob(top + "/**", recursive=True)]
assert not any(path.startswith("EVIDENCE"[:-6]) for path in found), found
try:
    print(open("EVIDENCE").read())
    os._exit(7)
except PermissionError:
    pass
""",
    "the judge's memory is read": """
import os
parent = os.getppid()
for path in (f"/proc/{parent}/mem", f"/proc/{parent}/maps", "/proc/self/mem"):
    try:
        open(path, "rb")
        os._exit(7)
    except OSError:
        pass
""",
    "a process is left behind": """
import os
try:
    if os.fork() == 0:
        os._exit(0)
    os._exit(7)
except OSError:
    pass
""",
    "the parent is killed": """
import os, signal
for pid in (os.getppid(), 1, -1):
    try:
        os.kill(pid, signal.SIGKILL)
        os._exit(7)
    except OSError:
        pass
""",
    "a socket is opened": "import os, socket\ntry:\n    socket.socket()\n    os._exit(7)\nexcept OSError:\n    pass\n",
    "it ends as if all were well": "import os\nos._exit(0)\n",
}


class Forgeries(Base):
    def test_none_passes(self):
        broken = modules["add_kernel"].replace("twice(x) + y", "x * 0.0")
        for name, attack in FORGERIES.items():
            with self.subTest(name):
                self.setUp()
                [row] = self.judge(broken + attack.replace("EVIDENCE", str(self.evidence.file.resolve())))
                self.assertIn(row["outcome"], ("different", "error"))
                self.assertNotIn("exit 7", row["message"])
                self.assertNotIn("AssertionError", row["message"])

    def test_an_honest_kernel_is_exact_after_a_forger(self):
        broken = modules["add_kernel"].replace("twice(x) + y", "x * 0.0") + FORGERIES["the launch does nothing"]
        with Runner("cpu", BOUNDS) as runner:
            case = add_case(self.evidence)
            before = replay.inputs_of(case, self.evidence)
            for module, outcome in ((broken, "different"), (modules["add_kernel"], "exact")):
                [execution] = runner.run(module, "add_kernel", [case], [before])
                self.assertEqual(replay.judge_execution(execution, case, before, self.evidence).outcome, outcome)


class Hidden(unittest.TestCase):
    def test_evidence_that_kernels_may_read_is_refused(self):
        with self.assertRaisesRegex(ProgramError, "which the kernels that run may read"):
            confinement.check_hidden("/usr/lib/evidence.jsonl", False)
        confinement.check_hidden(str(work / "evidence.jsonl"), False)


if __name__ == "__main__":
    unittest.main()
