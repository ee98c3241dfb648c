#include "services/extractor/core/tags/value_flow.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor {
namespace {

std::string Names(ValueTraits traits) {
  const std::pair<ValueTraits, const char*> all[] = {
      {kLoaded, "loaded"},          {kComputed, "computed"}, {kReduced, "reduced"},
      {kScanned, "scanned"},        {kRandom, "random"},     {kGathered, "gathered"},
      {kAccumulated, "accumulated"}};
  std::string names;
  for (const auto& [trait, name] : all) {
    if ((traits & trait) != 0) absl::StrAppend(&names, names.empty() ? "" : " ", name);
  }
  return names;
}

// "ADDRESS <- VALUE" of each store, with the parameters p and q.
std::string Stores(absl::string_view text, code::Language language = code::Language::kPython) {
  const CodeText code(text, language);
  const absl::flat_hash_set<absl::string_view> parameters = {"p", "q", "cu_seqlens"};
  const absl::flat_hash_map<absl::string_view, ValueTraits> helpers = {{"helper", kReduced}};
  const ValueFlow flow(code, code.Statements(code.all()), parameters, helpers);
  std::string all;
  for (const ValueFlow::Store& store : flow.stores()) {
    absl::StrAppend(&all, Names(store.address), " <- ", Names(store.value), "\n");
  }
  return all;
}

TEST(ValueFlowTest, ACopyStoresWhatItLoads) {
  EXPECT_EQ(Stores("i = tl.program_id(0) * 4\ntl.store(q + i, tl.load(p + i).to(tl.float32))\n"),
            " <- loaded\n");
}

TEST(ValueFlowTest, WhatIsComputedOfLoadedValuesIs) {
  EXPECT_EQ(Stores("x = tl.load(p)\ny = tl.where(x > 0, x, 0)\ntl.store(q, y)\n"),
            " <- loaded computed\n");
  EXPECT_EQ(Stores("tl.store(q, 1 + 2)\n"), " <- \n");
}

TEST(ValueFlowTest, AddressesOfLoadedValuesGather) {
  EXPECT_EQ(Stores("i = tl.load(p)\ntl.store(q, tl.load(p + i))\n"), " <- loaded gathered\n");
  EXPECT_EQ(Stores("i = tl.load(p)\ntl.store(q + i, tl.load(p))\n"), "loaded computed <- loaded\n");
}

TEST(ValueFlowTest, WhereASegmentBeginsIsNoIndex) {
  EXPECT_EQ(Stores("i = tl.load(cu_seqlens)\ntl.store(q, tl.load(p + i))\n"), " <- loaded\n");
}

TEST(ValueFlowTest, ReductionsFlowThroughHelpersAndLoops) {
  EXPECT_EQ(Stores("tl.store(q, tl.sum(tl.load(p), 0))\n"), " <- loaded computed reduced\n");
  EXPECT_EQ(Stores("tl.store(q, helper(p))\n"), " <- reduced\n");
  EXPECT_EQ(Stores("for i in range(3):\n  tl.store(q, y)\n  y = tl.load(p)\n"), " <- loaded\n");
}

TEST(ValueFlowTest, WhatBeganAsNoneAccumulates) {
  EXPECT_EQ(Stores("a = 0\na += tl.load(p)\ntl.store(q, a)\n"),
            " <- loaded computed accumulated\n");
  EXPECT_EQ(Stores("a = 0\na = a * 2 + tl.load(p)\ntl.store(q, a)\n"),
            " <- loaded computed accumulated\n");
  EXPECT_EQ(Stores("a = tl.load(p)\na += tl.load(p)\ntl.store(q, a)\n"), " <- loaded computed\n");
}

TEST(ValueFlowTest, SubscriptsOfParametersAreLoadsAndStores) {
  EXPECT_EQ(Stores("q[...] = p[...] + 1\n"), " <- loaded computed\n");
  EXPECT_EQ(Stores("x = y[:, None]\nq[...] = x\n"), " <- \n");
}

TEST(ValueFlowTest, OfCPointersAreRead) {
  EXPECT_EQ(Stores("int i = threadIdx.x; q[i] = p[i] * 2;", code::Language::kC),
            " <- loaded computed\n");
  EXPECT_EQ(Stores("*q = *p;", code::Language::kC), " <- loaded\n");
}

TEST(ValueFlowTest, ATextMayEndAnywhere) {
  const absl::string_view text = "q[0] += tl.load(p[1] + f(x)) * helper(y @ z)\ntl.store(q, p)\n";
  for (const auto language : {code::Language::kPython, code::Language::kC}) {
    for (size_t end = 0; end <= text.size(); ++end) Stores(text.substr(0, end), language);
  }
}

TEST(ValueFlowTest, DeepBracketsAreLeftAlone) {
  EXPECT_EQ(Stores(absl::StrCat("tl.store(q, ", std::string(100000, '('), "p[0]",
                                std::string(100000, ')'), ")\n")),
            " <- loaded\n");
  std::string calls = "x = ";
  for (int i = 0; i < 50000; ++i) calls += "store(";
  EXPECT_EQ(Stores(absl::StrCat(calls, std::string(50000, ')'))).empty(), false);
}

}  // namespace
}  // namespace kernelmill::extractor
