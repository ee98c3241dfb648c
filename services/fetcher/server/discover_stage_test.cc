#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/testing/status_matchers.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "services/fetcher/adapters/github/testing/github_stub.h"
#include "services/fetcher/server/fetcher_stages.h"
#include "services/fetcher/server/store_caches.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;

class DiscoverStageTest : public ::testing::Test {
 protected:
  DiscoverStageTest() {
    options_.github_api = stub_.Url();
    stub_.Add({.name = "b/b", .stars = 200, .topics = {"triton"}, .code = "@triton.jit"});
    stub_.Add({.name = "a/a", .stars = 100, .topics = {"triton"}});
    search_.set_min_stars(100);
    search_.set_limit(1000);
    search_.add_topics("triton");
  }

  absl::StatusOr<v1::StageResult> Run() {
    v1::Action action;
    *action.mutable_params()->mutable_discover()->mutable_discover() = search_;
    return NewDiscoverStage(options_)->Run(action, store_);
  }

  static std::map<std::string, int64_t> Counters(const v1::StageResult& result) {
    std::map<std::string, int64_t> counters;
    for (const v1::Counter& counter : result.counters()) counters[counter.name()] = counter.value();
    return counters;
  }

  GithubStub stub_;
  FetcherOptions options_;
  v1::Discover search_;
  cas::MemoryBlobStore store_;
};

TEST_F(DiscoverStageTest, ListsWhatIsFoundAndCounts) {
  const auto result = Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(result->found(), ElementsAre("https://github.com/a/a", "https://github.com/b/b"));
  EXPECT_TRUE(result->outputs().empty());
  const std::map<std::string, int64_t> counters = {{"discover.repositories", 2},
                                                   {"discover.requests", 1}};
  EXPECT_EQ(Counters(*result), counters);
}

TEST_F(DiscoverStageTest, PagesAreKeptInTheStore) {
  const auto first = Run();
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(store_.results(), 1);
  const auto second = Run();
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT(second->found(), ::testing::ElementsAreArray(first->found()));
  EXPECT_EQ(Counters(*second)["discover.not_modified"], 1);
}

TEST_F(DiscoverStageTest, AStoreThatFailsCostsRequestsAlone) {
  ASSERT_THAT(Run(), IsOk());
  store_.FailNext(100, absl::UnavailableError("away"));
  const auto result = Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->found_size(), 2);
  EXPECT_EQ(Counters(*result)["discover.not_modified"], 0);
}

TEST_F(DiscoverStageTest, TheTokenIsReadEachTime) {
  const TempDir folder = *TempDir::Create();
  options_.github_token_file = folder.path() + "/token";
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kFailedPrecondition));
  search_.set_code("triton.jit");
  for (const std::string token : {"first", "second"}) {
    ASSERT_THAT(WriteFile(options_.github_token_file, token + "\n"), IsOk());
    stub_.SetToken(token);
    const auto result = Run();
    ASSERT_THAT(result, IsOk());
    EXPECT_THAT(result->found(), ElementsAre("https://github.com/b/b"));
  }
}

TEST_F(DiscoverStageTest, ErrorsAreThoseOfTheApi) {
  stub_.AnswerNext(GithubStub::Error(500, "oops"));
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kUnavailable));
  options_.github_api = "https://[broken";
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kInvalidArgument));
  search_.clear_topics();
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(StorePageCache, KeepTheNewestByUrl) {
  cas::MemoryBlobStore store;
  StorePageCache pages(store);
  EXPECT_FALSE(pages.Find("https://x.org/1").has_value());
  pages.Keep("https://x.org/1", {"old", "one"});
  pages.Keep("https://x.org/1", {"new", "two"});
  pages.Keep("https://x.org/2", {"other", ""});
  const auto page = pages.Find("https://x.org/1");
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->etag, "new");
  EXPECT_EQ(page->body, "two");
  EXPECT_EQ(pages.Find("https://x.org/2")->etag, "other");
}

TEST(StorePageCache, WhatIsLostOrDamagedIsNone) {
  cas::MemoryBlobStore store;
  StorePageCache pages(store);
  pages.Keep("https://x.org/1", {"tag", "one"});
  ASSERT_TRUE(store.Corrupt(cas::ComputeDigest("one")));
  EXPECT_FALSE(pages.Find("https://x.org/1").has_value());
  ASSERT_TRUE(store.Drop(cas::ComputeDigest("one")));
  EXPECT_FALSE(pages.Find("https://x.org/1").has_value());
}

}  // namespace
}  // namespace kernelmill::fetcher
