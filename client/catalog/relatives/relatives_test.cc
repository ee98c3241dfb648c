#include "client/catalog/relatives/relatives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <utility>

#include "common/base/file.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::StatusIs;
using ::testing::IsEmpty;

std::string Body(int first, int last) {
  std::string source = "def k(x):\n";
  for (int i = first; i < last; ++i)
    source += "    y" + std::to_string(i) + " = x + " + std::to_string(i) + "\n";
  return source;
}

std::vector<uint64_t> Runs(const std::string& source) {
  v1::KernelRow kernel;
  kernel.set_dsl(dsl::kTriton);
  kernel.set_source(source);
  return HashRuns(kernel);
}

TEST(Similarity, OfEqualTextsIsOneAndOfTheOthersTheShareOfTheirRuns) {
  const auto a = Runs(Body(0, 200));
  EXPECT_EQ(Similarity(a, Runs(Body(0, 200) + "# a comment\n")), 1);
  EXPECT_EQ(Similarity(a, {}), 0);
  EXPECT_EQ(Similarity({}, {}), 0);
  EXPECT_EQ(Similarity({1, 2, 3, 5}, {2, 3, 4}), 0.4);
  EXPECT_NEAR(Similarity(a, Runs(Body(100, 300))), 1.0 / 3, 0.02);
}

TEST(Sketch, EstimatesTheSimilarity) {
  const Sketch a = MakeSketch(Runs(Body(0, 200)));
  EXPECT_EQ(EstimatedSimilarity(a, MakeSketch(Runs(Body(0, 200)))), 1);
  EXPECT_NEAR(EstimatedSimilarity(a, MakeSketch(Runs(Body(100, 300)))), 1.0 / 3, 0.25);
  EXPECT_LT(EstimatedSimilarity(a, MakeSketch(Runs(Body(1000, 1200)))), 0.1);
}

class RelativesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempDir::Create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(*std::move(folder));
    auto runs = RunRecords::Create(folder_->path());
    ASSERT_TRUE(runs.ok());
    runs_.emplace(*std::move(runs));
  }

  void Add(const std::string& name, const std::string& path, const std::string& source) {
    CatalogEntry entry;
    entry.name = name;
    entry.repository = path;
    entry.path = path;
    entry.sketch = MakeSketch(Runs(source));
    EXPECT_TRUE(runs_->Add(Runs(source)).ok());
    entries_.push_back(std::move(entry));
  }

  std::optional<TempDir> folder_;
  std::optional<RunRecords> runs_;
  std::vector<CatalogEntry> entries_;
};

TEST_F(RelativesTest, TheNearestComesFirstAndStrangersNever) {
  Add("a", "1", Body(0, 100));
  Add("b", "2", Body(0, 90));
  Add("c", "3", Body(500, 600));
  Add("a", "4", Body(60, 160));
  Add("d", "3", Body(900, 1000));
  const auto relatives = FindRelatives(entries_, *runs_);
  ASSERT_TRUE(relatives.ok()) << relatives.status();
  ASSERT_GE((*relatives)[0].size(), 2u);
  EXPECT_EQ((*relatives)[0][0].entry, 1u);
  EXPECT_STREQ((*relatives)[0][0].why, "similar");
  EXPECT_EQ((*relatives)[0][0].similarity, Similarity(Runs(Body(0, 100)), Runs(Body(0, 90))));
  EXPECT_EQ((*relatives)[0][1].entry, 3u);
  ASSERT_EQ((*relatives)[2].size(), 1u);
  EXPECT_EQ((*relatives)[2][0].entry, 4u);
  EXPECT_STREQ((*relatives)[2][0].why, "same file");
}

TEST(Duplicates, AreThoseOfTheLedgerByTheKernelThatWasKept) {
  const auto folder = TempDir::Create();
  ASSERT_TRUE(folder.ok());
  EXPECT_THAT(ReadDuplicates(folder->path()), StatusIs(absl::StatusCode::kInvalidArgument));
  std::ofstream(folder->path() + "/ledger.jsonl")
      << R"({"id": "a1", "fate": "kept", "of": null})"
      << "\n"
      << R"({"id": "a2", "fate": "duplicate", "of": "a1", "repository": "r", "path": "p", "first_line": 3,)"
      << R"( "reason": "near", "similarity": 0.9, "url": null, "form": "decorated"})"
      << "\n"
      << R"({"id": "a2", "fate": "duplicate", "of": "a1", "form": "file"})"
      << "\n";
  const auto duplicates = ReadDuplicates(folder->path());
  ASSERT_TRUE(duplicates.ok()) << duplicates.status();
  EXPECT_EQ(duplicates->at("a1").count, 1);
  EXPECT_EQ(duplicates->at("a1").first[0].first_line, 3);
  std::ofstream(folder->path() + "/ledger.jsonl") << "nothing\n";
  EXPECT_THAT(ReadDuplicates(folder->path()), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::client
