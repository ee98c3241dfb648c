#include "client/review/flagged_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Kernel(const std::string& id, const std::string& not_utf8 = "") {
  return absl::StrCat(R"({"id": ")", id, R"(", "repository": "r", "path": "p)", id,
                      R"(", "name": "k", "sha256": "h)", id, R"(", "dsl": "cuda", "source": "s)",
                      id, R"(", "license": {"confidence": 1}, "word_overlap": null, "not_utf8": [)",
                      not_utf8, "]}\n");
}

std::string Pair(const std::string& cuda, const std::string& triton, double score, bool curated) {
  return absl::StrCat(R"({"cuda": {"id": ")", cuda, R"("}, "triton": {"id": ")", triton,
                      R"("}, "curated": )", curated ? "true" : "false", R"(, "score": )", score,
                      R"(, "shared": {"words": ["softmax"]}})", "\n");
}

class FlaggedItemsTest : public ::testing::Test {
 protected:
  FlaggedItemsTest() : folder_(*TempDir::Create()) {
    Put("kernels.jsonl", absl::StrCat(Kernel("1"), Kernel("2"),
                                      Kernel("3", R"({"field": "/path", "base64": "/w=="})")));
  }

  void Put(const std::string& name, const std::string& text) {
    EXPECT_THAT(WriteFile(folder_.path() + "/" + name, text), IsOk());
  }

  std::vector<std::string> Ids(const FlaggedOptions& options) {
    std::vector<std::string> ids;
    const auto items = FlaggedItems::Read(folder_.path(), options);
    EXPECT_THAT(items, IsOk());
    if (!items.ok()) return ids;
    for (const FlaggedItem& item : items->items()) ids.push_back(item.id);
    return ids;
  }

  const TempDir folder_;
};

TEST_F(FlaggedItemsTest, CandidatesComeByScoreAndCuratedPairsDoNot) {
  Put("cuda_triton_pairs.jsonl", absl::StrCat(Pair("1", "2", 0.6, false),
                                              Pair("1", "3", 0.8, false), Pair("2", "3", 1, true)));
  EXPECT_THAT(Ids({}), ElementsAre("pair:1-3", "pair:1-2"));
  EXPECT_THAT(Ids({.flags = {"license"}}), IsEmpty());
}

TEST_F(FlaggedItemsTest, APairHasBothTexts) {
  Put("cuda_triton_pairs.jsonl", Pair("1", "2", 0.6, false));
  const auto items = FlaggedItems::Read(folder_.path(), {});
  ASSERT_THAT(items, IsOk());
  const auto texts = items->Texts(items->items()[0], /*whole=*/false);
  ASSERT_THAT(texts, IsOk());
  ASSERT_EQ(texts->size(), 2u);
  EXPECT_EQ(texts->at(0).second, "s1");
  EXPECT_EQ(texts->at(1).second, "s2");
}

TEST_F(FlaggedItemsTest, ANameThatIsNotTheKernelsOwnIsInNoReference) {
  Put("cuda_triton_pairs.jsonl", Pair("1", "3", 0.6, false));
  const auto items = FlaggedItems::Read(folder_.path(), {});
  ASSERT_THAT(items, IsOk());
  const v1::Review review = FlaggedItems::NewReview(items->items()[0]);
  EXPECT_EQ(review.cuda().path(), "p1");
  EXPECT_EQ(review.triton().path(), "");
  EXPECT_EQ(review.triton().id(), "sha256:h3");
}

TEST_F(FlaggedItemsTest, WhatIsNoDatasetIsRefused) {
  EXPECT_THAT(FlaggedItems::Read(folder_.path() + "/gone", {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  Put("cuda_triton_pairs.jsonl", Pair("1", "gone", 0.6, false));
  EXPECT_THAT(FlaggedItems::Read(folder_.path(), {}), StatusIs(absl::StatusCode::kDataLoss));
  Put("cuda_triton_pairs.jsonl", "no JSON\n");
  EXPECT_THAT(FlaggedItems::Read(folder_.path(), {}), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::client
