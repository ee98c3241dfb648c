#include "services/compiler/core/cuda/template_tries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kernelmill::compiler::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

v1::Kernel MakeKernel(const std::string& parameters, const std::string& launch = "",
                      const std::string& before = "") {
  v1::Kernel kernel;
  kernel.set_name("k");
  kernel.set_source(absl::StrCat("template <", parameters, "> __global__ void k() {}"));
  kernel.set_module(absl::StrCat(before, kernel.source()));
  kernel.mutable_cuda()->add_template_parameters(parameters);
  if (!launch.empty()) kernel.mutable_cuda()->add_launches()->set_text(launch);
  return kernel;
}

// Formats a signature: "float guess:type, 128 launch".
std::string Format(const v1::KernelSignature& signature) {
  std::vector<std::string> arguments;
  for (const v1::ConstexprValue& value : signature.constexprs())
    arguments.push_back(absl::StrCat(value.value(), " ", value.rule()));
  return absl::StrJoin(arguments, ", ");
}

std::string First(const v1::Kernel& kernel) {
  const TemplateTries made = MakeTemplateTries(kernel);
  return made.tries.empty() ? made.missing : Format(made.tries[0]);
}

TEST(TemplateTriesTest, AKernelThatIsNoTemplateHasOneTryWithoutArguments) {
  v1::Kernel kernel = MakeKernel("");
  kernel.mutable_cuda()->clear_template_parameters();
  const TemplateTries made = MakeTemplateTries(kernel);
  ASSERT_EQ(made.tries.size(), 1);
  EXPECT_THAT(made.tries[0].constexprs(), IsEmpty());
  EXPECT_EQ(made.tries[0].options(0).value(), "c++17");
  EXPECT_EQ(made.tries[0].attempt(), 1);
}

TEST(TemplateTriesTest, KindsOfParametersGetArguments) {
  EXPECT_EQ(First(MakeKernel("typename T")), "float guess:type");
  EXPECT_EQ(First(MakeKernel("class index_t")), "int guess:type");
  EXPECT_EQ(First(MakeKernel("int kHeadDim, unsigned int vec_size, bool B")),
            "128 guess:number, 4 guess:number, false guess:flag");
  EXPECT_EQ(First(MakeKernel("const int HEAD_DIM /* of q, k */, size_t kNumThreads")),
            "128 guess:number, 128 guess:number");
  EXPECT_EQ(First(MakeKernel("typename QuantT")), "signed char guess:type");
  EXPECT_EQ(First(MakeKernel("Mode M")), "static_cast<Mode>(0) guess:value");
}

TEST(TemplateTriesTest, TypesOfOneTryAreAlikeAndNeedTheirHeader) {
  const TemplateTries plain = MakeTemplateTries(MakeKernel("typename T, typename U"));
  EXPECT_EQ(Format(plain.tries[1]), "int guess:type, int guess:type");
  const TemplateTries half =
      MakeTemplateTries(MakeKernel("typename T, typename U", "", "#include <cuda_fp16.h>\n"));
  EXPECT_EQ(Format(half.tries[1]), "__half guess:type, __half guess:type");
}

TEST(TemplateTriesTest, ALaunchThatWritesItsArgumentsComesFirst) {
  EXPECT_EQ(First(MakeKernel("typename T, int N, bool B", "k<half, 256, true><<<g, b>>>(x)")),
            "half launch, 256 launch, true launch");
  EXPECT_EQ(First(MakeKernel("typename T, int N", "k<T, BLOCK><<<g, b>>>(x)")),
            "float guess:type, 4 guess:number")
      << "names of the host function";
  EXPECT_EQ(
      First(MakeKernel("Mode M", "k<Mode::kB><<<g, b>>>(x)", "enum class Mode { kA, kB };\n")),
      "Mode::kB launch");
  EXPECT_EQ(First(MakeKernel("int N", "k<<<g, b>>>(x)")), "4 guess:number") << "deduced";
}

// Only then is a refusal an error of the kernel.
TEST(TemplateTriesTest, AnArgumentThatMayBeAnotherLaunchsIsNoneOfALaunch) {
  v1::Kernel kernel = MakeKernel("typename T, int N", "k<half, 256><<<g, b>>>(x)");
  kernel.mutable_cuda()->add_launches()->set_text("k<float, 256><<<g, b>>>(x)");
  EXPECT_EQ(First(kernel), "half launch, 256 launch");
  kernel.mutable_cuda()->add_launches()->set_text("k<float, 128><<<g, b>>>(x)");
  EXPECT_EQ(First(kernel), "half host, 256 host");
}

TEST(TemplateTriesTest, ADefaultIsTakenUntilOneNamesAnotherParameter) {
  EXPECT_EQ(First(MakeKernel("typename T, int N = 3, typename U = T, int M = 5")),
            "float guess:type, 3 default");
  EXPECT_EQ(First(MakeKernel("typename T, typename = std::enable_if_t<true>")), "float guess:type");
}

TEST(TemplateTriesTest, ATypeWithMembersIsAStructOfTheModule) {
  v1::Kernel kernel =
      MakeKernel("typename Traits", "", "struct Small { static const int n = 1; };\n");
  EXPECT_EQ(First(kernel), "Small guess:struct");
  kernel.set_module(kernel.source());
  EXPECT_EQ(First(kernel), "template:Traits");
  EXPECT_EQ(First(MakeKernel("float (*OP)(float, int)")), "template:");
}

TEST(TemplateTriesTest, AStructHasTheMembersThatTheKernelUses) {
  v1::Kernel kernel = MakeKernel("typename Traits");
  kernel.set_source(
      "template <typename Traits> __global__ void k() { f(Traits::n, Traits::T{}); }");
  kernel.set_module(
      absl::StrCat("struct Other { static const int n = 1; };\n"
                   "template <int N>\nstruct Maker { using T = int; int n; };\n"
                   "struct Full { static const int n = 1; using T = int; };\n",
                   kernel.source()));
  EXPECT_EQ(First(kernel), "Full guess:struct");
}

TEST(TemplateTriesTest, AKernelComparesAParameterWithItsValues) {
  v1::Kernel kernel = MakeKernel("int N, int M, typename T, Mode O");
  kernel.set_source(
      "template <int N, int M, typename T, Mode O> __global__ void k() {\n"
      "  static_assert(N == 2 || N == 16, \"\");\n  if constexpr (M == 3) f();\n"
      "  if (i % M == 0) f();\n  static_assert(std::is_same_v<T, half> && O == Mode::kB);\n}");
  kernel.set_module(kernel.source());
  const TemplateTries made = MakeTemplateTries(kernel);
  EXPECT_EQ(Format(made.tries[0]),
            "2 guess:compared, 4 guess:number, half guess:compared, Mode::kB guess:compared");
  EXPECT_EQ(Format(made.tries[3]),
            "16 guess:compared, 3 guess:compared, half guess:compared, Mode::kB guess:compared");
}

TEST(TemplateTriesTest, MacrosOfConditionsAreDefinedInTheLastTries) {
  const TemplateTries made = MakeTemplateTries(MakeKernel(
      "typename T", "",
      "#define OURS 1\n#ifdef ENABLE_BF16\n#endif\n#if OURS || defined(USE_HIP)\n#endif\n"));
  EXPECT_EQ(made.tries.front().options(0).name(), "std");
  EXPECT_EQ(made.tries.back().options(0).name(), "define");
  EXPECT_EQ(made.tries.back().options(0).value(), "ENABLE_BF16");
  EXPECT_LE(made.tries.size(), kMaxTemplateTries);
}

TEST(TemplateTriesTest, TheStandardIsThatOfTheModulesWords) {
  const TemplateTries made =
      MakeTemplateTries(MakeKernel("typename T", "", "template <class T> concept C = true;\n"));
  EXPECT_EQ(made.tries[0].options(0).value(), "c++20");
}

TEST(TemplateTriesTest, BrokenTextsEndSomewhere) {
  for (const char* parameters : {"<<<", "typename T, ", ">>", "/*", "int", "...", "=", "a=b<c"}) {
    MakeTemplateTries(MakeKernel(parameters, absl::StrCat("k<", parameters)));
  }
  EXPECT_THAT(First(MakeKernel("int")), StartsWith("4"));
}

}  // namespace
}  // namespace kernelmill::compiler::cuda
