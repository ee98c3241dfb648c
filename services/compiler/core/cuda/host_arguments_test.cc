#include "services/compiler/core/cuda/host_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::compiler::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns the values for the first two template parameters; "*" marks those that a name stands for.
std::vector<std::vector<std::string>> Format(const v1::Kernel& kernel) {
  std::vector<std::vector<std::string>> all;
  for (const std::vector<HostArgument>& arguments : FindHostArguments(kernel, 2)) {
    std::vector<std::string>& values = all.emplace_back();
    for (const HostArgument& argument : arguments)
      values.push_back(absl::StrCat(argument.value, argument.written ? "" : "*"));
  }
  return all;
}

// Finds the arguments of the first two template parameters of k.
std::vector<std::vector<std::string>> Find(const std::string& host,
                                           const std::string& module = "") {
  v1::Kernel kernel;
  kernel.set_name("k");
  kernel.set_module(module);
  kernel.mutable_launcher()->set_text(host);
  return Format(kernel);
}

TEST(HostArgumentsTest, ALaunchWritesThem) {
  v1::Kernel kernel;
  kernel.set_name("k");
  kernel.mutable_cuda()->add_launches()->set_text("k<half, 256><<<g, b>>>(x)");
  kernel.mutable_cuda()->add_launches()->set_text("k<float, 256><<<g, b>>>(x)");
  EXPECT_THAT(Format(kernel), ElementsAre(ElementsAre("half", "float"), ElementsAre("256")));
}

TEST(HostArgumentsTest, TheFunctionNamesTheKernelElsewhere) {
  EXPECT_THAT(Find("void f() {\n  auto* kernel = k<32, true>;\n  if (n) kernel = &k<64, true>;\n}"),
              ElementsAre(ElementsAre("32", "64"), ElementsAre("true")));
  EXPECT_THAT(Find("void f() { other_k<1, 2>(); k<<<g, b>>>(x); }"),
              ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(HostArgumentsTest, NamesStandForWhatTheHostFunctionSays) {
  EXPECT_THAT(Find("void f() {\n  constexpr int kBlock = 256;  // threads\n"
                   "  const int kSame = kBlock;\n  k<kSame, kLater><<<g, b>>>(x);\n"
                   "  int kLater = n;\n}"),
              ElementsAre(ElementsAre("256*"), IsEmpty()))
      << "a variable has no value that is known";
  EXPECT_THAT(Find("void f() {\n#define LAUNCH(H, V) \\\n  k<H, V><<<g, b>>>(x)\n"
                   "  if (h == 64) { LAUNCH(64, 4); } else { LAUNCH(128, n); }\n}"),
              ElementsAre(ElementsAre("64*", "128*"), ElementsAre("4*")));
}

TEST(HostArgumentsTest, TypesOfTheModuleMeanTheSame) {
  const std::string module =
      "template <int N, int M>\nstruct Config { };\nenum class Mode { kA };\n";
  EXPECT_THAT(
      Find("void f() {\n  using C = Config<4, 16>;\n  k<C, Mode::kA><<<g, b>>>(x);\n}", module),
      ElementsAre(ElementsAre("Config<4, 16>*"), ElementsAre("Mode::kA")));
  EXPECT_THAT(Find("void f() { k<Gone<4>, Other::kA>(); }", module),
              ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(Find("void f() { k<T, 1>(); }", "struct S {\n  using T = int;\n};\n"),
              ElementsAre(IsEmpty(), ElementsAre("1")))
      << "a member";
  EXPECT_THAT(Find("template <class Config>\nvoid f() { k<Config, 1>(); }", module),
              ElementsAre(IsEmpty(), ElementsAre("1")))
      << "a template parameter hides the module's name";
}

TEST(HostArgumentsTest, BrokenAndHostileTextsEndSomewhere) {
  for (const char* host :
       {"k<", "k<<<", "k<(", "#define M(", "#define M(N) k<N, 1> M(", "using k<k>"})
    Find(host);
  std::string loop;
  for (int i = 0; i < 200; ++i)
    absl::StrAppend(&loop, "constexpr int A = B; constexpr int B = A; ");
  EXPECT_THAT(Find(absl::StrCat(loop, "k<A, B>")), ElementsAre(IsEmpty(), IsEmpty()));
}

}  // namespace
}  // namespace kernelmill::compiler::cuda
