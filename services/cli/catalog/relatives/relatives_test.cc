#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/cli/catalog/relatives/overview.h"

namespace kernelmill::cli {
namespace {

using ::kernelmill::testing::StatusIs;
using ::testing::IsEmpty;

std::string Body(int first, int last) {
  std::string source = "def k(x):\n";
  for (int i = first; i < last; ++i)
    source += "    y" + std::to_string(i) + " = x + " + std::to_string(i) + "\n";
  return source;
}

CatalogEntry Entry(const std::string& name, const std::string& path, const std::string& source) {
  CatalogKernel kernel;
  kernel.dsl = "triton";
  kernel.source = source;
  CatalogEntry entry;
  entry.name = name;
  entry.repository = path;
  entry.path = path;
  entry.sketch = SketchOf(kernel);
  return entry;
}

TEST(Sketch, OfEqualTextsIsEqualAndOfHalfEqualOnesHalfAlike) {
  const CatalogEntry a = Entry("a", "a", Body(0, 200));
  EXPECT_EQ(SimilarityOf(a.sketch, Entry("b", "b", Body(0, 200) + "# a comment\n").sketch), 1);
  const double third = SimilarityOf(a.sketch, Entry("c", "c", Body(100, 300)).sketch);
  EXPECT_GT(third, 0.1);
  EXPECT_LT(third, 0.6);
  EXPECT_LT(SimilarityOf(a.sketch, Entry("d", "d", Body(1000, 1200)).sketch), 0.1);
}

TEST(Relatives, TheNearestComesFirstAndStrangersNever) {
  const std::vector<CatalogEntry> entries = {
      Entry("a", "1", Body(0, 100)), Entry("b", "2", Body(0, 90)), Entry("c", "3", Body(500, 600)),
      Entry("a", "4", Body(60, 160)), Entry("d", "3", Body(900, 1000))};
  const auto relatives = FindRelatives(entries);
  ASSERT_GE(relatives[0].size(), 2u);
  EXPECT_EQ(relatives[0][0].entry, 1u);
  EXPECT_STREQ(relatives[0][0].why, "alike");
  EXPECT_EQ(relatives[0][1].entry, 3u);
  ASSERT_EQ(relatives[2].size(), 1u);
  EXPECT_EQ(relatives[2][0].entry, 4u);
  EXPECT_STREQ(relatives[2][0].why, "same file");
}

TEST(Duplicates, AreThoseOfTheLedgerByTheKernelThatWasKept) {
  const auto folder = TempDir::Create();
  ASSERT_TRUE(folder.ok());
  EXPECT_THAT(*ReadDuplicates(folder->path()), IsEmpty());
  std::ofstream(folder->path() + "/ledger.jsonl")
      << R"({"fate": "kept", "of": null})"
      << "\n"
      << R"({"fate": "duplicate", "of": "a1", "repository": "r", "path": "p", "first_line": 3,)"
      << R"( "reason": "near", "similarity": 0.9, "url": null, "form": "decorated"})"
      << "\n"
      << R"({"fate": "duplicate", "of": "a1", "form": "file"})"
      << "\n";
  const auto duplicates = ReadDuplicates(folder->path());
  ASSERT_TRUE(duplicates.ok()) << duplicates.status();
  EXPECT_EQ(duplicates->at("a1").count, 1);
  EXPECT_EQ(duplicates->at("a1").first[0].first_line, 3);
  std::ofstream(folder->path() + "/ledger.jsonl") << "nothing\n";
  EXPECT_THAT(ReadDuplicates(folder->path()), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::cli
