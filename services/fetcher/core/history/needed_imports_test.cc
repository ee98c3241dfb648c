#include "services/fetcher/core/history/needed_imports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/python/parse/python_parser.h"

namespace kernelmill::fetcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kText[] = R"(import torch
from a import used, host_only
from a import deep as d, other
try:
    from fast import exp
except ImportError:
    from slow import exp

SIZE = d(4)


def helper(x):
    return used(x) + SIZE


class Layer:
    def run(self):
        return host_only(self)


def make():
    from inner import late

    @triton.jit
    def k(x):
        return helper(exp(x)) + late

    return k
)";

// "module.member" of each import.
std::vector<std::string> Write(const Needed& needed) {
  std::vector<std::string> out;
  for (const v1::ImportedName& import : needed.imports) {
    out.push_back(absl::StrCat(import.module(), ".", import.member()));
  }
  return out;
}

NeededImports Read(const std::string& text) {
  const auto tree = python::StandardParser().Parse(text);
  EXPECT_TRUE(tree.ok());
  return NeededImports(*tree);
}

TEST(NeededImportsTest, KernelsNeedWhatTheirNamesLeadTo) {
  const Needed needed = Read(kText).OfKernels();
  EXPECT_THAT(Write(needed), ElementsAre("a.used", "a.deep", "fast.exp", "slow.exp", "inner.late"));
}

TEST(NeededImportsTest, ANameNeedsWhatItLeadsTo) {
  EXPECT_THAT(Write(Read(kText).OfNames({{"SIZE"}})), ElementsAre("a.deep"));
  EXPECT_THAT(Write(Read(kText).OfNames({{"torch"}})), ElementsAre("torch."));
  const Needed unknown = Read(kText).OfNames({{"gone"}});
  EXPECT_THAT(Write(unknown), IsEmpty());
  EXPECT_THAT(unknown.unbound, ElementsAre("gone"));
  EXPECT_EQ(Write(Read(kText).OfNames(std::nullopt)).size(), 7u) << "not those of functions";
}

TEST(NeededImportsTest, AWildcardIsAskedForWhatNothingBinds) {
  const Needed needed =
      Read("from a import *\nfrom b import c\n\n@triton.jit\ndef k(x): return c(x) + y + len(x)\n")
          .OfKernels();
  EXPECT_THAT(Write(needed), ElementsAre("a.", "b.c"));
  EXPECT_THAT(needed.unbound, ElementsAre("triton", "y"));
}

}  // namespace
}  // namespace kernelmill::fetcher
