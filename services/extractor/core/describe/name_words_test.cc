#include "services/extractor/core/describe/name_words.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor {
namespace {

std::string Found(const Fragments& fragments, absl::string_view name) {
  std::string all;
  for (const auto& [list, fragment] : fragments.FindIn(SplitWords(name))) {
    absl::StrAppend(&all, list, ":", fragment, " ");
  }
  return all;
}

TEST(FragmentsTest, OfEachListTheFirstThatStandsInTheNameIsFound) {
  const Fragments fragments({{"relu", "gelu", "_act_"}, {}, {"_act_", "silu"}});
  EXPECT_EQ(Found(fragments, "gelu_act_relu"), "0:relu 2:act ");
  EXPECT_EQ(Found(fragments, "siluActs"), "2:silu ");
  EXPECT_EQ(Found(fragments, "x"), "");
  EXPECT_EQ(Found(fragments, ""), "");
}

TEST(FragmentsTest, WordsBeginAndEndAtUnderscoresDotsAndCapitals) {
  const Fragments fragments({{"_mm_"}});
  for (const absl::string_view name : {"mm", "a.mm", "aMm", "mm_b"}) {
    EXPECT_EQ(Found(fragments, name), "0:mm ") << name;
  }
  for (const absl::string_view name : {"amm", "mmb", "AMM"}) {
    EXPECT_EQ(Found(fragments, name), "") << name;
  }
}

}  // namespace
}  // namespace kernelmill::extractor
