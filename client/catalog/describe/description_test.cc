#include "client/catalog/describe/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/testing/catalog_rows.h"

namespace kernelmill::client {
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

TEST(Description, ALaunchersDocstringIsLeftOutWhereItIsTheKernelsOwn) {
  CatalogKernel kernel = Softmax();
  kernel.launcher->text = "def softmax(x):\n    \"\"\"Softmax of rows.\"\"\"\n";
  EXPECT_THAT(SentenceBy(kernel, "launcher-docstring").text, HasSubstr("Softmax of rows."));
  kernel.docstring = "Softmax of rows.";
  EXPECT_EQ(SentenceBy(kernel, "launcher-docstring").text, "");
}

TEST(Description, OneAndSeveralAreSaidAsOneSaysThem) {
  CatalogKernel kernel = Softmax();
  kernel.kind = "example";
  kernel.source = "def k(x):\n    tl.program_id(0)\n    x.to(tl.float32)\n";
  EXPECT_EQ(SentenceBy(kernel, "kind").text, "It is an example.");
  EXPECT_EQ(SentenceBy(kernel, "programs").text,
            "Each program asks for its number along axis `0`.");
  EXPECT_EQ(SentenceBy(kernel, "dtypes").text, "Its code names the type float32.");
  kernel.source =
      "def k(x):\n    tl.program_id(0)\n    tl.program_id(1)\n    x.to(tl.float32).to(tl.int8)\n";
  EXPECT_EQ(SentenceBy(kernel, "programs").text,
            "Each program asks for its number along axes `0` and `1`.");
  EXPECT_EQ(SentenceBy(kernel, "dtypes").text, "Its code names the types float32 and int8.");
}

TEST(Summary, IsTheDocstringsFirstSentenceElseTheTags) {
  CatalogKernel kernel = Softmax();
  EXPECT_EQ(Summary(kernel), "Row-wise softmax.");
  kernel.docstring.clear();
  EXPECT_EQ(Summary(kernel), "Softmax");
}

}  // namespace
}  // namespace kernelmill::client
