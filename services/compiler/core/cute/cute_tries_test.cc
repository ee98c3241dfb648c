#include "services/compiler/core/cute/cute_tries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::compiler::cute {
namespace {

struct Text {
  std::string source;
  std::string launcher;
  std::string launcher_name = "launch";
  std::string module;  // with the source, if it is empty
};

Tries MakeTries(const Text& text) {
  const bool method = !text.source.empty() && text.source[0] == ' ';
  v1::Kernel kernel;
  kernel.set_name("k");
  kernel.set_qualname(method ? "Owner.k" : "k");
  kernel.set_source(text.source);
  kernel.set_module(text.module.empty() ? text.source : text.module);
  if (!text.launcher.empty()) {
    kernel.mutable_launcher()->set_qualname(text.launcher_name);
    kernel.mutable_launcher()->set_text(text.launcher);
  }
  const absl::StatusOr<Tries> made = MakeCuteTries(kernel);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *made : Tries();
}

// Returns "launch x=tensor<fp16[?]> guess:float N=64 guess:int " of a try, or what is missing.
std::string Format(const Tries& tries, size_t place = 0) {
  if (place >= tries.tries.size()) return "missing " + tries.missing;
  const v1::KernelSignature& signature = tries.tries[place];
  std::string text = absl::StrCat(signature.options(0).value(), " ");
  for (const v1::ArgumentType& argument : signature.arguments()) {
    absl::StrAppend(&text, argument.name(), "=", argument.type(), " ", argument.rule(), " ");
  }
  for (const v1::ConstexprValue& value : signature.constexprs()) {
    absl::StrAppend(&text, value.name(), "=", value.value(), " ", value.rule(), " ");
  }
  return text;
}

TEST(CuteTriesTest, AnnotationsSayWhatAParameterIs) {
  EXPECT_EQ(Format(MakeTries({.source = "@cute.kernel\n"
                                        "def k(x: cute.Tensor, n: Int32, s: cutlass.Float32,\n"
                                        "      p: cute.Pointer, N: cutlass.Constexpr[int],\n"
                                        "      FAST: cutlass.Constexpr[bool] = True):\n"
                                        "    x[0] = s\n"})),
            "kernel x=tensor<fp16[?]> guess:float n=i32 annotation s=fp32 annotation p=*fp16 "
            "guess:float N=64 guess:int FAST=True default ");
}

TEST(CuteTriesTest, CodeTellsModesAndElements) {
  const std::string kernel =
      "@cute.kernel\n"
      "def k(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, mIdx: cute.Tensor,\n"
      "      mD_mnl: cute.Tensor):\n"
      "    m, n, o = a.shape\n"
      "    b[0, 1] = c.shape[3]\n"
      "    if const_expr(b.element_type != Float32):\n"
      "        mIdx[n + 1] = 0\n";
  EXPECT_EQ(Format(MakeTries({.source = kernel})),
            "kernel a=tensor<fp16[?, ?, ?]> guess:float b=tensor<fp32[?, ?]> usage:compared "
            "c=tensor<fp16[?, ?, ?, ?]> guess:float mIdx=tensor<i32[?]> name:idx "
            "mD_mnl=tensor<fp16[?, ?, ?]> guess:float ");
}

TEST(CuteTriesTest, AKernelThatTakesLayoutsNeedsItsLauncher) {
  const std::string kernel =
      "@cute.kernel\n"
      "def k(x: cute.Tensor, layout: cute.Layout):\n"
      "    x[0, 0] = 1\n";
  EXPECT_EQ(Format(MakeTries({.source = kernel})), "missing type:layout");
  EXPECT_EQ(
      Format(MakeTries({.source = kernel,
                        .launcher = "@cute.jit\n"
                                    "def launch(mX: cute.Tensor, n: int, stream):\n"
                                    "    k(mX, cute.make_layout(n)).launch(grid=(1, 1, 1))\n"})),
      "launch mX=tensor<fp16[?, ?]> guess:float stream=stream annotation n=64 guess:int ");
}

TEST(CuteTriesTest, AMethodsObjectIsConstructed) {
  const std::string method =
      "    @cute.kernel\n    def k(self, x: cute.Tensor):\n        x[0] = 1\n";
  const std::string call =
      "    @cute.jit\n    def __call__(self, x: cute.Tensor):\n        self.k(x).launch()\n";
  const Text text = {
      .source = method,
      .launcher = call,
      .launcher_name = "Owner.__call__",
      .module = absl::StrCat("class Base:\n"
                             "    def __init__(self, dtype, tile_shape_mn,\n"
                             "                 cluster_shape_mnk, is_causal: bool):\n"
                             "        pass\n\n"
                             "class Owner(Base):\n",
                             method, call)};
  EXPECT_EQ(
      Format(MakeTries(text)),
      "Owner.__call__ x=tensor<fp16[?]> guess:float __init__.dtype=cutlass.Float16 guess:type "
      "__init__.tile_shape_mn=(128, 128) guess:tuple __init__.cluster_shape_mnk=(1, 1, 1) "
      "guess:tuple __init__.is_causal=False guess:flag ");
  EXPECT_EQ(Format(MakeTries({.source = method})), "missing launcher");
}

TEST(CuteTriesTest, AnOptionalTensorIsAbsentFirst) {
  const Tries tries =
      MakeTries({.source = "@cute.kernel\ndef k(x: Optional[cute.Tensor]):\n    x[0] = 1\n"});
  EXPECT_EQ(Format(tries), "kernel x=none guess:none ");
  EXPECT_EQ(Format(tries, 1), "kernel x=tensor<bf16[128]> guess:float ");
  EXPECT_EQ(tries.tries[1].attempt(), 2);
}

TEST(CuteTriesTest, AParameterWithoutAnnotationIsMissing) {
  EXPECT_EQ(Format(MakeTries({.source = "@cute.kernel\ndef k(x):\n    f(x)\n"})), "missing type:x");
  EXPECT_EQ(Format(MakeTries({.source = "k = 1\n"})), "missing function");
}

}  // namespace
}  // namespace kernelmill::compiler::cute
