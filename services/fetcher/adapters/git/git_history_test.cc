// A history over smart HTTP with and without the git program, and from a repository on the disk:
// the same must come of it, and no object that it does not need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/git/testing/git_http_server.h"
#include "services/fetcher/adapters/git/testing/test_repository.h"
#include "services/fetcher/adapters/http/testing/loopback.h"
#include "services/fetcher/core/history/walk_history.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;

constexpr char kFile[] = "100644";
constexpr char kFolder[] = "40000";

class FakeFetchCache : public FetchCache {
 public:
  std::optional<CachedFetch> Load(absl::string_view) override { return cached_; }
  void Save(absl::string_view, const CachedFetch& saved) override { cached_ = saved; }

 private:
  std::optional<CachedFetch> cached_;
};

class GitHistoryTest : public ::testing::Test {
 protected:
  GitHistoryTest() {
    options_.local = LocalFolders({"/"});
    options_.hosts = PrivateHosts();
    options_.temp_dir = temp_.path();
    for (int i = 0; i < 6; ++i) {
      const std::string ops = repository_.Tree(
          {{kFile, "k.py", repository_.Blob(absl::StrCat("import triton  # jit\n", i / 2))},
           {kFile, "plain.py", repository_.Blob(absl::StrCat("plain ", i))}});
      const std::string docs = repository_.Tree({{kFile, "d.txt", repository_.Blob("docs")}});
      const std::string tree = repository_.Tree({{kFolder, "docs", docs}, {kFolder, "ops", ops}});
      std::vector<std::string> commit = {"commit-tree", tree, "-m", absl::StrCat("commit ", i)};
      if (!commits_.empty()) commit.insert(commit.end(), {"-p", commits_.back()});
      commits_.push_back(repository_.Git(commit));
    }
    repository_.SetRef("refs/heads/main", commits_.back());
    repository_.Git({"repack", "-a", "-d", "-q"});
  }

  struct Walked {
    WalkedHistory history;
    int64_t objects = 0;  // that were received for it
    std::string blobs;    // the contents of the versions
  };

  Walked Walk(const std::string& url, FetchCache* cache = nullptr) {
    Walked walked;
    absl::StatusOr<std::unique_ptr<Snapshot>> snapshot =
        FetchGit(url, commits_.back(), globs_, options_, cache);
    EXPECT_THAT(snapshot, IsOk());
    if (!snapshot.ok()) return walked;
    const int64_t before = (*snapshot)->listing().objects_received;
    HistoryRequest request;
    request.commit = commits_.back();
    request.depth = 5;
    request.wanted = [this](absl::string_view path) { return globs_.Matches(path); };
    request.importable = request.wanted;
    request.at_head = {"ops/k.py"};
    absl::StatusOr<WalkedHistory> history =
        WalkHistory(*(*snapshot)->past(), request, HistoryLimits());
    EXPECT_THAT(history, IsOk());
    if (!history.ok()) return walked;
    walked.history = *std::move(history);
    walked.objects = (*snapshot)->listing().objects_received - before;
    for (const VersionRef& version : walked.history.versions) {
      const absl::StatusOr<std::string> content = (*snapshot)->past()->ReadBlob(version.id);
      EXPECT_THAT(content, IsOk());
      if (content.ok()) absl::StrAppend(&walked.blobs, content->substr(content->size() - 1));
    }
    return walked;
  }

  TempDir temp_ = *TempDir::Create();
  GitOptions options_;
  GlobSet globs_ = *GlobSet::Compile({"**/*.py"}, {});
  TestRepository repository_;
  std::vector<std::string> commits_;
};

TEST_F(GitHistoryTest, BringsWhatItNeedsAndNoMore) {
  TestGitHttpServer server;
  options_.smart_http = std::make_shared<SmartHttp>();
  const Walked walked = Walk(server.Url(repository_.path()));
  std::vector<std::string> messages;
  for (const v1::HistoryCommit& commit : walked.history.index.commits()) {
    messages.push_back(commit.message());
  }
  EXPECT_THAT(messages, ElementsAre("commit 4\n", "commit 2\n"));
  EXPECT_EQ(walked.history.index.commits_seen(), 5);
  EXPECT_EQ(walked.history.index.commits(0).author_time(), 1'500'000'000);
  EXPECT_EQ(walked.blobs.size(), 3u);
  // The server sends the pinned commit again: 6 commits; 5 roots and 5 folders; and 2 blobs.
  EXPECT_EQ(walked.objects, 6 + 5 + 5 + 2);
}

TEST_F(GitHistoryTest, IsTheSameByTheGitProgramAndFromTheDisk) {
  TestGitHttpServer server;
  const Walked by_program = Walk(server.Url(repository_.path()));
  const Walked from_disk = Walk(repository_.path());
  options_.smart_http = std::make_shared<SmartHttp>();
  const Walked by_post = Walk(server.Url(repository_.path()));
  EXPECT_EQ(by_program.history.index.SerializeAsString(),
            by_post.history.index.SerializeAsString());
  EXPECT_EQ(from_disk.history.index.SerializeAsString(), by_post.history.index.SerializeAsString());
  EXPECT_LE(by_program.objects, by_post.objects);
}

TEST_F(GitHistoryTest, BringsAFolderThatIsAlsoWithinAnotherOne) {
  const auto commit = [&](const std::string& text) {
    const std::string inner =
        repository_.Tree({{kFile, "k.py", repository_.Blob("import triton  # jit\n" + text)}});
    const std::string outer = repository_.Tree({{kFolder, "inner", inner}});
    const std::string tree =
        repository_.Tree({{kFolder, "again", inner}, {kFolder, "outer", outer}});
    return repository_.Git({"commit-tree", tree, "-m", text, "-p", commits_.back()});
  };
  commits_.push_back(commit("6"));
  commits_.push_back(commit("7"));
  repository_.SetRef("refs/heads/main", commits_.back());
  TestGitHttpServer server;
  const Walked by_program = Walk(server.Url(repository_.path()));
  const Walked from_disk = Walk(repository_.path());
  options_.smart_http = std::make_shared<SmartHttp>();
  const Walked by_post = Walk(server.Url(repository_.path()));
  EXPECT_EQ(by_post.history.index.commits_seen(), 5);
  EXPECT_EQ(by_program.history.index.commits_seen(), 5);
  EXPECT_EQ(from_disk.history.index.commits_seen(), 5);
}

TEST_F(GitHistoryTest, IsTheSameAfterAnEarlierFetchThatHasTheParent) {
  TestGitHttpServer server;
  options_.smart_http = std::make_shared<SmartHttp>();
  const Walked cold = Walk(server.Url(repository_.path()));
  FakeFetchCache cache;
  ASSERT_THAT(FetchGit(server.Url(repository_.path()), commits_[4], globs_, options_, &cache),
              IsOk());
  const Walked warm = Walk(server.Url(repository_.path()), &cache);
  EXPECT_EQ(warm.history.index.SerializeAsString(), cold.history.index.SerializeAsString());
  EXPECT_EQ(warm.history.index.commits_size(), 2);
}

TEST_F(GitHistoryTest, IsTheSameFromAServerThatCannotFilter) {
  TestGitHttpServer server;
  options_.smart_http = std::make_shared<SmartHttp>();
  const Walked filtered = Walk(server.Url(repository_.path()));
  server.filter = false;
  const Walked whole = Walk(server.Url(repository_.path()));
  EXPECT_EQ(whole.history.index.SerializeAsString(), filtered.history.index.SerializeAsString());
}

}  // namespace
}  // namespace kernelmill::fetcher
