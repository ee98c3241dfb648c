// The same repositories over smart HTTP with and without the git program: the same must come of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/retry_after.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/git/testing/git_http_server.h"
#include "services/fetcher/adapters/git/testing/test_repository.h"
#include "services/fetcher/adapters/http/testing/http_server.h"
#include "services/fetcher/adapters/http/testing/loopback.h"
#include "services/fetcher/adapters/smart_http/packet_line.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;

using Request = TestGitHttpServer::Request;
using Answer = TestGitHttpServer::Answer;

constexpr char kFile[] = "100644";
constexpr char kFolder[] = "40000";
constexpr char kPost[] = "git-upload-pack";

class FakeFetchCache : public FetchCache {
 public:
  std::optional<CachedFetch> Load(absl::string_view) override { return cached; }
  void Save(absl::string_view, const CachedFetch& saved) override { cached = saved; }
  std::optional<CachedFetch> cached;
};

std::string Noise(uint32_t state, int size = 2000) {
  std::string noise = "import triton\n";
  for (int i = 0; i < size; ++i) {
    noise += static_cast<char>('0' + ((state = state * 1664525 + 1013904223) >> 24) % 64);
  }
  return noise;
}

bool IsPack(const Answer& answer) { return absl::StrContains(answer.body, "PACK"); }

class GitSmartHttpTest : public ::testing::Test {
 protected:
  GitSmartHttpTest() : url_(server_.Url(repository_.path())) {
    options_.hosts = PrivateHosts();
    options_.temp_dir = temp_.path();
    options_.smart_http = std::make_shared<SmartHttp>();
    commit_ = Commit();
  }
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(temp_.path())) << "the clones are deleted";
  }

  // A commit that refs/heads/main names, with `changed` in one of its files.
  std::string Commit(int changed = 0) {
    std::vector<TestRepository::Item> files;
    for (int i = 10; i < 30; ++i) {
      files.push_back({kFile, absl::StrCat("f", i, ".py"), repository_.Blob(Noise(i))});
    }
    files.push_back({kFile, "z.py", repository_.Blob(Noise(1, 2000) + absl::StrCat(changed))});
    const std::string tree = repository_.Tree({{kFile, "LICENSE", repository_.Blob("MIT")},
                                               {kFile, "doc.txt", repository_.Blob(Noise(1000))},
                                               {kFolder, "src", repository_.Tree(files)}});
    std::string commit = repository_.Commit(tree, 1'600'000'000 + changed);
    repository_.SetRef("refs/heads/main", commit);
    return commit;
  }

  absl::StatusOr<std::string> Pin(const std::string& ref = "main") {
    return PinGit(url_, ref, options_);
  }

  struct Fetched {
    Listing listing;
    std::map<std::string, std::string> contents;  // or the error
  };
  absl::StatusOr<Fetched> FetchWith(const GitOptions& options, FetchCache* cache) {
    absl::StatusOr<std::unique_ptr<Snapshot>> snapshot =
        FetchGit(url_, commit_, globs_, options, cache);
    if (!snapshot.ok()) return snapshot.status();
    Fetched fetched{(*snapshot)->listing(), {}};
    for (const std::vector<Entry>* entries : {&fetched.listing.files, &fetched.listing.licenses}) {
      for (const Entry& entry : *entries) {
        const absl::StatusOr<std::string> content = (*snapshot)->Read(entry);
        fetched.contents[absl::StrCat(entry.path, " ", entry.id)] =
            content.ok() ? *content : absl::StatusCodeToString(content.status().code());
      }
    }
    return fetched;
  }
  absl::StatusOr<Fetched> Fetch(FetchCache* cache = nullptr) { return FetchWith(options_, cache); }

  // Fetches with and without the git program: what comes of it must be the same.
  Fetched FetchBoth(FetchCache* ours = nullptr, FetchCache* gits = nullptr) {
    GitOptions by_git = options_;
    by_git.smart_http = nullptr;
    const absl::StatusOr<Fetched> expected = FetchWith(by_git, gits);
    const absl::StatusOr<Fetched> fetched = FetchWith(options_, ours);
    EXPECT_THAT(expected, IsOk());
    EXPECT_THAT(fetched, IsOk());
    if (!expected.ok() || !fetched.ok()) return {};
    const Listing &one = fetched->listing, &other = expected->listing;
    EXPECT_EQ(fetched->contents, expected->contents);
    EXPECT_EQ(one.commit, other.commit);
    EXPECT_EQ(one.commit_time, other.commit_time);
    EXPECT_EQ(one.unselected, other.unselected);
    EXPECT_EQ(one.unfiltered, other.unfiltered);
    EXPECT_EQ(one.objects_received, other.objects_received);
    return *fetched;
  }

  // Spoils answers that bring a pack, and those alone.
  void SpoilPacks(std::function<void(Answer&)> spoil) {
    server_.spoil = [spoil = std::move(spoil)](const Request&, Answer& answer) {
      if (IsPack(answer)) spoil(answer);
    };
  }

  TempDir temp_ = *TempDir::Create();
  GitOptions options_;
  GlobSet globs_ = *GlobSet::Compile({"**/*.py"}, {});
  TestRepository repository_;
  TestGitHttpServer server_;
  std::string url_, commit_;
};

TEST_F(GitSmartHttpTest, PinAndFetchAreThreeRequestsOnOneConnection) {
  EXPECT_EQ(*Pin(), commit_);
  ASSERT_THAT(Fetch(), IsOk());
  EXPECT_THAT(server_.Requests(), ::testing::ElementsAre(kPost, kPost, kPost));
  EXPECT_EQ(server_.Connections(), 1);
}

TEST_F(GitSmartHttpTest, UnchangedRepositoryIsOneRequest) {
  FakeFetchCache cache;
  EXPECT_EQ(*Pin(), commit_);
  ASSERT_THAT(Fetch(&cache), IsOk());
  const size_t before = server_.Requests().size();
  EXPECT_EQ(*Pin(), commit_);
  ASSERT_THAT(Fetch(&cache), IsOk());
  EXPECT_EQ(server_.Requests().size(), before + 1);
  EXPECT_EQ(server_.Connections(), 1);
}

TEST_F(GitSmartHttpTest, RepositoriesOfAHostShareItsConnection) {
  TestRepository other;
  other.SetRef("refs/heads/main", other.Commit(other.Tree({})));
  EXPECT_THAT(Pin(), IsOk());
  EXPECT_THAT(PinGit(server_.Url(other.path()), "main", options_), IsOk());
  EXPECT_EQ(server_.Connections(), 1);
}

TEST_F(GitSmartHttpTest, RefsArePinnedAsByGit) {
  repository_.SetRef("refs/tags/light", commit_);
  repository_.SetRef("refs/pull/7/head", commit_);
  repository_.SetRef("refs/heads/\xc3\xa9", commit_);
  const std::string tag = repository_.Tag("annotated", commit_);
  const std::string first = commit_;
  commit_ = Commit(1);
  EXPECT_EQ(*Pin("HEAD"), commit_);
  EXPECT_EQ(*Pin(""), commit_);
  for (const char* ref :
       {"light", "annotated", "refs/tags/annotated", "refs/pull/7/head", "\xc3\xa9"}) {
    EXPECT_EQ(*Pin(ref), first) << ref;
  }
  for (const char* ref : {"mai", "none", "refs/heads/none"}) {
    EXPECT_THAT(Pin(ref), StatusIs(absl::StatusCode::kNotFound)) << ref;
  }
  EXPECT_THAT(server_.Requests(), Each(kPost));
}

TEST_F(GitSmartHttpTest, WhatIsFetchedIsTheSameAsByGit) {
  const Fetched fetched = FetchBoth();
  EXPECT_EQ(fetched.contents.size(), 22u);
  EXPECT_FALSE(fetched.listing.unfiltered);
}

TEST_F(GitSmartHttpTest, WhatIsFetchedBesideACachedFetchIsTheSameAsByGit) {
  FakeFetchCache ours, gits;
  FetchBoth(&ours, &gits);
  commit_ = Commit(1);
  const Fetched changed = FetchBoth(&ours, &gits);
  EXPECT_EQ(changed.contents.size(), 22u);
  EXPECT_LT(changed.listing.bytes_received, 4000);
  ASSERT_TRUE(ours.cached.has_value() && gits.cached.has_value());
  EXPECT_EQ(ours.cached->commit, commit_);
  FetchBoth(&gits, &ours);  // either takes up what the other left
}

TEST_F(GitSmartHttpTest, CachedCommitThatTheServerDoesNotKnowCostsAFullFetch) {
  FakeFetchCache cache;
  ASSERT_THAT(Fetch(&cache), IsOk());
  const std::string old = commit_;
  commit_ = Commit(1);
  std::filesystem::remove(repository_.ObjectFile(old));
  const absl::StatusOr<Fetched> fetched = Fetch(&cache);
  ASSERT_THAT(fetched, IsOk());
  EXPECT_EQ(fetched->contents.size(), 22u);
}

// row 27
TEST_F(GitSmartHttpTest, MissingObjectsFailTheirFilesAlone) {
  for (const int i : {20, 25})
    std::filesystem::remove(repository_.ObjectFile(repository_.Blob(Noise(i))));
  const Fetched fetched = FetchBoth();
  int missing = 0;
  for (const auto& [path, content] : fetched.contents) missing += content == "NOT_FOUND" ? 1 : 0;
  EXPECT_EQ(missing, 2);
  EXPECT_THAT(server_.Requests(), Contains(kPost).Times(::testing::Ge(4)));
}

TEST_F(GitSmartHttpTest, MissingCommitIsNotFound) {
  commit_ = std::string(40, 'e');
  EXPECT_THAT(Fetch(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(server_.Requests(), Each(kPost));
}

TEST_F(GitSmartHttpTest, OlderProtocolIsLeftToGitForGood) {
  server_.version_2 = false;
  EXPECT_EQ(*Pin(), commit_);
  EXPECT_THAT(server_.Requests(), Contains("refs"));
  const size_t before = server_.Requests().size();
  EXPECT_EQ(*Pin(), commit_);
  EXPECT_EQ(server_.Requests()[before], "refs") << "nothing else is tried first";
  FetchBoth();
}

TEST_F(GitSmartHttpTest, ServerWithoutFilterIsLeftToGitAndSaidToBeOne) {
  server_.filter = false;
  EXPECT_TRUE(FetchBoth().listing.unfiltered);
  EXPECT_THAT(server_.Requests(), Contains("refs"));
}

TEST_F(GitSmartHttpTest, ServerThatTakesNoPostFirstIsLeftToGit) {
  for (const int code : {200, 400, 405, 415, 501}) {
    options_.smart_http = std::make_shared<SmartHttp>();
    bool first = true;
    server_.spoil = [&](const Request& request, Answer& answer) {
      if (first && request.method == "POST") answer = {code, "text/html", "<html>"};
      first = false;
    };
    EXPECT_EQ(*Pin(), commit_) << code;
  }
}

// row 27
TEST_F(GitSmartHttpTest, MissingAndPrivateRepositoriesFailTyped) {
  url_ = server_.Url("/no/such/repository");
  EXPECT_THAT(Pin(), StatusIs(absl::StatusCode::kNotFound));
  for (const auto& [code, status] : {std::pair(401, absl::StatusCode::kPermissionDenied),
                                     std::pair(403, absl::StatusCode::kPermissionDenied),
                                     std::pair(410, absl::StatusCode::kNotFound)}) {
    server_.spoil = [code = code](const Request&, Answer& answer) {
      answer = {code, "text/plain"};
    };
    EXPECT_THAT(Pin(), StatusIs(status)) << code;
  }
}

TEST_F(GitSmartHttpTest, BusyServerSaysWhenToComeAgain) {
  for (const int code : {429, 503}) {
    server_.spoil = [code](const Request&, Answer& answer) {
      answer = {code, "", "", "", false, {{"Retry-After", "70"}}};
    };
    const absl::StatusOr<std::string> pinned = Pin();
    EXPECT_THAT(pinned, StatusIs(absl::StatusCode::kUnavailable)) << code;
    EXPECT_EQ(GetRetryAfter(pinned.status()), absl::Seconds(70)) << code;
  }
  EXPECT_EQ(server_.Requests().size(), 2u) << "it is not asked again by git";
}

TEST_F(GitSmartHttpTest, RedirectedRepositoryIsFollowed) {
  TestHttpServer old;
  old.SetHandler([&](const Request& request) {
    return Answer{301, "", "", server_.Url(repository_.path() + request.path.substr(4))};
  });
  const std::string url = old.Url("/old");
  EXPECT_EQ(*PinGit(url, "main", options_), commit_);
  EXPECT_THAT(FetchGit(url, commit_, globs_, options_), IsOk());
  EXPECT_THAT(server_.Requests(), Each(kPost));
}

TEST_F(GitSmartHttpTest, ServerThatRedirectsItsFirstRequestAloneIsFollowed) {
  TestHttpServer old;
  old.SetHandler([&](const Request& request) {
    if (request.method == "POST") return Answer{404, "", ""};
    return Answer{301, "", "", server_.Url(repository_.path() + request.path.substr(4))};
  });
  EXPECT_EQ(*PinGit(old.Url("/old"), "main", options_), commit_);
}

// row 20
TEST_F(GitSmartHttpTest, CircleOfRedirectsEnds) {
  server_.spoil = [](const Request& request, Answer& answer) {
    answer = {302, "", "", request.path};
  };
  EXPECT_THAT(Pin(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_LT(server_.Requests().size(), 20u);
}

// row 20: a connection that was made when it was allowed is not used when it is not.
TEST_F(GitSmartHttpTest, PrivateAddressIsRefusedThoughAConnectionIsOpen) {
  ASSERT_THAT(Pin(), IsOk());
  options_.hosts = HostPolicy();
  EXPECT_THAT(Pin(), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(Fetch(), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_EQ(server_.Requests().size(), 1u);
}

// row 27
TEST_F(GitSmartHttpTest, CorruptPackIsDataLoss) {
  SpoilPacks([](Answer& answer) { answer.body[answer.body.size() - 14] ^= 1; });
  EXPECT_THAT(Fetch(), StatusIs(absl::StatusCode::kDataLoss)) << "the checksum";
  SpoilPacks([](Answer& answer) { answer.body[answer.body.find("PACK") + 20] ^= 0x55; });
  EXPECT_THAT(Fetch(), StatusIs(absl::StatusCode::kDataLoss));
}

// row 27
TEST_F(GitSmartHttpTest, AnswerThatIsCutShortIsUnavailable) {
  SpoilPacks([](Answer& answer) { answer.body.resize(answer.body.size() / 2); });
  EXPECT_THAT(Fetch(), StatusIs(absl::StatusCode::kUnavailable));
  SpoilPacks([](Answer& answer) { answer.cut_short = true; });
  EXPECT_THAT(Fetch(), StatusIs(absl::StatusCode::kUnavailable));
}

// row 27
TEST_F(GitSmartHttpTest, ServerThatStallsIsGivenUp) {
  options_.timeout = absl::Milliseconds(700);
  SpoilPacks([](Answer& answer) {
    answer.body.resize(answer.body.size() / 2);
    answer.cut_short = answer.stall = true;
  });
  EXPECT_THAT(Fetch(), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

// row 27
TEST_F(GitSmartHttpTest, EndlessProgressIsGivenUp) {
  SpoilPacks([](Answer& answer) {
    std::string progress;
    for (int i = 0; i < 100; ++i) AppendPacket(progress, "\2" + std::string(60'000, '.'));
    answer.body = absl::StrCat("000dpackfile\n", progress, "0000");
  });
  EXPECT_THAT(Fetch(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

// row 28
TEST_F(GitSmartHttpTest, PackOverTheLimitIsRefused) {
  options_.pack_bytes = 20'000;
  const absl::StatusOr<Fetched> fetched = Fetch();
  EXPECT_THAT(fetched, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(fetched.status().message()), HasSubstr("20000 bytes"));
}

// row 27
TEST_F(GitSmartHttpTest, EndlessRefsAreGivenUp) {
  server_.spoil = [&](const Request&, Answer& answer) {
    answer.body.clear();
    for (int i = 0; i < 300'000; ++i) {
      AppendPacket(answer.body, absl::StrCat(commit_, " refs/heads/main", i, "\n"));
    }
    answer.body += "0000";
  };
  EXPECT_THAT(Pin(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(GitSmartHttpTest, ManyObjectsAreAskedForAtOnce) {
  std::vector<TestRepository::Item> files;
  for (int i = 1000; i < 1060; ++i) {
    files.push_back({kFile, absl::StrCat(i, ".py"), repository_.Blob(absl::StrCat(i))});
  }
  commit_ = repository_.Commit(repository_.Tree(files));
  EXPECT_EQ(FetchBoth().contents.size(), 60u);
}

}  // namespace
}  // namespace kernelmill::fetcher
