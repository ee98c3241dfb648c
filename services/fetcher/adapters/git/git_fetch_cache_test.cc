#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/retry_after.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/git/testing/git_server.h"
#include "services/fetcher/adapters/git/testing/test_repository.h"
#include "services/fetcher/adapters/http/testing/http_server.h"
#include "services/fetcher/adapters/http/testing/loopback.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;

constexpr char kFile[] = "100644";
constexpr char kFolder[] = "40000";

class FakeFetchCache : public FetchCache {
 public:
  std::optional<CachedFetch> Load(absl::string_view url) override {
    const auto found = fetches.find(std::string(url));
    return found == fetches.end() ? std::nullopt : std::optional<CachedFetch>(found->second);
  }
  void Save(absl::string_view url, const CachedFetch& cached) override {
    fetches[std::string(url)] = cached;
  }
  std::map<std::string, CachedFetch> fetches;
};

// Text that does not compress to nothing.
std::string Noise(uint32_t state, int size = 2000) {
  std::string noise = "import triton\n";
  for (int i = 0; i < size; ++i) {
    noise += static_cast<char>('0' + ((state = state * 1664525 + 1013904223) >> 24) % 64);
  }
  return noise;
}

class GitFetchCacheTest : public ::testing::Test {
 protected:
  GitFetchCacheTest() : url_(repository_.path()) {
    options_.local = LocalFolders({"/"});
    options_.hosts = PrivateHosts();
    options_.temp_dir = temp_.path();
    for (int i = 0; i < 50; ++i) files_[absl::StrCat("f", i, ".py")] = Noise(i);
    files_["doc.txt"] = Noise(1000);
  }
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(temp_.path())) << "the clones are deleted";
  }

  // A commit with files_ in two folders: those in b never change.
  std::string Commit(const std::string& parent = "") {
    std::vector<TestRepository::Item> a, b;
    for (const auto& [name, content] : files_) {
      a.push_back({kFile, name, repository_.Blob(content)});
    }
    for (int i = 0; i < 20; ++i) {
      b.push_back({kFile, absl::StrCat("g", 10 + i, ".py"), repository_.Blob(Noise(100 + i))});
    }
    const std::string tree = repository_.Tree(
        {{kFolder, "a", repository_.Tree(a)}, {kFolder, "b", repository_.Tree(b)}});
    std::vector<std::string> arguments = {"commit-tree", "-m", "x", tree};
    if (!parent.empty()) arguments.insert(arguments.end(), {"-p", parent});
    return repository_.Git(arguments);
  }

  // The result of a fetch: every path with its content or its fate.
  using Contents = std::map<std::string, std::string>;
  struct Fetched {
    Contents contents;
    Listing listing;
  };
  Fetched Fetch(const std::string& commit, FetchCache* cache) {
    Fetched fetched;
    const absl::StatusOr<std::unique_ptr<Snapshot>> snapshot =
        FetchGit(url_, commit, globs_, options_, cache);
    EXPECT_THAT(snapshot, IsOk());
    if (!snapshot.ok()) return fetched;
    fetched.listing = (*snapshot)->listing();
    for (const Entry& entry : fetched.listing.files) {
      const absl::StatusOr<std::string> content = (*snapshot)->Read(entry);
      fetched.contents[entry.path] = content.ok() ? *content : content.status().ToString();
    }
    return fetched;
  }

  // Fetches with the cache and without: the same must come of it. Returns the bytes that moved
  // with the cache, and sets cold_bytes_ to those that moved without.
  int64_t FetchBoth(const std::string& commit) {
    const Fetched cold = Fetch(commit, nullptr);
    const Fetched warm = Fetch(commit, &cache_);
    EXPECT_EQ(warm.contents, cold.contents);
    EXPECT_EQ(warm.listing.commit, cold.listing.commit);
    EXPECT_EQ(warm.listing.commit_time, cold.listing.commit_time);
    EXPECT_EQ(warm.listing.unselected, cold.listing.unselected);
    EXPECT_EQ(warm.listing.licenses.size(), cold.listing.licenses.size());
    EXPECT_GT(cold.contents.size(), 0u);
    cold_bytes_ = cold.listing.bytes_received;
    unfiltered_ = warm.listing.unfiltered;
    return warm.listing.bytes_received;
  }

  TempDir temp_ = *TempDir::Create();
  GitOptions options_;
  GlobSet globs_ = *GlobSet::Compile({"**/*.py"}, {});
  TestRepository repository_;
  std::string url_;
  std::map<std::string, std::string> files_;
  FakeFetchCache cache_;
  int64_t cold_bytes_ = 0;
  bool unfiltered_ = false;
};

TEST_F(GitFetchCacheTest, UnchangedCommitMovesNothing) {
  const std::string commit = Commit();
  EXPECT_EQ(FetchBoth(commit), cold_bytes_) << "the first fetch";
  std::filesystem::rename(repository_.path(), repository_.path() + "-away");
  const Fetched again = Fetch(commit, &cache_);
  std::filesystem::rename(repository_.path() + "-away", repository_.path());
  EXPECT_EQ(again.listing.bytes_received, 0) << "nor is the server asked";
  EXPECT_EQ(FetchBoth(commit), 0);
}

TEST_F(GitFetchCacheTest, ChangedCommitMovesItsNewBlobsAndTrees) {
  const std::string before = Commit();
  FetchBoth(before);
  files_["f7.py"] = Noise(7000);
  files_["new.py"] = Noise(7001);
  const int64_t moved = FetchBoth(Commit(before));
  EXPECT_GT(moved, 3000) << "two blobs";
  EXPECT_LT(moved, 6000) << "two blobs and two trees";
  EXPECT_GT(cold_bytes_, 80'000);
}

TEST_F(GitFetchCacheTest, FetchesFollowOneAnother) {
  std::string commit = Commit();
  FetchBoth(commit);
  for (int i = 0; i < 4; ++i) {
    files_["f3.py"] = Noise(5000 + i);
    commit = Commit(commit);
    EXPECT_LT(FetchBoth(commit), 5000);
    EXPECT_EQ(cache_.fetches[url_].commit, commit);
  }
}

TEST_F(GitFetchCacheTest, DeletedFileIsGone) {
  const std::string before = Commit();
  FetchBoth(before);
  files_.erase("f7.py");
  EXPECT_LT(FetchBoth(Commit(before)), 4000);
  EXPECT_EQ(Fetch(cache_.fetches[url_].commit, &cache_).contents.count("a/f7.py"), 0u);
}

TEST_F(GitFetchCacheTest, ForcePushToAnUnrelatedCommit) {
  FetchBoth(Commit());
  files_["f1.py"] = Noise(9000);
  EXPECT_LT(FetchBoth(Commit()), 6000) << "the server still knows the old commit";
}

TEST_F(GitFetchCacheTest, ForcePushBackToTheParent) {
  const std::string parent = Commit();
  files_["f1.py"] = Noise(9000);
  FetchBoth(Commit(parent));
  EXPECT_LT(FetchBoth(parent), 6000);
}

TEST_F(GitFetchCacheTest, OldCommitThatTheServerHasForgotten) {
  const std::string before = Commit();
  FetchBoth(before);
  std::filesystem::remove(repository_.ObjectFile(before));
  files_["f1.py"] = Noise(9000);
  EXPECT_LT(FetchBoth(Commit()), 10'000) << "all trees, but only the new blob";
}

TEST_F(GitFetchCacheTest, LostFetchIsAFullFetch) {
  const std::string commit = Commit();
  FetchBoth(commit);
  cache_.fetches.clear();
  EXPECT_EQ(FetchBoth(commit), cold_bytes_);
  EXPECT_EQ(FetchBoth(commit), 0) << "and leaves its pack again";
}

TEST_F(GitFetchCacheTest, DamagedPackIsAFullFetch) {
  const std::string before = Commit();
  FetchBoth(before);
  const CachedFetch good = cache_.fetches[url_];
  files_["f1.py"] = Noise(9000);
  const std::string after = Commit(before);
  CachedFetch empty = good, cut = good, flipped = good, misnamed = good, hostile = good;
  empty.pack.clear();
  cut.pack.resize(cut.pack.size() / 2);
  flipped.pack[flipped.pack.size() / 2] ^= 1;
  misnamed.commit = repository_.Git({"rev-parse", before + "^{tree}"});
  hostile.commit = "--upload-pack=id\n";
  for (const CachedFetch& cached : {empty, cut, flipped, misnamed, hostile}) {
    for (const std::string& commit : {before, after}) {
      cache_.fetches[url_] = cached;
      EXPECT_EQ(FetchBoth(commit), cold_bytes_);
    }
  }
}

TEST_F(GitFetchCacheTest, PackWithoutItsTreesIsAFullFetch) {
  const std::string before = Commit();
  FetchBoth(before);
  files_["f1.py"] = Noise(9000);
  const std::string after = Commit(before);
  const std::string pack = repository_.Git({"pack-objects", "--stdout", "--quiet"}, before + "\n");
  for (const std::string& commit : {before, after}) {
    cache_.fetches[url_] = {before, pack};
    EXPECT_EQ(FetchBoth(commit), cold_bytes_);
  }
}

TEST_F(GitFetchCacheTest, FetchOfAnotherRepositoryDoesNoHarm) {
  TestRepository other;
  const std::string commit = Commit();
  FetchBoth(commit);
  const std::string stranger = other.Commit(other.Tree({{kFile, "x.py", other.Blob(Noise(4242))}}));
  const CachedFetch cached = {stranger,
                              other.Git({"pack-objects", "--stdout", "--quiet"}, stranger)};
  cache_.fetches[url_] = cached;
  EXPECT_EQ(FetchBoth(commit), cold_bytes_);
}

TEST_F(GitFetchCacheTest, OtherGlobsMoveWhatTheyAdd) {
  const std::string commit = Commit();
  FetchBoth(commit);
  globs_ = *GlobSet::Compile({"**/*.txt"}, {});
  EXPECT_LT(FetchBoth(commit), 3000);
  EXPECT_EQ(FetchBoth(commit), 0);
  globs_ = *GlobSet::Compile({"**/*.py"}, {});
  EXPECT_EQ(FetchBoth(commit), 0) << "blobs that other globs selected stay";
}

TEST_F(GitFetchCacheTest, MissingBlobStaysMissing) {
  const std::string commit = Commit();
  const std::string gone = repository_.Blob(files_["f7.py"]);
  std::filesystem::remove(repository_.ObjectFile(gone));
  FetchBoth(commit);
  FetchBoth(commit);
  EXPECT_THAT(Fetch(commit, &cache_).contents["a/f7.py"], ::testing::HasSubstr("NOT_FOUND"));
}

TEST_F(GitFetchCacheTest, PackOverTheLimitIsNotKept) {
  options_.cached_bytes = 10'000;
  FetchBoth(Commit());
  EXPECT_TRUE(cache_.fetches.empty());
}

TEST_F(GitFetchCacheTest, ServerThatWantsToBeLeftAloneIsNotAskedAgainWithoutTheCache) {
  const std::string before = Commit();
  FetchBoth(before);
  TestHttpServer server;
  url_ = server.Url("/x");
  cache_.fetches[url_] = cache_.fetches[repository_.path()];
  server.Set("/x/info/refs?service=git-upload-pack",
             {429, "", "", "", false, {{"Retry-After", "70"}}});
  const absl::Status fetched =
      FetchGit(url_, std::string(40, 'a'), globs_, options_, &cache_).status();
  EXPECT_EQ(GetRetryAfter(fetched), absl::Seconds(70)) << fetched;
  EXPECT_EQ(server.Requests().size(), 1u);
}

// Such a server takes it that who has a commit has all its blobs, and leaves those out, or sends
// only what changed in them.
TEST_F(GitFetchCacheTest, ServerThatCannotFilterGivesTheSame) {
  const TestGitServer server;
  url_ = server.Url(repository_.path());
  const std::string before = Commit();
  EXPECT_EQ(FetchBoth(before), cold_bytes_);
  EXPECT_TRUE(unfiltered_);
  EXPECT_EQ(FetchBoth(before), 0);
  files_["f7.py"] += "changed\n";
  files_["doc.txt"] += "changed\n";
  const std::string after = Commit(before);
  repository_.SetRef("refs/heads/main", after);
  repository_.Git({"repack", "-a", "-d", "-q"});  // so that there are deltas to send
  FetchBoth(after);
  globs_ = *GlobSet::Compile({"**/*.txt"}, {});
  FetchBoth(after);
  FetchBoth(before);
}

}  // namespace
}  // namespace kernelmill::fetcher
