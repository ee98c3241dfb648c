#include "services/fetcher/core/sharder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::fetcher {
namespace {

struct File {
  std::string path;
  int64_t bytes;
};

using Shard = std::vector<std::string>;

std::vector<Shard> Cut(const std::vector<File>& files, const ShardLimits& limits = {}) {
  std::vector<ShardItem> items;
  for (const File& file : files) items.push_back({file.path, file.bytes});
  std::vector<Shard> shards;
  for (const std::vector<size_t>& shard : CutShards(items, limits)) {
    Shard paths;
    for (const size_t index : shard) paths.push_back(files[index].path);
    shards.push_back(paths);
  }
  return shards;
}

std::vector<File> ManyFiles(int count, int64_t bytes) {
  std::vector<File> files;
  for (int i = 0; i < count; ++i)
    files.push_back({absl::StrCat("dir", i % 7, "/f", i, ".py"), bytes});
  return files;
}

TEST(Sharder, NothingGivesNoShard) { EXPECT_TRUE(Cut({}).empty()); }

TEST(Sharder, EveryFileOnceSortedAndWithinLimits) {
  const std::vector<File> files = ManyFiles(5000, 3000);
  std::multiset<std::string> seen;
  for (const Shard& shard : Cut(files)) {
    EXPECT_FALSE(shard.empty());
    EXPECT_LE(shard.size(), 256u);
    EXPECT_TRUE(std::is_sorted(shard.begin(), shard.end()));
    seen.insert(shard.begin(), shard.end());
  }
  std::multiset<std::string> expected;
  for (const File& file : files) expected.insert(file.path);
  EXPECT_EQ(seen, expected);
}

TEST(Sharder, ShardsAreNotTooSmall) {
  EXPECT_LE(Cut(ManyFiles(5000, 100)).size(), 5000 / 256 * 4u);
  EXPECT_EQ(Cut(ManyFiles(256, 100)).size(), 1u);
  EXPECT_EQ(Cut(ManyFiles(257, 100)).size(), 2u);
}

TEST(Sharder, LargeFileStandsAlone) {
  std::vector<File> files = ManyFiles(50, 1000);
  files.push_back({"huge.py", 5 << 20});
  int alone = 0;
  for (const Shard& shard : Cut(files)) {
    const bool has_huge = std::count(shard.begin(), shard.end(), "huge.py") > 0;
    if (has_huge) EXPECT_EQ(shard.size(), 1u);
    alone += has_huge;
  }
  EXPECT_EQ(alone, 1);
}

TEST(Sharder, OrderOfInputDoesNotMatter) {
  std::vector<File> files = ManyFiles(2000, 2500);
  const std::vector<Shard> shards = Cut(files);
  std::reverse(files.begin(), files.end());
  EXPECT_EQ(Cut(files), shards);
}

TEST(Sharder, OneMoreFileChangesAtMostOneShard) {
  const std::vector<File> files = ManyFiles(3000, 2000);
  const std::vector<Shard> before = Cut(files);
  for (int i = 0; i < 50; ++i) {
    std::vector<File> more = files;
    more.push_back({absl::StrCat("new", i, ".py"), 2000});
    int lost = 0;
    const std::vector<Shard> after = Cut(more);
    for (const Shard& shard : before) {
      lost += std::find(after.begin(), after.end(), shard) == after.end();
    }
    EXPECT_EQ(lost, 1) << i;
  }
}

// The cut is a part of every dataset digest.
TEST(Sharder, CutIsTheSameInEveryRelease) {
  const std::vector<Shard> shards =
      Cut({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}}, {2, 2});
  std::string text;
  for (const Shard& shard : shards) {
    for (const std::string& path : shard) text += path;
    text += " ";
  }
  EXPECT_EQ(text, "f bd c ae ");
}

}  // namespace
}  // namespace kernelmill::fetcher
