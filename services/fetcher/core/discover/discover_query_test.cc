#include "services/fetcher/core/discover/discover_query.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

v1::Discover TritonSearch() {
  v1::Discover search;
  search.set_min_stars(100);
  search.set_language("Python");
  search.add_readme("triton");
  search.set_limit(1000);
  return search;
}

TEST(DiscoverQuery, RepositoriesAreAskedForWithEveryCondition) {
  v1::Discover search = TritonSearch();
  search.add_topics("gpu");
  EXPECT_EQ(RepositorySearchPath(search, {100}, 2),
            "/search/repositories?q=%22triton%22%20in%3Areadme%20stars%3A%3E%3D100%20language%3A"
            "Python%20topic%3Agpu%20is%3Apublic%20archived%3Afalse&sort=stars&order=desc&per_page="
            "100&page=2");
  search.set_forks(true);
  search.set_archived(true);
  search.set_language("any");
  search.clear_readme();
  EXPECT_EQ(RepositorySearchPath(search, {0}, 1),
            "/search/repositories?q=topic%3Agpu%20is%3Apublic%20fork%3Atrue&sort=stars&order=desc"
            "&per_page=100&page=1");
}

TEST(DiscoverQuery, CodeIsAskedForByLanguageAndSize) {
  v1::Discover search;
  search.set_code("triton.jit");
  search.set_language("Python");
  EXPECT_EQ(CodeSearchPath(search, {}, 1),
            "/search/code?q=%22triton.jit%22%20language%3APython&per_page=100&page=1");
  EXPECT_EQ(CodeSearchPath(search, {10, 20}, 1),
            "/search/code?q=%22triton.jit%22%20language%3APython%20size%3A10..20&per_page=100"
            "&page=1");
}

TEST(DiscoverQuery, WordsCannotBecomeConditions) {
  v1::Discover search = TritonSearch();
  search.set_readme(0, "x\" stars:0 \"&page=9");
  search.set_language("Jupyter Notebook");
  const std::string path = RepositorySearchPath(search, {1, 2}, 1);
  EXPECT_NE(path.find("q=%22x%20%20stars%3A0%20%20%26page%3D9%22%20in%3Areadme%20stars%3A1..2"
                      "%20language%3A%22Jupyter%20Notebook%22%20"),
            std::string::npos)
      << path;
}

TEST(DiscoverQuery, NamesAreOnePathEach) {
  EXPECT_EQ(RepositoryPath("triton-lang/triton"), "/repos/triton-lang/triton");
  EXPECT_EQ(RepositoryPath("a?b/c#d"), "/repos/a%3Fb/c%23d");
  for (const char* name : {"", "a", "a/", "/b", "a/b/c", "../b", "a/..", "./."}) {
    EXPECT_FALSE(IsRepositoryName(name)) << name;
  }
}

TEST(SplitRange, PartsAreTheWholeAndEndAtOneNumber) {
  std::vector<NumberRange> open = {{100}};
  int64_t next = NumberRange::kOpen;  // the parts come from the highest down
  int parts = 0;
  while (!open.empty()) {
    const NumberRange range = open.back();
    open.pop_back();
    if (const auto halves = SplitRange(range, 300)) {
      open.push_back(halves->second);
      open.push_back(halves->first);
      continue;
    }
    EXPECT_EQ(range.high, next);
    EXPECT_TRUE(range.low == range.high || (range.high == NumberRange::kOpen && range.low == 300));
    next = range.low - 1;
    ++parts;
  }
  EXPECT_EQ(next, 99);
  EXPECT_EQ(parts, 201);
}

TEST(SplitRange, LargeNumbersShareARange) {
  const auto halves = SplitRange({100, 10'000}, 1 << 20);
  ASSERT_TRUE(halves.has_value());
  EXPECT_EQ(halves->second.high, halves->first.low - 1);
  EXPECT_NEAR(halves->second.high, 1000, 10);
}

TEST(CheckSearch, NeedsAConditionAndALimit) {
  EXPECT_THAT(CheckSearch(TritonSearch()), IsOk());
  v1::Discover search = TritonSearch();
  search.clear_readme();
  EXPECT_THAT(CheckSearch(search), StatusIs(absl::StatusCode::kInvalidArgument));
  search = TritonSearch();
  search.clear_limit();
  EXPECT_THAT(CheckSearch(search), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::fetcher
