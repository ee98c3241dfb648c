#include "common/tokens/vocabulary.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::bpe {
namespace {

std::string Bytes(int from, int to) {
  std::string words;
  for (int byte = from; byte < to; ++byte) {
    absl::StrAppend(&words, " ", absl::Base64Escape(std::string(1, static_cast<char>(byte))));
  }
  return words;
}

std::string Json(absl::string_view ranks) {
  return absl::StrCat("{\"bpe_ranks\":\"", ranks, "\"}");
}

TEST(Vocabulary, RanksCountFromEachRunsFirst) {
  const auto vocabulary = Vocabulary::Parse(
      Json(absl::StrCat("! 0", Bytes(0, 256), " ! 300 ", absl::Base64Escape("tl"))));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ(vocabulary->Rank("a"), 97u);
  EXPECT_EQ(vocabulary->Rank("tl"), 300u);
  EXPECT_EQ(vocabulary->Rank("lt"), kNoRank);
  EXPECT_EQ(vocabulary->Rank("tl."), kNoRank);
  EXPECT_EQ(vocabulary->size(), 257u);
}

TEST(Vocabulary, RefusesWhatIsNone) {
  EXPECT_FALSE(Vocabulary::Parse("").ok());
  EXPECT_FALSE(Vocabulary::Parse("[]").ok());
  EXPECT_FALSE(Vocabulary::Parse(Json("! x")).ok());
  EXPECT_FALSE(Vocabulary::Parse(Json("! 0 ?")).ok());
  EXPECT_FALSE(Vocabulary::Parse(Json(absl::StrCat("! 0", Bytes(0, 255)))).ok());
}

}  // namespace
}  // namespace kernelmill::bpe
