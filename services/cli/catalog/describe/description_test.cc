#include "services/cli/catalog/describe/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/cli/catalog/entries/kernel_row.h"
#include "services/cli/catalog/testing/catalog_rows.h"

namespace kernelmill::cli {
namespace {

using ::testing::HasSubstr;

CatalogKernel Softmax() { return *ParseKernelRow(testing::SoftmaxRow().dump()); }

// What the rule says; empty where it does not hold.
Sentence SentenceBy(const CatalogKernel& kernel, const std::string& rule) {
  for (const Sentence& sentence : Describe(kernel, ReadCodeFacts(kernel))) {
    if (sentence.rule == rule) return sentence;
  }
  return {};
}

TEST(Description, HasASentenceForEachRuleThatHolds) {
  const CatalogKernel kernel = Softmax();
  EXPECT_EQ(SentenceBy(kernel, "docstring").text, "Its docstring: \"Row-wise softmax.\"");
  EXPECT_EQ(SentenceBy(kernel, "tags").text, "It computes, or is a step of: softmax.");
  EXPECT_EQ(SentenceBy(kernel, "tags").evidence, "softmax by name:softmax");
  EXPECT_EQ(SentenceBy(kernel, "operations").text, "It calls for maxima along an axis.");
  EXPECT_EQ(SentenceBy(kernel, "parameters").text,
            "It takes 1 pointer (`out`) and 1 compile-time constant (`BLOCK`).");
  EXPECT_EQ(SentenceBy(kernel, "grid").text, "Its launcher's grid is `(x.shape[0],)`.");
  EXPECT_EQ(SentenceBy(kernel, "autotune").text,
            "It is autotuned over 1 configuration of `BLOCK` (128), anew for each `n`.");
  EXPECT_THAT(SentenceBy(kernel, "launcher").text, HasSubstr("the first of 2"));
}

TEST(Description, SaysNothingOfWhatIsNotKnown) {
  CatalogKernel kernel;
  kernel.dsl = "triton";
  kernel.source = "@triton.jit\ndef k(x):\n    helper(x)\n";
  kernel.calls = {"repository.ops.exp"};
  EXPECT_TRUE(Describe(kernel, ReadCodeFacts(kernel)).empty());
  EXPECT_EQ(Summary(kernel), "");
}

TEST(Description, ATagThatANarrowerOneImpliesIsLeftOut) {
  CatalogKernel kernel = Softmax();
  kernel.tags = {"backward", "layer_norm", "norm", "rms_norm"};
  EXPECT_EQ(SentenceBy(kernel, "tags").text,
            "It computes, or is a step of: layer normalization and RMS normalization.");
  EXPECT_THAT(SentenceBy(kernel, "direction").text, HasSubstr("backward pass"));
}

TEST(Description, ADecoratorOfTheRepositoryIsNamed) {
  CatalogKernel kernel = Softmax();
  EXPECT_EQ(SentenceBy(kernel, "decorators").text, "");
  kernel.decorators = {"@pointwise_dynamic(promotion=[0])", "@triton.jit"};
  EXPECT_EQ(SentenceBy(kernel, "decorators").text,
            "It is decorated by `pointwise_dynamic`, which is not the language's own.");
}

TEST(Summary, IsTheDocstringsFirstSentenceElseTheTags) {
  CatalogKernel kernel = Softmax();
  EXPECT_EQ(Summary(kernel), "Row-wise softmax.");
  kernel.docstring.clear();
  EXPECT_EQ(Summary(kernel), "Softmax");
}

}  // namespace
}  // namespace kernelmill::cli
