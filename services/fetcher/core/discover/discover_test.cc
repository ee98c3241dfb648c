#include "services/fetcher/core/discover/discover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Row(const std::string& name, int stars) {
  return absl::StrCat(R"({"full_name":")", name, R"(","html_url":"https://github.com/)", name,
                      R"(","stargazers_count":)", stars, "}");
}

std::string Page(int64_t total, const std::vector<std::string>& rows, bool incomplete = false) {
  return absl::StrCat(R"({"total_count":)", total, R"(,"incomplete_results":)",
                      incomplete ? "true" : "false", R"(,"items":[)", absl::StrJoin(rows, ","),
                      "]}");
}

// Answers what a function says, and remembers what was asked and kept.
class FakeApi : public SearchApi {
 public:
  using Respond = std::function<absl::StatusOr<std::string>(const std::string& path)>;
  explicit FakeApi(Respond respond) : respond_(std::move(respond)) {}

  absl::StatusOr<ApiAnswer> Get(const std::string& path) override {
    asked.push_back(path);
    absl::StatusOr<std::string> body = respond_(path);
    if (!body.ok()) return body.status();
    return ApiAnswer{*std::move(body), "etag"};
  }
  void Keep(const std::string& path, const ApiAnswer&) override { kept.push_back(path); }

  std::vector<std::string> asked, kept;

 private:
  const Respond respond_;
};

v1::Discover TopicSearch(int limit = 1000) {
  v1::Discover search;
  search.set_min_stars(100);
  search.add_topics("triton");
  search.set_limit(limit);
  return search;
}

TEST(DiscoverRepositories, AreSortedByUrlEachOnce) {
  FakeApi api([](const std::string&) {
    return Page(3, {Row("b/b", 300), Row("a/a", 200), Row("b/b", 300)});
  });
  const auto found = DiscoverRepositories(TopicSearch(), api);
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(found->urls, ElementsAre("https://github.com/a/a", "https://github.com/b/b"));
  EXPECT_THAT(api.asked, SizeIs(1));
  EXPECT_EQ(api.kept, api.asked);
}

TEST(DiscoverRepositories, ALimitTakesThoseWithTheMostStarsThenByName) {
  FakeApi api([](const std::string&) {
    return Page(4, {Row("z/z", 500), Row("d/d", 200), Row("c/c", 200), Row("a/a", 100)});
  });
  const auto found = DiscoverRepositories(TopicSearch(2), api);
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(found->urls, ElementsAre("https://github.com/c/c", "https://github.com/z/z"));
}

TEST(DiscoverRepositories, WhatTheServerShouldNotHaveSentIsLeftOut) {
  FakeApi api([](const std::string&) {
    return Page(
        3,
        {Row("a/few", 99),
         R"({"full_name":"a/f","html_url":"https://x.org/f","stargazers_count":100,"fork":true})",
         R"({"full_name":"a/o","html_url":"https://x.org/o","stargazers_count":100,"archived":true})",
         R"({"full_name":"a/p","html_url":"https://x.org/p","stargazers_count":100,"private":true})"});
  });
  EXPECT_THAT(DiscoverRepositories(TopicSearch(), api)->urls, IsEmpty());
  v1::Discover all = TopicSearch();
  all.set_forks(true);
  all.set_archived(true);
  EXPECT_THAT(DiscoverRepositories(all, api)->urls,
              ElementsAre("https://x.org/f", "https://x.org/o"));
}

TEST(DiscoverRepositories, AnIncompletePageIsAskedForAgainAndNotKept) {
  int answers = 0;
  FakeApi api(
      [&](const std::string&) { return Page(1, {Row("a/a", 100)}, /*incomplete=*/++answers < 3); });
  const auto found = DiscoverRepositories(TopicSearch(), api);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->incomplete, 0);
  EXPECT_THAT(api.asked, SizeIs(3));
  EXPECT_THAT(api.kept, SizeIs(1));
}

TEST(DiscoverRepositories, APageThatStaysIncompleteIsTakenAndCounted) {
  FakeApi api([](const std::string&) { return Page(1, {Row("a/a", 100)}, /*incomplete=*/true); });
  const auto found = DiscoverRepositories(TopicSearch(), api);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->incomplete, 1);
  EXPECT_THAT(found->urls, SizeIs(1));
  EXPECT_THAT(api.kept, IsEmpty());
}

TEST(DiscoverRepositories, PagesThatEndEarlyAreTheLast) {
  FakeApi api([](const std::string& path) {
    return Page(500, absl::EndsWith(path, "&page=1") ? std::vector<std::string>{Row("a/a", 100)}
                                                     : std::vector<std::string>{});
  });
  EXPECT_THAT(DiscoverRepositories(TopicSearch(), api)->urls, SizeIs(1));
  EXPECT_THAT(api.asked, SizeIs(2));
}

TEST(DiscoverRepositories, RowsBeyondReachAtOneNumberOfStarsAreCounted) {
  FakeApi api([](const std::string& path) {
    // Whatever range has 100 in it has too many.
    return absl::StrContains(path, "%3A100..") || absl::StrContains(path, "%3E%3D100%20")
               ? Page(1500, {Row("a/a", 100)})
               : Page(0, {});
  });
  const auto found = DiscoverRepositories(TopicSearch(), api);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->out_of_reach, 500);
  EXPECT_THAT(found->urls, SizeIs(1));
}

TEST(DiscoverRepositories, AServerThatHasNoEndIsLeft) {
  FakeApi api([](const std::string&) { return Page(1'000'000, {Row("a/a", 100)}); });
  EXPECT_THAT(DiscoverRepositories(TopicSearch(), api, {.pages = 50}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(api.asked, SizeIs(50));
}

TEST(DiscoverRepositories, WhatIsNoAnswerIsDataLossAndNotKept) {
  FakeApi api([](const std::string&) { return "<html>"; });
  EXPECT_THAT(DiscoverRepositories(TopicSearch(), api), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(api.kept, IsEmpty());
}

TEST(DiscoverRepositories, ErrorsOfTheApiAreHandedOn) {
  FakeApi api([](const std::string&) { return absl::ResourceExhaustedError("later"); });
  EXPECT_THAT(DiscoverRepositories(TopicSearch(), api),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(DiscoverRepositories, MoreNamesThanMayBeLookedUpAreRefused) {
  v1::Discover search = TopicSearch();
  search.set_code("triton.jit");
  FakeApi api([](const std::string&) {
    return Page(2,
                {R"({"repository":{"full_name":"a/a"}})", R"({"repository":{"full_name":"b/b"}})"});
  });
  EXPECT_THAT(DiscoverRepositories(search, api, {.lookups = 1}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(DiscoverRepositories, ASearchWithoutConditionsIsRefusedUnasked) {
  FakeApi api([](const std::string&) { return Page(0, {}); });
  EXPECT_THAT(DiscoverRepositories(v1::Discover(), api),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(api.asked, IsEmpty());
}

}  // namespace
}  // namespace kernelmill::fetcher
