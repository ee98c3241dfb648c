#!/usr/bin/env python3
"""Tests the oracles of the kernel languages on cases of our own: oracles_test.py [-v]; those of C++ need tree-sitter."""
import importlib
import pathlib
import sys
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)
sys.path.append(str(HERE.parents[2] / "build/peers/tree_sitter"))

from languages import compare, cute, nki, numba, taichi, tilelang, tlx, warp  # noqa: E402
from languages.python_kernels import Truth  # noqa: E402

try:
    from languages import cuda_macros, cuda_strings, metal, metal_strings, sycl
except ImportError:
    cuda_macros = cuda_strings = metal = metal_strings = sycl = None


def found(language, **files):
    """({name: how} of the kernels, {name} of what is not decided) in files; a__b is a/b.py."""
    texts = {name.replace("__", "/", 1) + ".py" if "." not in name else name: textwrap.dedent(text).encode() for name, text in files.items()}
    truth = language.LANGUAGE.find_in(texts)
    return {name: how for name, _, how in truth.kernels.values()}, {why.split(":")[0] for why in truth.undecided.values()}


class PythonOracles(unittest.TestCase):
    def test_every_oracle_can_be_loaded(self):
        for path in sorted(pathlib.Path(compare.__file__).parent.glob("*.py")):
            if "\nLANGUAGE = PythonLanguage(" in path.read_text(encoding="utf-8"):
                self.assertEqual(importlib.import_module(f"languages.{path.stem}").LANGUAGE.name, path.stem)

    def test_imports_lead_to_makers(self):
        kernels, _ = found(cute, a="""\
            import cutlass
            import cutlass.cute as c
            from cutlass import cute
            from cutlass.cute import jit as compiled
            @c.kernel
            def one(): pass
            @cute.jit(preprocess=False)
            def two(): pass
            @compiled
            def three(): pass
            @cutlass.cute.kernel
            def four(): pass
            @cutlass.jit
            def other(): pass
            """)
        self.assertEqual(kernels, dict.fromkeys(["one", "two", "three", "four"], "decorated"))

    def test_an_adjoint_is_decorated_by_a_maker_that_is_given_its_function(self):
        kernels, _ = found(warp, a="import warp as wp\n@wp.func\ndef f(x: float): return x\n@wp.func_grad(f)\ndef g(x: float, y: float): pass\n")
        self.assertEqual(kernels, {"f": "decorated", "g": "decorated"})

    def test_an_import_counts_in_its_scope_alone(self):
        kernels, undecided = found(cute, a="""\
            def inside():
                import cutlass.cute as cute
                @cute.jit
                def one(): pass
            @cute.jit
            def two(): pass
            """)
        self.assertEqual((kernels, undecided), ({"one": "decorated"}, {"two"}))

    def test_a_kernel_within_a_kernel_is_one_except_of_tilelang(self):
        kernels, _ = found(cute, a="""\
            from cutlass import cute
            class Gemm:
                @cute.jit
                def host(self):
                    @cute.kernel
                    def device(): pass
            """)
        self.assertEqual(set(kernels), {"host", "device"})
        kernels, _ = found(tilelang, a="""\
            import tilelang
            import tilelang.language as T
            @tilelang.jit(out_idx=[-1])
            def outer(n):
                @T.prim_func
                def inner(): pass
                return inner
            def factory(n):
                @T.prim_func
                def main():
                    @T.macro
                    def part(): pass
                return main
            """)
        self.assertEqual(set(kernels), {"outer", "main"})

    def test_another_librarys_name_is_no_maker(self):
        kernels, undecided = found(tilelang, a="""\
            # tilelang
            from tvm.script import tir as T
            @T.prim_func
            def other(): pass
            """)
        self.assertEqual((kernels, undecided), ({}, set()))

    def test_makers_by_assignment_partial_and_function(self):
        kernels, _ = found(numba, a="""\
            import functools
            from numba import cuda
            fast = cuda.jit(fastmath=True)
            device = functools.partial(cuda.jit, device=True)
            def compiled(**options):
                return cuda.jit(**options)
            def applied(function):
                return cuda.jit(function)
            @fast
            def one(): pass
            @device()
            def two(): pass
            @compiled(debug=True)
            def three(): pass
            @applied
            def four(): pass
            """)
        self.assertEqual(kernels, dict.fromkeys(["one", "two", "three", "four"], "wrapped"))

    def test_called_makers(self):
        kernels, _ = found(numba, a="""\
            from numba import cuda
            def one(): pass
            def two(): pass
            def three(): pass
            def not_one(): pass
            k = cuda.jit(one)
            cuda.jit("void(int32[:])", device=True)(two)
            cuda.jit(func_or_sig=None)
            print(not_one)
            for name, body in [("three", three)]:
                cuda.jit(body)
            def make():
                def four(): pass
                return four
            cuda.jit(make())
            class Case:
                def build(self, body):
                    return cuda.jit(body)
                def run(self):
                    def five(): pass
                    self.build(five)
            def six(): pass
            def seven(): pass
            def eight(): pass
            Case.eight = eight
            cuda.jit(Case.eight)
            same = six
            cuda.jit(same)
            cuda.jit({1: seven}[1])
            """)
        self.assertEqual(kernels, dict.fromkeys(["one", "two", "three", "four", "five", "six", "seven", "eight"], "called"))
        kernels, _ = found(warp, a="import warp as wp\ndef body(): pass\nk = wp.kernel(func=body)\n")
        self.assertEqual(kernels, {"body": "called"})

    def test_a_function_given_to_one_that_compiles_its_parameter_is_not_decided(self):
        kernels, undecided = found(numba, a="""\
            from numba import cuda
            def check(function, size):
                cuda.jit(function)[1, 1](size)
            def check_twice(body):
                check(body, 2)
            def one(): pass
            def two(): pass
            check(one, 1)
            check_twice(body=two)
            """)
        self.assertEqual((kernels, undecided), ({}, {"one", "two"}))

    def test_other_files_hand_on_imports_and_keep_wrappers_undecided(self):
        files = {"pkg__compat": "import warp as wp\ndef wrapped(f):\n    return wp.kernel(f)\n",
                 "pkg__names": "from .compat import *\n",
                 "pkg__use": "# warp\nfrom .names import wp\nfrom .compat import wrapped\n@wp.func\ndef one(): pass\n@wrapped\ndef two(): pass\n"}
        self.assertEqual(found(warp, **files), ({"one": "wrapped"}, {"two"}))

    def test_a_languages_own_package(self):
        kernels, _ = found(taichi, **{"python/taichi/lang/kernel_impl.py": "# taichi\ndef kernel(f):\n    return f\n",
                                      "python/taichi/own.py": "# taichi\nfrom .lang.kernel_impl import kernel\n@kernel\ndef one(): pass\n"})
        self.assertEqual(kernels, {"one": "decorated"})

    def test_two_modules_that_lead_to_each_other_end(self):
        files = {"a": "# nki\nfrom b import *\n@jit\ndef one(): pass\n", "b": "# nki\nfrom a import *\nfrom nki import jit\n"}
        self.assertEqual(found(nki, **files)[0], {"one": "wrapped"})

    def test_many_modules_that_import_each_other_take_no_time(self):
        stars = "".join(f"from m{each} import *\n" for each in range(12))
        files = {f"m{each}": f"# nki\n{stars}@missing\ndef f(): pass\n" for each in range(12)}
        self.assertEqual(found(nki, **files)[0], {})

    def test_a_dialect_counts_by_what_a_function_uses(self):
        kernels, _ = found(tlx, a="""\
            import triton
            import triton.language.extra.tlx as tlx
            @triton.jit
            def one(): tlx.local_alloc()
            @triton.jit
            def plain(): pass
            """)
        self.assertEqual(set(kernels), {"one"})

    def test_a_file_that_does_not_parse_says_nothing(self):
        self.assertEqual(warp.LANGUAGE.find_in({"a.py": b"import warp as wp\n@wp.kernel\ndef f(:\n"}).unparsed, {"a.py"})

    def test_what_is_not_decided_counts_neither_way(self):
        truth = Truth({("a", 1, 2): ("f", "m", "decorated"), ("a", 4, 5): ("g", "m", "decorated")}, {("a", 7, 8): "h"}, {"b"})
        rows = dict.fromkeys([("a", 1, 2), ("a", 7, 8), ("b", 1, 2), ("c", 1, 2)])
        both, missing, extra, undecided = compare.compare(truth, rows)
        self.assertEqual((both, missing, extra), ({("a", 1, 2)}, {("a", 4, 5)}, {("c", 1, 2)}))
        self.assertEqual(undecided, {("a", 7, 8), ("b", 1, 2)})


@unittest.skipUnless(metal, "tree-sitter is not installed: tests/oracle/languages/install_tree_sitter.sh")
class CppOracles(unittest.TestCase):
    def places(self, language, name, text):
        return {value[0]: key[1:] for key, value in language.LANGUAGE.find_in({name: text.encode()}).kernels.items()}

    def test_metal(self):
        self.assertEqual(self.places(metal, "a.metal", textwrap.dedent("""\
            #include <metal_stdlib>
            // kernel void said(device int* x) {}
            [[kernel]] void one(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
              x[i] = 1;
            }
            template <typename T>
            kernel void two(constant T& kernel [[buffer(1)]]) {
            }
            #define make(name) \\
              template [[host_name(#name)]] [[kernel]] void two<name>(constant name&);
            template [[host_name("x")]] [[kernel]] void two<int>(constant int& a [[buffer(1)]]);
            void helper(device int* x) { x[0] = 1; }
            """)), {"one": (3, 5), "two": (6, 8)})

    def test_text_that_a_constant_condition_leaves_out(self):
        text = "#if 0\nkernel void one() {}\n#else\nkernel void two() {}\n#endif\n#if 1\nkernel void three() {}\n#else\nkernel void four() {}\n#endif\n"
        self.assertEqual(self.places(metal, "a.metal", text), {"two": (4, 4), "three": (7, 7)})

    def test_a_directive_may_be_indented(self):
        text = "  #include <math.h>\n  #define N 4\n  kernel void one() {}\n"
        self.assertEqual(self.places(metal, "a.metal", text), {"one": (3, 3)})

    def test_macros_that_stand_for_a_qualifier(self):
        texts = {"a.h": b"#ifdef __CUDACC__\n#define MY_DEVICE inline __device__\n#define MY_KERNEL __global__ void\n#else\n#define MY_DEVICE\n#endif\n"
                        b"#define TWICE __device__\n#define CALL(x) __device__ x\n",
                 "b.h": b"#define TWICE 2\n",
                 "c.cu": b"MY_DEVICE int one() { return 1; }\nMY_KERNEL __launch_bounds__(4) two(int* x) {}\nTWICE int three() { return 1; }\n"
                         b"template <int N> CUTLASS_GLOBAL void four() {}\nstruct S { CUTE_HOST_DEVICE int five() const { return 1; } };\n"}
        truth = cuda_macros.LANGUAGE.find_in(texts)
        self.assertEqual({value[0] for value in truth.kernels.values()}, {"one", "two", "four", "five"})
        self.assertEqual(truth.undecided, {})

    def test_cuda_strings_that_reach_a_compiler(self):
        self.assertEqual(self.places(cuda_strings, "a.py", textwrap.dedent('''\
            import cupy
            from torch.utils.cpp_extension import load_inline
            HEAD = """
            __device__ float half_of(float x) { return x / 2; }
            """
            source = HEAD + """
            template <typename T>
            __global__ void __launch_bounds__(256) one(T* x) {
              x[0] = 1;
            }
            __global__ void declared(int* x);
            """
            module = load_inline("m", "", cuda_sources=[source], functions=["f"])
            def compiled(text, name):
                return cupy.RawKernel(code=text, name=name)
            two = compiled(r"""extern "C" __global__ void two(int* x) { x[0] = 1; }""", "two")
            three = compiled("__global__ void three() {\\n"
                             "}\\n", "three")
            unused = """__global__ void unused() {}"""
            hole = cupy.RawKernel(f"""__global__ void hole() {{ {HEAD} }}""", "hole")
            changed = cupy.RawKernel("""__global__ void changed() { %s }""" % 1, "changed")
            ''')), {"half_of": (4, 4), "one": (7, 10), "three": (17, 18)})

    def test_functions_in_f_strings(self):
        truth = cuda_strings.LANGUAGE.find_in({"a.py": textwrap.dedent('''\
            import cupy
            def make(body, n):
                return cupy.RawModule(code=f"""
                {BODIES["{"]}
                __global__ void __launch_bounds__({n}) one(int* x) {{
                  {body:>{n}}
                  x[{n}] = 1;
                }}
                """)
            said = f"""
            __global__ void two() {{ {make} }}
            """
            printed = cupy.RawModule(code=f"""\\
            __global__ void four() {{
              printf("{{}}\\\\n", {make});
            }}
            """)
            changed = cupy.RawModule(code=f"""
            __global__ void three() {{ {make} %d }}
            """ % 1)
            ''').encode()})
        self.assertEqual({value: key[1:] for key, value in truth.kernels.items()},
                         {("one", "literal", "f-string"): (5, 8), ("four", "literal", "f-string"): (14, 16)})
        self.assertEqual({line for _, line, _ in truth.undecided}, {11, 19})

    def test_bodies_whose_head_a_library_writes(self):
        truth = metal_strings.LANGUAGE.find_in({"a.py": textwrap.dedent('''\
            import torch
            import mlx.core as mx
            source = """
                y[0] = x[0];
                y[1] = 0;
                """
            k = mx.fast.metal_kernel(name="k", input_names=["x"], output_names=["y"], source=source)
            mx.fast.metal_kernel("one_line", ["x"], ["y"], "y[0] = x[0];")
            mx.fast.metal_kernel("hole", ["x"], ["y"], f"""
                y[0] = {source};
                """)
            other.metal_kernel("other", ["x"], ["y"], """
                y[0] = 1;
                """)
            library = torch.mps.compile_shader("""
            kernel void two(device int* x) { x[0] = 1; }
            """)
            ''').encode()})
        self.assertEqual(sorted((line, last, name) for (_, line, last), (name, _, _) in truth.kernels.items()),
                         [(4, 5, "metal_kernel"), (16, 16, "two")])
        self.assertEqual({line for _, line, _ in truth.undecided}, {8, 9, 10})

    def test_sycl(self):
        truth = sycl.LANGUAGE.find_in({"a.cpp": textwrap.dedent("""\
            #include <sycl/sycl.hpp>
            // __global__ void old();
            struct Typed {
              void operator()(sycl::nd_item<1> it) const { x[0] = 1; }
              int operator()(int i) const { return i; }
            };
            template <typename T>
            struct Plain {
              template <typename I>
              void operator()(I i) const { x[i] = 1; }
            };
            struct Unused { void operator()() const {} };
            template <int N>
            void device(float* x, const sycl::nd_item<3>& it) { x[0] = 1; }
            void host(std::function<void(sycl::nd_item<1>)> f) { f(); }
            void f(sycl::queue& q) {
              auto event = q.submit([&](sycl::handler& h) {
                h.parallel_for<class k<int, 2>>(
                    sycl::range<1>(4),
                    [=](auto i) [[sycl::reqd_sub_group_size(16)]] { x[i] = g([&](int j) { return j; }); });
                h.host_task([=] { g(); });
              });
              tbb::parallel_for(0, 1, [=](int i) { x[i] = 1; });
              auto single = [=] { x[0] = 1; };
              auto other = [=] { x[0] = 1; };
              q.single_task(single);
              Plain<float> plain{x};
              q.parallel_for(r, plain);
              wrapped(q, [=](sycl::nd_item<1> it) {
                auto part = [&](sycl::nd_item<1> same) { x[0] = 1; };
              });
            }
            """).encode(), "b.cpp": b"void f() { q.single_task([=] { g(); }); }", "c.h": b"__device__ int f();\nvoid g(nd_item<1> it) {}\n"})
        self.assertEqual({(line, last): how for (_, line, last), (_, how, _) in truth.kernels.items()}, {
            (4, 4): "item of operator()", (9, 10): "class given", (13, 14): "device", (18, 20): "given", (24, 24): "variable given",
            (29, 31): "item"})
        self.assertEqual(truth.undecided, {})


if __name__ == "__main__":
    unittest.main()
