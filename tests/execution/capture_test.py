"""Captures: what is read from TorchInductor's text, processes with bounds, and models captured without a GPU."""

import ast
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kernelmill.capture import command, debug_folder, graph_text, inputs, models, processes, tracing, wrapper_text  # noqa: E402
from kernelmill.errors import RequestError  # noqa: E402

DEBUG = ROOT / "tests/data/inductor/graphs/torch_compile_debug"
WRAPPER = next(DEBUG.rglob("output_code.py"))
HAS_TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("triton") is not None
KERNEL = "triton_per_fused_add_mean_mul_pow_rsqrt_0"


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))


class WrapperTest(unittest.TestCase):
    def test_the_folder_of_the_cache_is_left_out(self):
        code = WRAPPER.read_text()
        short = wrapper_text.shorten_paths(code)
        self.assertIn("# kernel path: /tmp/cache/rm/", code)
        self.assertNotIn("/tmp/", short)
        self.assertIn("\n# kernel path: rm/crms.py\n", short)

    def test_a_kernel_has_its_nodes_its_operators_and_its_launches(self):
        wrapper = wrapper_text.read_wrapper(WRAPPER.read_text())
        self.assertEqual([kernel.name for kernel in wrapper.kernels], [KERNEL])
        self.assertEqual(wrapper.kernels[0].nodes, ["pow_1", "mean", "add", "rsqrt", "mul", "mul_1"])
        self.assertEqual(wrapper.kernels[0].operators, ["aten.pow", "aten.mean", "aten.add", "aten.rsqrt", "aten.mul"])
        self.assertEqual(wrapper.kernels[0].launches, 1)
        self.assertIn(f"def {KERNEL}(", wrapper.kernels[0].text)
        self.assertEqual(wrapper.calls, {})

    def test_calls_of_libraries_are_counted_outside_of_kernels_and_comments(self):
        wrapper = wrapper_text.read_wrapper(textwrap.dedent("""\
            aten = torch.ops.aten
            k = async_compile.triton('k', '''
            def k(): torch.ops.aten.add(1)
            ''')
            def call(args):
                # extern_kernels.mm(buf0)
                extern_kernels.mm(buf0, out=buf1)
                k.run(buf1)
                k.run(buf1)
                buf2 = torch.ops.aten.sort.stable(buf1)
            """))
        self.assertEqual(dict(wrapper.calls), {"extern_kernels.mm": 1, "torch.ops.aten.sort.stable": 1})
        self.assertEqual(wrapper.kernels[0].launches, 2)

    def test_a_kernel_has_the_nodes_of_all_its_launches(self):
        wrapper = wrapper_text.read_wrapper(textwrap.dedent("""\
            # Topologically Sorted Source Nodes: [view, sum_1], Original ATen: [aten.view, aten.sum]
            k = async_compile.triton('k', '''x''')
            def call(args):
                # Topologically Sorted Source Nodes: [view, sum_1], Original ATen: [aten.view, aten.sum]
                # [Provenance debug handles] k:1
                stream0 = get_raw_stream(0)
                k.run(buf0)
                # Topologically Sorted Source Nodes: [mm], Original ATen: [aten.mm]
                extern_kernels.mm(buf0, out=buf1)
                k.run(buf1)
                # Topologically Sorted Source Nodes: [norm, sum_2], Original ATen: [aten.native_layer_norm, aten.sum]
                workspace_0 = empty_strided_cuda((4, ), (1, ), torch.uint8)
                k.run(buf2)
            """))
        self.assertEqual(wrapper.kernels[0].nodes, ["view", "sum_1", "norm", "sum_2"])
        self.assertEqual(wrapper.kernels[0].operators, ["aten.view", "aten.sum", "aten.native_layer_norm"])
        self.assertEqual(wrapper.kernels[0].launches, 3)

    def test_a_kernel_named_like_the_beginning_of_another_is_not_launched_by_it(self):
        wrapper = wrapper_text.read_wrapper("k_1 = async_compile.triton('k_1', '''x''')\nk_10 = async_compile.triton('k_10', '''y''')\n"
                                            "k_10.run(a)\n")
        self.assertEqual([kernel.launches for kernel in wrapper.kernels], [0, 1])


    def test_the_strides_of_inputs_and_the_reused_memory_are_read(self):
        code = textwrap.dedent("""\
            assert_size_stride = torch._C._dynamo.guards.assert_size_stride
            def call(args):
                assert_size_stride(a, (2, 3, 4, 4), (48, 1, 12, 3))
                assert_size_stride(b, (s0, ), (1, ))
                assert_size_stride(c, (s0, 4), (s1, 1))
                buf0 = a; del a  # reuse
                buf1 = reinterpret_tensor(b, (2, 4), (4, 1), 0); del b  # reuse
                del c
                assert_size_stride(buf2, (2, 2), (2, 1), 'torch.ops.aten.sort.default')
            """)
        self.assertEqual(wrapper_text.read_strides(code), {"a": (48, 1, 12, 3), "b": (1,)})
        self.assertEqual(wrapper_text.list_reused(code), {"a", "b"})


class DebugFolderTest(Folder):
    def convert(self):
        debug_folder.convert(DEBUG, self.folder)
        return next(self.folder.rglob("graph.json")).parent

    def test_a_graph_is_a_file_by_itself_with_its_inputs(self):
        place = self.convert()
        self.assertEqual(place.name, "model__2_inference_8.0")
        text = (place / "graph.py").read_text()
        tree = ast.parse(text)
        self.assertEqual([each.name for each in tree.body if isinstance(each, ast.ClassDef)], ["Graph"])
        inputs = next(each.value for each in tree.body if isinstance(each, ast.Assign))
        self.assertEqual(ast.literal_eval(inputs), [("arg0_1", (64, 1024), (1024, 1), "float32", 1.0), ("arg1_1", (1024,), (1,), "float32", 1.0)])
        imported = {alias.name for each in ast.walk(tree) if isinstance(each, ast.Import) for alias in each.names}
        self.assertEqual(imported, {"math", "operator", "torch"})

    def test_versions_settings_and_the_device_are_those_of_the_folder(self):
        about = json.loads((self.convert() / "graph.json").read_text())
        self.assertEqual(about["phase"], "inference")
        self.assertIn({"name": "torch", "value": "2.11.0+cu130"}, about["versions"])
        self.assertEqual(about["device"], {"name": "NVIDIA H200", "target": "cuda:90", "multiprocessors": 132, "real": True})
        self.assertIn({"name": "inductor.max_autotune", "value": "False"}, about["settings"])
        self.assertIn({"name": "aten.rsqrt.default", "count": 1}, about["operators"])

    def test_of_two_copies_that_with_a_name_counts_and_the_code_names_the_phase(self):
        copy = self.folder / "in/cache/czte.debug"
        copy.mkdir(parents=True)
        named = self.folder / "in/torchinductor/model__0_forward_1.0"
        named.mkdir(parents=True)
        for name in ("fx_graph_runnable.py", "output_code.py"):
            text = (WRAPPER.parent / name).read_text().replace("AOT ID: ['2_inference']", "AOT ID: ['2_forward']")
            (copy / name).write_text(text)
            (named / name).write_text(text)
        [row] = debug_folder.convert(self.folder / "in", self.folder / "out")
        self.assertEqual((row["folder"], row["phase"]), ("model__0_forward_1.0", "forward"))

    def test_a_graph_with_an_attribute_is_refused(self):
        text = "class Repro(torch.nn.Module):\n    def forward(self, x):\n        return (self._tensor_constant0,)\ndef load_args(reader):\n    pass\n"
        with self.assertRaisesRegex(ValueError, "has an attribute"):
            debug_folder.write_runnable(text, "t", "cuda")

    def test_inputs_of_each_form_are_read(self):
        text = textwrap.dedent("""\
            class Repro(torch.nn.Module):
                def forward(self, n, x, y):
                    return (x,)
            def load_args(reader):
                reader.symint(7)  # n
                buf0 = reader.storage(None, 64, device=device(type='cuda', index=0), dtype_hint=torch.int64)
                reader.tensor(buf0, (2, 4), (1, 2), dtype=torch.int64, is_leaf=True)  # x
                buf1 = reader.storage(None, 4)
                reader.tensor(buf1, (2, 0), is_leaf=True)  # y
            """)
        _, inputs, _ = debug_folder.write_runnable(text, "t", "cuda")
        self.assertEqual([each.row for each in inputs], [
            {"name": "n", "kind": "number", "value": "7"},
            {"name": "x", "kind": "tensor", "shape": ["2", "4"], "stride": ["1", "2"], "dtype": "int64", "device": "cuda:0"},
            {"name": "y", "kind": "tensor", "shape": ["2", "0"], "stride": ["1", "1"], "dtype": "float32", "device": "cpu"}])

    def test_a_folder_without_graphs_is_an_error(self):
        with self.assertRaisesRegex(RequestError, "has no graph"):
            debug_folder.convert(self.folder, self.folder / "out")


class ProcessesTest(Folder):
    def run_one(self, action, **bounds):
        work = processes.Work("one", self.folder / "log.txt", action)
        return next(iter(processes.run([work], processes.Bounds(**bounds))))[1]

    def test_the_result_comes_back_and_the_output_goes_into_the_log(self):
        result = self.run_one(lambda: print("said") or {"status": "captured"})
        self.assertEqual(result["status"], "captured")
        self.assertEqual((self.folder / "log.txt").read_text(), "said\n")

    def test_a_process_that_is_too_slow_is_ended(self):
        began = time.monotonic()
        result = self.run_one(lambda: time.sleep(60), seconds=1)
        self.assertEqual((result["reason"], result["message"]), ("limit_seconds", "not done after 1 s"))
        self.assertLess(time.monotonic() - began, 20)

    def test_a_process_that_takes_too_much_memory_is_ended(self):
        def grow():
            held = bytearray(400 << 20)
            held[::4096] = b"x" * len(held[::4096])
            time.sleep(60)

        result = self.run_one(grow, memory=256 << 20)
        self.assertEqual((result["reason"], result["message"]), ("limit_memory", "more than 0.25 GiB"))

    def test_a_process_that_fails_is_a_crash(self):
        result = self.run_one(lambda: 1 / 0)
        self.assertEqual((result["status"], result["reason"]), ("failed", "crash"))
        self.assertEqual(result["message"], "the process ended with 1: ZeroDivisionError: division by zero")
        self.assertIn("ZeroDivisionError", (self.folder / "log.txt").read_text())

    def test_a_crash_has_the_name_of_its_signal_and_the_last_words_of_its_own_log(self):
        def abort():
            os.write(2, b"terminate called after throwing an instance of 'Error'\n  what():  Invalid thread pool!\n"
                        b"Exception raised from f at a.cpp:64 (most recent call first):\nframe #0: f() + 0x9d\n\n")
            os.abort()

        (self.folder / "log.txt").write_text("an earlier process\n")
        self.assertEqual(self.run_one(abort)["message"], "the process ended with -6 (SIGABRT): terminate called after throwing an instance of "
                                                         "'Error' | what():  Invalid thread pool! | Fatal Python error: Aborted")
        self.assertIn("in abort", (self.folder / "log.txt").read_text())

    def test_a_process_that_says_nothing_has_no_last_words(self):
        self.assertEqual(self.run_one(lambda: os._exit(3))["message"], "the process ended with 3: its log is empty")

    def test_after_the_deadline_nothing_more_comes(self):
        works = [processes.Work(str(n), self.folder / "log.txt", lambda: time.sleep(0.4) or {"status": "captured"}) for n in range(50)]
        self.assertLess(len(list(processes.run(works, processes.Bounds(deadline=1.2)))), 6)


class PlanTest(Folder):
    def test_specs_are_checked(self):
        for spec in ("resnet18", "nowhere:resnet18"):
            with self.assertRaisesRegex(RequestError, "must be LIBRARY:NAME"):
                models.list_models([spec])

    def test_a_folder_in_place_of_a_model_says_what_takes_folders(self):
        with self.assertRaisesRegex(RequestError, "--from"):
            models.list_models([str(self.folder)])

    def test_modules_of_a_checkout_are_found_without_running_it(self):
        (self.folder / "nets").mkdir()
        (self.folder / "nets/one.py").write_text("raise SystemExit\nclass A(nn.Module):\n    pass\nclass B(A):\n    pass\nclass C:\n    pass\n")
        (self.folder / "tests").mkdir()
        (self.folder / "tests/two.py").write_text("class D(nn.Module):\n    pass\n")
        (self.folder / "broken.py").write_text("class E(nn.Module:\n")
        names, problems = models.list_models([f"checkout:{self.folder}"])
        self.assertEqual([each.model for each in names], ["nets.one.A", "nets.one.B"])
        self.assertEqual(problems, [])
        self.assertEqual([each.model for each in models.list_models([f"checkout:{self.folder}:B*"])[0]], ["nets.one.B"])

    def test_parameters_are_guessed_by_the_words_of_their_names(self):
        for names, value in (("dim problem_size hidden_size in_features out_channels d_model mlp_dim dim_out emb_dim num_channels in_chans c1 d_ff size", 64),
                             ("image_size img_resolution seq_len max_len num_frames num_classes vocab_size", 32), ("dim_head head_dim d_k", 16),
                             ("patch_size window_size", 8), ("heads num_heads nhead kvheads groups num_experts", 4), ("kernel_size", 3),
                             ("depth num_layers cls_depth top_k", 2), ("stride mlp_ratio expansion padding", 1), ("dropout drop_path prob p attn_prob prob_mask layer_idx", 0)):
            for name in names.split():
                self.assertEqual(models._guess(name), value, name)
        for name in ("registry", "config", "args", "encoder", "fn", "problem_name"):
            with self.assertRaisesRegex(models.NotBuilt, "no_literal"):
                models._guess(name)

    def test_what_is_not_there_is_named_and_the_rest_goes_on(self):
        (self.folder / "one.py").write_text("class A(nn.Module):\n    pass\n")
        names, problems = models.list_models([f"checkout:{self.folder}:Z*", f"checkout:{self.folder}"])
        self.assertEqual((len(names), len(problems)), (1, 1))

    def test_a_capture_that_may_take_longer_now_is_tried_again(self):
        slow = {"status": "failed", "reason": "limit_seconds", "seconds": 300.4}
        for result, bound, done in ((None, 300, False), (slow, 300, True), (slow, 900, False), ({**slow, "reason": "crash"}, 900, True),
                                    ({"status": "captured", "seconds": 300.4}, 900, True)):
            self.assertEqual(command.is_done(result, bound), done, (result, bound))

    def test_what_follows_from_other_sizes_is_not_given(self):
        class Config:
            """Refuses a size that it computes, as falcon's does."""

            num_heads, dim = 71, 4544

            def __init__(self, **sizes):
                for key, value in sizes.items():
                    setattr(self, key, value)

            @property
            def head_dim(self):
                return self.dim // self.num_heads

        self.assertEqual(vars(models._small_config(Config)), {"num_heads": 4, "dim": 128, "use_cache": False})

    def test_autotuning_needs_a_gpu(self):
        with self.assertRaisesRegex(RequestError, "needs a GPU"):
            command.variants({"autotune": True, "mode": "both"}, "h100")

    def test_the_job_has_a_source_for_each_model(self):
        debug_folder.convert(DEBUG, self.folder)
        command.write_job(self.folder, "MIT")
        job = (self.folder / "job.yaml").read_text()
        self.assertIn('inductor: "./debug/torch_compile_debug"', job)
        self.assertIn("keep: graphs", job)
        self.assertIn('license: "MIT"', job)
        self.assertNotIn("splits", job)

    def test_twenty_models_are_divided(self):
        for number in range(20):
            folder = self.folder / f"timm/m{number}/m.0"
            folder.mkdir(parents=True)
            (folder / "graph.json").write_text("{}")
            (folder.parent / "manifest.json").write_text("{}")
        command.write_job(self.folder, "")
        self.assertIn("\nsplits: {validation: 0.1, test: 0.1}\n", (self.folder / "job.yaml").read_text())

    def test_a_stranger_runs_in_a_container_only(self):
        options = {"check": False, "from": "", "out": str(self.folder), "model": [f"checkout:{self.folder}"], "list": "",
                   "unsafe_no_container": False}
        if not any(pathlib.Path(each).exists() for each in ("/.dockerenv", "/run/.containerenv")):
            with self.assertRaisesRegex(RequestError, "container"):
                command.capture(options)


class GuardTextTest(unittest.TestCase):
    def test_addresses_of_objects_go(self):
        self.assertEqual(tracing.select_guards(["___check_obj_id(L['x'], 94012345678)", "L['self']._modules['a'].eps == 1e-05",
                                                "check_tensor(L['x'], 94012345678, size=[2, 4])"]),
                         ["check_tensor(L['x'], ID, size=[2, 4])", "L['self']._modules['a'].eps == 1e-05"])

    def test_an_address_is_known_by_the_guards_form(self):
        for text, kept in (("type_id(L['x'],94012345678)", "type_id(L['x'],ID)"), ("id(L['x']) == 140234567890123", "id(L['x']) == ID"),
                           ("check_type_id(L['x'], 94012345678), type=<class>", "check_type_id(L['x'], ID), type=<class>"),
                           ("check_obj_id(L['x'].y, 94012345678)", "check_obj_id(L['x'].y, ID)")):
            self.assertEqual(tracing.select_guards([text]), [kept])

    def test_sizes_and_values_stay(self):
        for text in ("2048*L['x'].size()[0] <= 2147483647", "Eq(s0, 1000000000)", "f(L['n'], 9223372036854775806)", "L['flag'] == 140234567890123",
                     "L['x'].size()[0] in (1, 2147483648000)", "check_tensor(L['x'], Tensor, size=[1000000000, 1000000000])"):
            self.assertEqual(tracing.select_guards([text]), [text])

    def test_paths_of_this_machine_go(self):
        text = graph_text._shorten_paths("# File: /opt/x/site-packages/timm/a.py:3 in f\n# File: /home/me/b.py:4 in g\n")
        self.assertEqual(text, "# File: timm/a.py:3 in f\n# File: b.py:4 in g\n")


class GraphFactsTest(unittest.TestCase):
    TEXT = textwrap.dedent("""\
        class Graph(torch.nn.Module):
            def forward(self, q: "f32[2]", n):
                # File: library/integrations/moe.py:336 in _grouped, code: return torch.ops.library.other(x)
                grouped: "f32[2]" = torch.ops.library.grouped.default(q);  q = None
                # File: model.py:3 in f, code: x
                mine = torch.ops.mine.f.default(grouped)
                # File: library/nn/linear.py:3 in f, code: x
                attention = torch.ops.aten._scaled_dot_product_efficient_attention.default(q, q, q, None, True)
                getitem: "f32[2]" = attention[0]
                getitem_2: "i64[]" = attention[2]
                getitem_3: "i64[]" = attention[3];  attention = None
                sort = torch.ops.aten.sort.stable(getitem, stable = True)
                getitem_4 = sort[1];  sort = None
                split = torch.ops.aten.split.Tensor(getitem, 1)
                getitem_5 = split[1];  split = None
                return (getitem, getitem_2, None, n, getitem_4)
        """)

    def test_results_have_names(self):
        self.assertEqual(graph_text.list_results(self.TEXT), ["getitem", "getitem_2", "None", "n", "getitem_4"])

    def test_the_module_that_calls_an_operator_of_a_package_is_imported(self):
        self.assertEqual(graph_text.list_operator_modules(self.TEXT), ["library.integrations.moe"])
        self.assertIn("import library.integrations.moe  # noqa: F401", graph_text.list_imports(self.TEXT))

    @unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
    def test_an_operator_that_nothing_defines_is_named(self):
        self.assertEqual(graph_text.define_operators(self.TEXT), "library.grouped")
        self.assertEqual(graph_text.define_operators("x = torch.ops.aten.add.Tensor(y)"), "")

    @unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
    def test_seeds_and_offsets_of_attention_are_states(self):
        self.assertEqual(graph_text.list_states(self.TEXT), {"getitem_2", "getitem_3"})


MODELS = """
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.linear = nn.Linear(dim, dim)

    def forward(self, x):
        return self.linear(torch.relu(x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight))


class Attention(nn.Module):
    def forward(self, q, k, v):
        return nn.functional.scaled_dot_product_attention(q, k, v)


class Constant(nn.Module):
    def forward(self, x):
        return torch.where(x > 0, x, torch.tensor(0.25))


class Deep(nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.norm = nn.BatchNorm1d(linear.in_features)
        self.linear = linear

    def forward(self, x):
        x = self.norm(x)
        for _ in range(30):
            x = torch.relu(self.linear(x))
        return x


class Strided(nn.Module):  # wide enough for channels last
    def __init__(self, channels):
        super().__init__()
        self.one, self.two = nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.Conv2d(2 * channels, 2 * channels, 3, padding=1)

    def forward(self, x):
        return self.two(torch.relu(self.one(x)))


class Broken(nn.Module):
    def forward(self, x):
        raise OSError("no such weights")


class Unknown(nn.Module):
    def __init__(self, registry):
        super().__init__()


MODELS = {"norm": lambda: (Norm(64), [torch.randn(8, 64)]), "attention": lambda: (Attention(), [torch.randn(2, 4, 16, 32) for _ in "qkv"]),
          "constant": lambda: (Constant(), [torch.randn(8, 64, requires_grad=True)]),
          "deep": lambda: (Deep(nn.Linear(2048, 2048)), [torch.randn(8, 2048)]), "strided": lambda: (Strided(64), [torch.randn(2, 64, 16, 16)]), "broken": lambda: (Broken(), [torch.randn(2)])}
"""


@unittest.skipUnless(HAS_TORCH, "torch or triton is not installed")
class TracerTest(unittest.TestCase):
    def test_a_backward_graph_has_the_parameters_of_its_own_forward_graph(self):
        import torch
        from torch._inductor import compile_fx

        class Two(torch.nn.Module):
            """Two graphs, whose backward graphs come in the other order."""

            def __init__(self):
                super().__init__()
                self.a, self.b = torch.nn.Linear(4, 8), torch.nn.Linear(8, 4)

            def forward(self, x, y):
                x = torch.relu(self.a(x))
                torch._dynamo.graph_break()
                return (y * x @ self.b.weight.T).sum()

        def write(module, title, _device, parameters=frozenset(), _examples=()):
            if "backward" in title:
                shapes.append({tuple(node.meta["val"].shape) for node in module.graph.nodes if node.op == "placeholder" and node.name in parameters})
            return "", []

        def lower(module, _inputs, **_options):
            def call(arguments):
                return module(*arguments)

            call._boxed_call = True
            return call

        shapes = []
        tracer = tracing.Tracer("two", "cpu", False)

        def trace(module, inputs):
            return compile_fx.compile_fx(module, inputs, inner_compile=tracer._lower)

        with unittest.mock.patch.object(tracing.graph_text, "write_graph", write), unittest.mock.patch.object(compile_fx, "compile_fx_inner", lower):
            torch.compile(Two(), backend=trace)(torch.randn(3, 4), torch.randn(3, 8)).backward()
        self.assertEqual(shapes, [{(4, 8)}, set()])


@unittest.skipUnless(HAS_TORCH, "torch and Triton are not installed")
class CaptureTest(unittest.TestCase):
    """One folder of captures without a GPU; each test looks at a part of it."""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        (cls.folder / "nets").mkdir()
        (cls.folder / "nets/nets.py").write_text(MODELS)
        cls.code, cls.said = cls.capture(f"file:{cls.folder}/nets/nets.py", f"checkout:{cls.folder}/nets")
        cls.summary = json.loads((cls.folder / "out/captures.json").read_text())

    @classmethod
    def capture(cls, *specs, flags=()):
        said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            code = command.main([*specs, "--out", str(cls.folder / "out"), "--device", "h100", "--unsafe-no-container", *flags])
        return code, said.getvalue()

    def about(self, model, label):
        return json.loads(next((self.folder / "out").glob(f"*/*{model}*/*{label}.0/graph.json")).read_text())

    def test_each_model_is_captured_or_says_why_not(self):
        self.assertEqual(self.code, 0, self.said)
        self.assertEqual(self.summary["counts"]["captured"], 18, self.summary)
        self.assertEqual(self.summary["reasons"], {"no_literal": 4, "os_error": 2, "no_input": 2})

    def test_a_constant_is_written_out(self):
        text = next((self.folder / "out").glob("file/constant/*inference.0/graph.py")).read_text()
        self.assertIn("torch.tensor(0.25, dtype=torch.float32)", text)

    def test_results_of_many_layers_are_finite(self):
        import torch

        for phase in ("inference", "training-forward", "training-backward"):
            space = {"__name__": "graph"}
            path = next((self.folder / "out").glob(f"file/deep/*{phase}.0/graph.py"))
            text = path.read_text().replace("device(type='cuda', index=0)", "device(type='cpu')")
            exec(compile(text, "graph.py", "exec"), space)  # pylint: disable=exec-used
            with torch.no_grad():
                results = [each for each in space["Graph"]()(*space["make_inputs"]("cpu")) if isinstance(each, torch.Tensor)]
            for number, result in enumerate(results):
                self.assertTrue(bool(torch.isfinite(result.double()).all()), (phase, number))

    def test_inputs_have_the_strides_that_the_wrapper_asserts(self):
        other = 0
        for path in (self.folder / "out").rglob("output_code.py"):
            asserted = wrapper_text.read_strides(path.read_text())
            listed = ast.literal_eval((path.parent / "graph.py").read_text().partition("INPUTS = ")[2].partition("\n]")[0] + "]")
            for name, shape, stride, *_ in listed:
                self.assertEqual(asserted.get(name, stride), stride, (path.parent.name, name))
                other += shape is not None and len(shape) == 4 and stride[1] == 1
        self.assertGreater(other, 0)

    def test_a_backward_graph_finds_what_its_forward_graph_saves(self):
        for backward in (self.folder / "out").glob("file/*/*-backward.0"):
            forward = inputs.find_forward(backward)
            self.assertEqual(forward and forward.name, backward.name.replace("backward", "forward"))
            saved = inputs.run_forward(forward, "cpu")
            made, names, consistent = inputs.make_inputs(backward, "cpu")
            self.assertTrue(consistent)
            for name, value in zip(names, made, strict=True):
                if not name.startswith("tangents"):
                    self.assertTrue(bool((saved[name] == value).all()), name)

    def test_no_folder_of_this_machine_is_told(self):
        for path in (self.folder / "out").rglob("*.*"):
            if path.name in ("graph.py", "model.py", "output_code.py", "graph.json"):
                self.assertNotIn(tempfile.gettempdir(), path.read_text(), path)

    def test_operators_are_those_of_torch(self):
        for phase in ("inference", "training-forward", "training-backward"):
            self.assertEqual([each["name"] for each in self.about("norm", phase)["operators"] if "." not in each["name"]], [])

    def test_the_graphs_text_ran_alone(self):
        self.assertEqual(self.summary["texts"], {"ok": self.summary["counts"]["graphs"]})

    def test_a_wrapper_that_was_not_run_says_why(self):
        self.assertEqual(self.summary["checks"], {"not_checked": self.summary["counts"]["graphs"]})
        self.assertEqual(self.about("norm", "inference")["checks"][1:],
                         [{"status": "not_run", "device": None, "message": "the code was generated without a GPU"}])

    def test_training_has_a_forward_and_a_backward_graph(self):
        for phase in ("forward", "backward"):
            about = self.about("norm", f"training-{phase}")
            self.assertEqual((about["phase"], about["device"]["real"], about["device"]["target"]), (phase, False, "cuda:90"))
            self.assertTrue(all(kernel["operators"] for kernel in about["kernels"]))

    def test_code_is_for_the_gpu_that_is_not_there(self):
        code = next((self.folder / "out").glob("file/norm/*inference.0/output_code.py")).read_text()
        self.assertIn("empty_strided_cuda", code)
        self.assertIn("cc=90", code)
        self.assertIn("async_compile.triton", code)

    def test_attention_is_products_and_a_softmax(self):
        about = self.about("attention", "inference")
        self.assertIn("extern_kernels.bmm", [each["name"] for each in about["calls"]])
        self.assertIn("aten.exp", [name for kernel in about["kernels"] for name in kernel["operators"]])

    def test_what_is_captured_is_not_captured_again(self):
        before = {path: path.stat().st_mtime_ns for path in (self.folder / "out").rglob("graph.json")}
        code, said = self.capture(f"file:{self.folder}/nets/nets.py")
        self.assertEqual((code, said), (0, ""))
        self.assertEqual({path: path.stat().st_mtime_ns for path in (self.folder / "out").rglob("graph.json")}, before)

    def test_dynamic_shapes_have_names(self):
        self.capture(f"file:{self.folder}/nets/nets.py", flags=("--dynamic", "--mode", "inference", "--most", "1"))
        about = self.about("norm", "inference-dynamic")
        self.assertTrue(about["dynamic"])
        shapes = [size for each in about["inputs"] for size in each.get("shape", [])]
        named = {size for size in shapes if not size.isdigit()}
        self.assertTrue(named, shapes)
        for name in named:
            self.assertTrue(any(name in guard for guard in about["guards"]), about["guards"])


if __name__ == "__main__":
    unittest.main()
