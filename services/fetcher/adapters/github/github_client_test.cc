#include "services/fetcher/adapters/github/github_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/github/testing/github_stub.h"
#include "services/fetcher/core/discover/discover.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class MemoryPageCache : public PageCache {
 public:
  std::optional<CachedPage> Find(const std::string& url) override {
    const auto found = pages.find(url);
    return found == pages.end() ? std::nullopt : std::optional<CachedPage>(found->second);
  }
  void Keep(const std::string& url, const CachedPage& page) override { pages[url] = page; }

  std::map<std::string, CachedPage> pages;
};

class GithubClientTest : public ::testing::Test {
 protected:
  GithubClientTest() {
    options_.api = stub_.Url();
    options_.now = [this] { return now_; };
    options_.sleep = [this](absl::Duration time) {
      slept_.push_back(time);
      now_ += time;
    };
  }

  static v1::Discover TopicSearch() {
    v1::Discover search;
    search.set_min_stars(100);
    search.set_language("Python");
    search.add_topics("triton");
    search.set_limit(5000);
    return search;
  }

  static v1::Discover CodeSearch() {
    v1::Discover search;
    search.set_min_stars(100);
    search.set_language("Python");
    search.set_code("triton.jit");
    search.set_limit(1000);
    return search;
  }

  void UseToken() {
    stub_.SetToken("secret-token");
    options_.token = "secret-token";
  }

  // The answer to one path, by a client of its own.
  absl::StatusOr<ApiAnswer> Get(const std::string& path) {
    GithubClient client(options_, cache_);
    return client.Get(path);
  }

  absl::StatusOr<Discovery> Discover(const v1::Discover& search) {
    GithubClient client(options_, cache_);
    absl::StatusOr<Discovery> found = DiscoverRepositories(search, client);
    requests_ = client.requests();
    not_modified_ = client.not_modified();
    return found;
  }

  static std::string WebUrl(const std::string& name) {
    return absl::StrCat("https://github.com/", name);
  }

  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::vector<absl::Duration> slept_;
  GithubStub stub_;
  MemoryPageCache cache_;
  GithubOptions options_;
  int64_t requests_ = 0;
  int64_t not_modified_ = 0;
};

TEST_F(GithubClientTest, ARequestIsAsTheApiWantsIt) {
  UseToken();
  stub_.Add({"a/b", 100});
  ASSERT_THAT(Get("/repos/a/b"), IsOk());
  const auto headers = stub_.LastRequest().headers;
  EXPECT_EQ(headers.at("accept"), "application/vnd.github+json");
  EXPECT_EQ(headers.at("x-github-api-version"), "2022-11-28");
  EXPECT_EQ(headers.at("user-agent"), "kernelmill-fetcher");
  EXPECT_EQ(headers.at("authorization"), "Bearer secret-token");
  EXPECT_EQ(headers.count("if-none-match"), 0u);
  options_.token = "";
  ASSERT_THAT(Get("/repos/a/b"), IsOk());
  EXPECT_EQ(stub_.LastRequest().headers.count("authorization"), 0u);
}

TEST_F(GithubClientTest, FindsWhatMeetsAllConditions) {
  stub_.Add({.name = "a/good", .stars = 100, .topics = {"triton"}, .readme = "uses triton"});
  stub_.Add({.name = "a/few", .stars = 99, .topics = {"triton"}, .readme = "uses triton"});
  stub_.Add({.name = "a/other",
             .stars = 100,
             .language = "C++",
             .topics = {"triton"},
             .readme = "uses triton"});
  stub_.Add({.name = "a/none", .stars = 100, .readme = "uses triton"});
  stub_.Add({.name = "a/silent", .stars = 100, .topics = {"triton"}});
  stub_.Add(
      {.name = "a/fork", .stars = 100, .topics = {"triton"}, .readme = "triton", .fork = true});
  stub_.Add(
      {.name = "a/old", .stars = 100, .topics = {"triton"}, .readme = "triton", .archived = true});
  stub_.Add({.name = "a/mine",
             .stars = 100,
             .topics = {"triton"},
             .readme = "triton",
             .is_private = true});
  v1::Discover search = TopicSearch();
  search.add_readme("triton");
  EXPECT_THAT(Discover(search)->urls, ElementsAre(WebUrl("a/good")));
  search.set_forks(true);
  search.set_archived(true);
  search.set_language("any");
  EXPECT_THAT(Discover(search)->urls,
              ElementsAre(WebUrl("a/fork"), WebUrl("a/good"), WebUrl("a/old"), WebUrl("a/other")));
}

TEST_F(GithubClientTest, TakesPageAfterPage) {
  for (int i = 0; i < 250; ++i) {
    stub_.Add({.name = absl::StrCat("a/r", i), .stars = 100 + i, .topics = {"triton"}});
  }
  EXPECT_THAT(Discover(TopicSearch())->urls, SizeIs(250));
  EXPECT_EQ(requests_, 3);
}

TEST_F(GithubClientTest, WhatIsBeyondTheFirstThousandIsFoundByStars) {
  std::set<std::string> all;
  for (int i = 0; i < 2600; ++i) {
    const std::string name = absl::StrCat("a/r", i);
    stub_.Add({.name = name, .stars = 100 + i * i / 500, .topics = {"triton"}});
    all.insert(WebUrl(name));
  }
  const auto found = Discover(TopicSearch());
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->urls, std::vector<std::string>(all.begin(), all.end()));
  EXPECT_EQ(found->out_of_reach, 0);
  EXPECT_LT(requests_, 60);
}

TEST_F(GithubClientTest, ALimitNeedsOnlyTheRangesWithTheMostStars) {
  for (int i = 0; i < 2600; ++i) {
    stub_.Add({.name = absl::StrCat("a/r", i), .stars = 100 + i, .topics = {"triton"}});
  }
  v1::Discover search = TopicSearch();
  search.set_limit(3);
  EXPECT_THAT(Discover(search)->urls,
              ElementsAre(WebUrl("a/r2597"), WebUrl("a/r2598"), WebUrl("a/r2599")));
  const int64_t few = requests_;
  cache_.pages.clear();
  ASSERT_THAT(Discover(TopicSearch()), IsOk());
  EXPECT_LT(few, requests_);
}

TEST_F(GithubClientTest, CodeIsSearchedForAndItsRepositoriesAreLookedUp) {
  UseToken();
  stub_.Add({.name = "a/good", .stars = 100, .code = "@triton.jit"});
  stub_.Add({.name = "a/few", .stars = 99, .code = "@triton.jit"});
  stub_.Add({.name = "a/old", .stars = 100, .code = "@triton.jit", .archived = true});
  stub_.Add({.name = "a/mine", .stars = 100, .code = "@triton.jit", .is_private = true});
  stub_.Add({.name = "a/without", .stars = 100, .code = "import triton"});
  stub_.Add({.name = "a/moved", .stars = 100, .code = "@triton.jit"});
  stub_.Add({.name = "b/moved", .stars = 300, .topics = {"gpu"}});
  stub_.Rename("a/moved", "b/moved");
  EXPECT_THAT(Discover(CodeSearch())->urls, ElementsAre(WebUrl("a/good"), WebUrl("b/moved")));
  v1::Discover with_topic = CodeSearch();
  with_topic.add_topics("GPU");
  EXPECT_THAT(Discover(with_topic)->urls, ElementsAre(WebUrl("b/moved")));
}

TEST_F(GithubClientTest, CodeAndReadmeWordsAreFoundByBothSearches) {
  UseToken();
  stub_.Add({.name = "a/both", .stars = 100, .readme = "fast kernels", .code = "@triton.jit"});
  stub_.Add({.name = "a/code", .stars = 100, .code = "@triton.jit"});
  stub_.Add({.name = "a/readme", .stars = 100, .readme = "fast kernels"});
  v1::Discover search = CodeSearch();
  search.add_readme("kernels");
  EXPECT_THAT(Discover(search)->urls, ElementsAre(WebUrl("a/both")));
}

TEST_F(GithubClientTest, CodeBeyondTheFirstThousandIsFoundBySize) {
  UseToken();
  for (int i = 0; i < 1500; ++i) {
    stub_.Add({.name = absl::StrCat("a/r", i % 40),  // many files, few repositories
               .stars = 100,
               .code = "triton.jit",
               .code_bytes = 50 + i * 7});
  }
  const auto found = Discover(CodeSearch());
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(found->urls, SizeIs(40));
  EXPECT_EQ(found->out_of_reach, 0);
}

TEST_F(GithubClientTest, WhatIsKnownIsAskedForByItsTagAndNotSentAgain) {
  for (int i = 0; i < 150; ++i) {
    stub_.Add({.name = absl::StrCat("a/r", i), .stars = 100 + i, .topics = {"triton"}});
  }
  const auto first = Discover(TopicSearch());
  EXPECT_EQ(not_modified_, 0);
  const auto second = Discover(TopicSearch());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->urls, first->urls);
  EXPECT_EQ(requests_, 2);
  EXPECT_EQ(not_modified_, 2);
  // A change is noticed.
  stub_.Add({.name = "a/new", .stars = 100, .topics = {"triton"}});
  EXPECT_THAT(Discover(TopicSearch())->urls, SizeIs(151));
  // A cache that is lost costs requests, and nothing else.
  cache_.pages.clear();
  EXPECT_THAT(Discover(TopicSearch())->urls, SizeIs(151));
  EXPECT_EQ(not_modified_, 0);
}

TEST_F(GithubClientTest, IncompletePagesAreNotKept) {
  stub_.Add({.name = "a/a", .stars = 100, .topics = {"triton"}});
  stub_.LeaveIncomplete(3);
  const auto found = Discover(TopicSearch());
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->incomplete, 1);
  EXPECT_TRUE(cache_.pages.empty());
}

TEST_F(GithubClientTest, AnAnswerThatNothingChangedNeedsAQuestion) {
  stub_.AnswerNext({304});
  EXPECT_THAT(Get("/repos/a/b"), Not(IsOk()));
}

TEST_F(GithubClientTest, AShortRateLimitIsWaitedFor) {
  stub_.Add({"a/b", 100});
  GithubStub::Answer limit = GithubStub::Error(403, "API rate limit exceeded");
  limit.headers = {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", "1700000030"}};
  stub_.AnswerNext(limit);
  GithubStub::Answer secondary = GithubStub::Error(429, "You have exceeded a secondary rate limit");
  secondary.headers = {{"Retry-After", "5"}};
  stub_.AnswerNext(secondary);
  ASSERT_THAT(Get("/repos/a/b"), IsOk());
  EXPECT_THAT(slept_, ElementsAre(absl::Seconds(31), absl::Seconds(5)));
}

TEST_F(GithubClientTest, ALongRateLimitIsToBeTriedAgainLater) {
  GithubStub::Answer limit = GithubStub::Error(403, "API rate limit exceeded");
  limit.headers = {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", "1700003600"}};
  stub_.AnswerNext(limit);
  const auto answer = Get("/repos/a/b");
  EXPECT_THAT(answer, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("until 2023-11-14T23:13:21Z"));
  EXPECT_THAT(slept_, IsEmpty());
}

TEST_F(GithubClientTest, ARateLimitThatIsNotLiftedIsNotWaitedForForEver) {
  GithubStub::Answer limit = GithubStub::Error(429, "slow down");
  limit.headers = {{"Retry-After", "1"}};
  for (int i = 0; i < 10; ++i) stub_.AnswerNext(limit);
  EXPECT_THAT(Get("/repos/a/b"), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(slept_, SizeIs(3));
}

TEST_F(GithubClientTest, WaitsEndWithTheTimeOfTheSearch) {
  options_.time = absl::Seconds(20);
  GithubStub::Answer limit = GithubStub::Error(429, "slow down");
  limit.headers = {{"Retry-After", "15"}};
  stub_.AnswerNext(limit);
  stub_.AnswerNext(limit);
  EXPECT_THAT(Get("/repos/a/b"), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(slept_, ElementsAre(absl::Seconds(15)));
}

TEST_F(GithubClientTest, ASearchThatTakesTooLongEnds) {
  GithubClient client(options_, cache_);
  now_ += absl::Hours(1);
  EXPECT_THAT(client.Get("/repos/a/b"), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(stub_.Requests(), IsEmpty());
}

TEST_F(GithubClientTest, ErrorsAreOfTheirKindAndSayWhatTheApiSaid) {
  const struct {
    int code;
    absl::StatusCode expected;
  } kCases[] = {
      {401, absl::StatusCode::kPermissionDenied},   {403, absl::StatusCode::kPermissionDenied},
      {404, absl::StatusCode::kNotFound},           {410, absl::StatusCode::kNotFound},
      {418, absl::StatusCode::kFailedPrecondition}, {422, absl::StatusCode::kInvalidArgument},
      {451, absl::StatusCode::kNotFound},           {500, absl::StatusCode::kUnavailable},
      {502, absl::StatusCode::kUnavailable},        {204, absl::StatusCode::kDataLoss}};
  for (const auto& c : kCases) {
    stub_.AnswerNext(GithubStub::Error(c.code, c.code == 204 ? "" : "because"));
    const auto answer = Get("/repos/a/b");
    EXPECT_THAT(answer, StatusIs(c.expected)) << c.code;
    EXPECT_THAT(std::string(answer.status().message()), HasSubstr(absl::StrCat("HTTP ", c.code)));
    if (c.code != 204) EXPECT_THAT(std::string(answer.status().message()), HasSubstr("because"));
  }
}

TEST_F(GithubClientTest, ATokenThatIsWrongOrMissingIsSaidAndNotShown) {
  UseToken();
  options_.token = "other-token";
  const auto wrong = Discover(TopicSearch());
  EXPECT_THAT(wrong, StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("Bad credentials"));
  EXPECT_THAT(std::string(wrong.status().message()), Not(HasSubstr("other-token")));
  options_.token = "";
  const auto missing = Discover(CodeSearch());
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("--github-token-file"));
}

TEST_F(GithubClientTest, ASearchThatTheApiRefusesIsInvalid) {
  EXPECT_THAT(Get("/search/repositories?q=nonsense%3Ax"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(GithubClientTest, TheTokenGoesNowhereElse) {
  UseToken();
  GithubStub other;
  for (const std::string& location :
       {other.Url() + "/repos/a/b", stub_.Url() + ".example.org/", std::string("file:///etc/x")}) {
    GithubStub::Answer redirect{302};
    redirect.location = location;
    stub_.AnswerNext(redirect);
    EXPECT_THAT(Get("/repos/a/b"), StatusIs(absl::StatusCode::kFailedPrecondition)) << location;
  }
  EXPECT_THAT(other.Requests(), IsEmpty());
}

TEST_F(GithubClientTest, ARedirectLoopEnds) {
  stub_.Rename("a/b", "a/b");
  EXPECT_THAT(Get("/repos/a/b"), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(stub_.Requests(), SizeIs(6));
}

TEST_F(GithubClientTest, HostileAnswersAreRefused) {
  stub_.AnswerNext({200, "application/json", std::string((8 << 20) + 1, '[')});
  EXPECT_THAT(Discover(TopicSearch()), StatusIs(absl::StatusCode::kFailedPrecondition));
  stub_.AnswerNext({200, "application/json", std::string(8 << 20, '[')});
  EXPECT_THAT(Discover(TopicSearch()), StatusIs(absl::StatusCode::kDataLoss));
  GithubStub::Answer cut{200, "application/json", "{}"};
  cut.cut_short = true;
  stub_.AnswerNext(cut);
  EXPECT_THAT(Discover(TopicSearch()), StatusIs(absl::StatusCode::kUnavailable));
  // An entity tag that would begin another header, had it come.
  GithubStub::Answer tag{200, "application/json", R"({"total_count":0,"items":[]})"};
  tag.headers["ETag"] = "\"x\x01y\"";
  stub_.AnswerNext(tag);
  EXPECT_THAT(Discover(TopicSearch()), IsOk());
  EXPECT_THAT(Discover(TopicSearch()), IsOk());
}

TEST_F(GithubClientTest, TheApiMayHaveAPathOfItsOwn) {
  stub_.Add({"a/b", 100});
  options_.api = stub_.Url() + "/";
  EXPECT_THAT(Get("/repos/a/b"), IsOk());
  options_.api = stub_.Url() + "/api/v3";
  EXPECT_THAT(Get("/repos/a/b"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(stub_.Requests().back(), "/api/v3/repos/a/b");
}

}  // namespace
}  // namespace kernelmill::fetcher
