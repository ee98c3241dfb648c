#include "client/catalog/describe/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/testing/catalog_rows.h"
#include "common/dsl/names.h"

namespace kernelmill::client {
namespace {

using ::testing::HasSubstr;

v1::KernelRow Softmax() { return testing::ToKernel(testing::SoftmaxRow()); }

// Returns the rule's sentence; empty if the rule does not apply.
Sentence SentenceBy(const v1::KernelRow& kernel, const std::string& rule) {
  for (const Sentence& sentence : Describe(kernel, ReadCodeFacts(kernel))) {
    if (sentence.rule == rule) return sentence;
  }
  return {};
}

TEST(Description, HasASentenceForEachRuleThatHolds) {
  const v1::KernelRow kernel = Softmax();
  EXPECT_EQ(SentenceBy(kernel, "docstring").text, "Docstring: \"Row-wise softmax.\"");
  EXPECT_EQ(SentenceBy(kernel, "tags").text, "Computes softmax, or a step of it.");
  EXPECT_EQ(SentenceBy(kernel, "tags").evidence, "softmax by name:softmax");
  EXPECT_EQ(SentenceBy(kernel, "operations").text, "Uses maxima along an axis.");
  EXPECT_EQ(SentenceBy(kernel, "parameters").text,
            "Takes 1 pointer (`out`) and 1 compile-time constant (`BLOCK`).");
  EXPECT_EQ(SentenceBy(kernel, "grid").text, "Launch grid: `(x.shape[0],)`.");
  EXPECT_EQ(SentenceBy(kernel, "autotune").text,
            "Autotuned over 1 configuration of `BLOCK` (128), again for each `n`.");
  EXPECT_THAT(SentenceBy(kernel, "launcher").text, HasSubstr("the first of 2"));
}

TEST(Description, SaysNothingOfWhatIsNotKnown) {
  v1::KernelRow kernel;
  kernel.set_dsl(dsl::kTriton);
  kernel.set_source("@triton.jit\ndef k(x):\n    helper(x)\n");
  testing::SetTexts({"repository.ops.exp"}, kernel.mutable_calls());
  EXPECT_TRUE(Describe(kernel, ReadCodeFacts(kernel)).empty());
  EXPECT_EQ(Summary(kernel), "");
}

TEST(Description, ATagThatANarrowerOneImpliesIsLeftOut) {
  v1::KernelRow kernel = Softmax();
  testing::SetTexts({"backward", "layer_norm", "norm", "rms_norm"}, kernel.mutable_tags());
  EXPECT_EQ(SentenceBy(kernel, "tags").text,
            "Computes layer normalization and RMS normalization, or steps of them.");
  EXPECT_THAT(SentenceBy(kernel, "direction").text, HasSubstr("Backward pass"));
}

TEST(Description, ADecoratorOfTheRepositoryIsNamed) {
  v1::KernelRow kernel = Softmax();
  EXPECT_EQ(SentenceBy(kernel, "decorators").text, "");
  testing::SetTexts({"@pointwise_dynamic(promotion=[0])", "@triton.jit"},
                    kernel.mutable_decorators());
  EXPECT_EQ(SentenceBy(kernel, "decorators").text,
            "Decorated with `pointwise_dynamic`, not a decorator of the language.");
}

TEST(Description, ALaunchersDocstringIsLeftOutWhereItIsTheKernelsOwn) {
  v1::KernelRow kernel = Softmax();
  kernel.mutable_launcher()->set_text("def softmax(x):\n    \"\"\"Softmax of rows.\"\"\"\n");
  EXPECT_THAT(SentenceBy(kernel, "launcher-docstring").text, HasSubstr("Softmax of rows."));
  kernel.set_docstring("Softmax of rows.");
  EXPECT_EQ(SentenceBy(kernel, "launcher-docstring").text, "");
}

TEST(Description, OneAndSeveralAreSaidAsOneSaysThem) {
  v1::KernelRow kernel = Softmax();
  kernel.set_kind("example");
  kernel.set_source("def k(x):\n    tl.program_id(0)\n    x.to(tl.float32)\n");
  EXPECT_EQ(SentenceBy(kernel, "kind").text, "This is an example.");
  EXPECT_EQ(SentenceBy(kernel, "programs").text, "1-D launch grid.");
  EXPECT_EQ(SentenceBy(kernel, "dtypes").text, "Type in the code: float32.");
  kernel.set_source(
      "def k(x):\n    tl.program_id(0)\n    tl.program_id(1)\n    x.to(tl.float32).to(tl.int8)\n");
  EXPECT_EQ(SentenceBy(kernel, "programs").text, "2-D launch grid.");
  kernel.set_target("ascend");
  EXPECT_EQ(SentenceBy(kernel, "target").text, "Targets Ascend NPUs only.");
  EXPECT_EQ(SentenceBy(kernel, "dtypes").text, "Types in the code: float32 and int8.");
}

TEST(Summary, IsTheDocstringsFirstSentenceElseTheTags) {
  v1::KernelRow kernel = Softmax();
  EXPECT_EQ(Summary(kernel), "Row-wise softmax.");
  kernel.set_docstring("Gradient w.r.t. the input, e.g. of LayerNorm. It needs the mean.");
  EXPECT_EQ(Summary(kernel), "Gradient w.r.t. the input, e.g. of LayerNorm");
  for (const char* heading : {"References: https://example.com/softmax. A page.",
                              "Grid: (rows, blocks)", "Computes the following: 1. a"}) {
    kernel.set_docstring(heading);
    EXPECT_EQ(Summary(kernel), "Softmax") << heading;
  }
  kernel.clear_docstring();
  EXPECT_EQ(Summary(kernel), "Softmax");
}

TEST(CopyrightHolder, IsWhatStandsBehindYearsAndMarks) {
  EXPECT_EQ(CopyrightHolder("# Copyright (c) 2024, Tri Dao."), "Tri Dao");
  EXPECT_EQ(CopyrightHolder("Copyright 2023 Tri Dao, Albert Gu"), "Tri Dao, Albert Gu");
  EXPECT_EQ(CopyrightHolder("// Copyright \xc2\xa9 2019-2024 Ada GmbH. All rights reserved."),
            "Ada GmbH");
  EXPECT_EQ(CopyrightHolder("Copyright (c) 2023-present, the authors <a@b.example>"),
            "the authors");
  EXPECT_EQ(CopyrightHolder("Copyright 3M Company"), "3M Company");
  EXPECT_EQ(CopyrightHolder("Copyright"), "");
}

TEST(Author, IsWhoTheFileNamesElseTheHoldersElseTheOwner) {
  v1::KernelRow kernel;
  EXPECT_EQ(FindAuthor(kernel).name, "");
  kernel.set_repository_url("https://example.com/ada/kernels");
  EXPECT_EQ(FindAuthor(kernel).name, "ada");
  EXPECT_EQ(FindAuthor(kernel).evidence, "owner");
  testing::SetTexts({"Copyright (c) 2024, A.", "Copyright 2023 A, B", "(c) B"},
                    kernel.mutable_license()->mutable_copyrights());
  EXPECT_EQ(FindAuthor(kernel).name, "A, B");
  kernel.set_module("__author__ = 'C'\nx = 1\n");
  EXPECT_EQ(FindAuthor(kernel).name, "C");
  EXPECT_EQ(FindAuthor(kernel).evidence, "__author__");
}

}  // namespace

}  // namespace kernelmill::client
