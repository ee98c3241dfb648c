"""The operators that a Triton kernel computes, by the fragment of the graph in the comment above it."""

import pathlib
import sys
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kernelmill.capture import fragment, wrapper_text  # noqa: E402


def node(name, operator, *arguments, several=False):
    kind = "" if several else 'Tensor "f32[8, 8][8, 1]cuda:0"'
    return f"%{name} : {kind}[num_users=1] = call_function[target=torch.ops.{operator}]({', '.join(arguments)}), kwargs = {{}})"


def read(*names):
    return [f'%{name} : Tensor "f32[8, 8][8, 1]cuda:0" = PlaceHolder[target={name}]' for name in names]


def find(kernel, lines, writes, called=(), mapped=(), sizes=()):
    """Returns the operators and the nodes of a kernel with these lines above it."""
    comment = ["# Source node to ATen node mapping:", *(f"#   {line}" for line in mapped), fragment.TITLE, *(f"#   {line}" for line in lines),
               f"#   return {','.join('%' + name for name in writes)}"]
    part = fragment.find_part(fragment.read_fragment(comment), kernel, called, sizes)
    return part.operators, part.nodes


class FragmentTest(unittest.TestCase):
    def test_a_comment_without_a_fragment_is_none(self):
        self.assertIsNone(fragment.read_fragment(["# kernel path: ab/cab.py", "# Source Nodes: [add], Original ATen: [aten.add]"]))

    def test_all_that_leads_to_what_is_written_is_computed(self):
        operators, nodes = find("triton_poi_fused_add_mul_0", [
            *read("arg0_1", "arg1_1"), node("mul", "aten.mul.Tensor", "args = (%arg0_1, 2"), node("add", "aten.add.Tensor", "args = (%mul, %arg1_1")],
            ["add"], mapped=["twice => mul", "result => add"])
        self.assertEqual((operators, nodes), (["aten.mul", "aten.add"], ["twice", "result"]))

    def test_what_another_kernel_left_in_memory_ends_the_way_back(self):
        operators, nodes = find("triton_poi_fused_add_mul_1", [
            *read("mul", "arg1_1"), node("mul", "aten.mul.Tensor", "args = (%arg0_1, 2"), node("add", "aten.add.Tensor", "args = (%mul, %arg1_1")],
            ["add"], mapped=["twice => mul", "result => add"])
        self.assertEqual((operators, nodes), (["aten.add"], ["result"]))

    def test_a_copy_of_a_weight_computes_nothing(self):
        operators, nodes = find("triton_poi_fused_convolution_relu_0", [
            *read("arg1_1"), node("relu", "aten.relu.default", "args = (%arg0_1,"),
            node("convolution", "aten.convolution.default", "args = (%relu, %arg1_1, %arg2_1, [1, 1]")], ["buf1"], called={"aten.convolution"})
        self.assertEqual((operators, nodes), ([], []))

    def test_a_kernel_that_adds_a_bias_to_what_a_library_left_adds(self):
        lines = [*read("buf2", "arg2_1"), node("sin", "aten.sin.default", "args = (%arg0_1,"),
                 node("convolution", "aten.convolution.default", "args = (%sin, %arg1_1, %arg2_1, [1, 1]"),
                 node("relu", "aten.relu.default", "args = (%convolution,")]
        self.assertEqual(find("triton_poi_fused_convolution_relu_sin_1", lines, ["relu"], called={"aten.convolution"})[0], ["aten.add", "aten.relu"])

    def test_a_value_in_another_layout_is_computed_for_the_library_that_reads_it(self):
        lines = [*read("arg0_1"), node("relu", "aten.relu.default", "args = (%arg0_1,"),
                 node("convolution", "aten.convolution.default", "args = (%relu, %arg1_1, None, [1, 1]")]
        self.assertEqual(find("triton_poi_fused_convolution_relu_0", lines, ["buf0"], called={"aten.convolution"})[0], ["aten.relu"])

    def test_the_value_of_another_argument_is_not(self):
        lines = [*read("mm_2"), node("cos", "aten.cos.default", "args = (%mm,"), node("view", "aten.reshape.default", "args = (%mm_2, [2, 4]"),
                 node("attention", "aten._scaled_dot_product_efficient_attention.default", "args = (%cos, %view, None, False", several=True)]
        called = {"aten._scaled_dot_product_efficient_attention"}
        self.assertEqual(find("triton_poi_fused_attention_cos_view_3", lines, ["buf3"], called=called)[0], ["aten.reshape"])

    def test_a_template_computes_its_product_and_no_other(self):
        lines = [*read("mm", "arg1_1"), node("mm", "aten.mm.default", "args = (%arg0_1, %arg1_1"),
                 node("permute", "aten.permute.default", "args = (%arg1_1, [1, 0]"), node("mm_1", "aten.mm.default", "args = (%mm, %permute"),
                 node("relu", "aten.relu.default", "args = (%mm_1,")]
        self.assertEqual(find("triton_tem_fused_mm_relu_t_1", lines, ["relu"], called={"aten.mm"})[0], ["aten.permute", "aten.mm", "aten.relu"])

    def test_of_several_results_each_leads_to_the_node_that_has_them(self):
        lines = [*read("arg0_1"), node("var_mean", "aten.var_mean.correction", "args = (%arg0_1, [1]", several=True),
                 node("sub", "aten.sub.Tensor", "args = (%arg0_1, %getitem_1")]
        self.assertEqual(find("triton_per_fused_native_layer_norm_0", lines, ["getitem_1", "buf1", "sub"])[0], ["aten.var_mean", "aten.sub"])

    def test_the_second_step_of_a_sum_is_the_sum_alone(self):
        lines = [*read("buf4"), node("erf", "aten.erf.default", "args = (%addmm,"), node("sum_1", "aten.sum.dim_IntList", "args = (%erf, [0]")]
        self.assertEqual(find("triton_per_fused_gelu_sum_5", lines, ["sum_1"])[0], ["aten.sum"])

    def test_the_first_step_of_a_sum_is_what_it_sums_too(self):
        lines = [*read("addmm"), node("erf", "aten.erf.default", "args = (%addmm,"), node("mean", "aten.mean.dim", "args = (%erf, [0]"),
                 node("rsqrt", "aten.rsqrt.default", "args = (%mean,")]
        self.assertEqual(find("triton_red_fused_gelu_mean_rsqrt_4", lines, ["buf4"])[0], ["aten.erf", "aten.mean"])

    def test_behind_a_view_that_is_left_out_are_the_nodes_that_nothing_uses(self):
        lines = [*read("mm"), node("cos", "aten.cos.default", "args = (%mm,"), node("erf", "aten.erf.default", "args = (%addmm,"),
                 node("clone", "aten.clone.default", "args = (%expand,")]
        self.assertEqual(find("triton_poi_fused_clone_cos_2", lines, ["clone"])[0], ["aten.cos", "aten.clone"])

    def test_sizes_of_dynamic_shapes_are_there(self):
        lines = [*read("mm"), node("view", "aten.reshape.default", "args = (%mm, [%arg0_1, %mul_1, 8]"), node("iota", "prims.iota.default", "args = (%arg0_1,"),
                 node("cat", "aten.cat.default", "args = ([%view, %iota], -1"), node("neg", "aten.neg.default", "args = (%cat,")]
        self.assertEqual(find("triton_poi_fused_cat_neg_0", lines, ["neg"], sizes=["arg0_1"])[0], ["aten.reshape", "prims.iota", "aten.cat", "aten.neg"])
        self.assertEqual(find("triton_poi_fused_cat_neg_0", lines, ["neg"])[0], ["aten.neg"])

    def test_a_step_in_between_that_the_kernel_writes_and_reads_is_no_end(self):
        lines = [*read("arg0_1", "buf0"), node("pow_1", "aten.pow.Tensor_Scalar", "args = (%arg0_1, 2"),
                 node("mean", "aten.mean.dim", "args = (%pow_1, [-1], True"), node("mul", "aten.mul.Tensor", "args = (%arg0_1, %mean")]
        self.assertEqual(find("triton_per_fused_mean_mul_pow_0", lines, ["buf0", "mul"])[0], ["aten.pow", "aten.mean", "aten.mul"])


class WrapperTest(unittest.TestCase):
    def test_a_kernel_has_what_it_computes_and_not_what_its_launches_name(self):
        wrapper = wrapper_text.read_wrapper(textwrap.dedent("""\
            # Topologically Sorted Source Nodes: [conv, act], Original ATen: [aten.convolution, aten.relu]
            # Source node to ATen node mapping:
            #   act => relu
            #   conv => convolution
            # Graph fragment:
            #   %buf2 : Tensor "f32[8][1]cuda:0" = PlaceHolder[target=buf2]
            #   %convolution : Tensor "f32[8][1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.convolution.default](args = (%a, %b, None), kwargs = {})
            #   %relu : Tensor "f32[8][1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%convolution,), kwargs = {})
            #   return %relu
            k = async_compile.triton('k', '''x''')
            def call(args):
                buf2 = extern_kernels.convolution(a, b, bias=None)
                # Topologically Sorted Source Nodes: [conv, act], Original ATen: [aten.convolution, aten.relu]
                k.run(buf2)
                # Topologically Sorted Source Nodes: [conv_1, act_1], Original ATen: [aten.convolution, aten.relu]
                k.run(buf3)
            """))
        self.assertEqual((wrapper.kernels[0].operators, wrapper.kernels[0].nodes, wrapper.kernels[0].launches), (["aten.relu"], ["act"], 2))


if __name__ == "__main__":
    unittest.main()
