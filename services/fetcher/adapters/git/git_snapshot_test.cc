#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/git/testing/test_repository.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;

constexpr char kFile[] = "100644";
constexpr char kFolder[] = "40000";

class GitSnapshotTest : public ::testing::Test {
 protected:
  GitSnapshotTest() {
    options_.local = LocalFolders({"/"});
    options_.temp_dir = temp_.path();
  }
  void TearDown() override {
    snapshot_.reset();
    EXPECT_TRUE(std::filesystem::is_empty(temp_.path())) << "the clone is deleted";
  }

  std::string Commit(const std::vector<TestRepository::Item>& items) {
    return repository_.Commit(repository_.Tree(items));
  }

  absl::Status Fetch(const std::string& commit) {
    absl::StatusOr<std::unique_ptr<Snapshot>> snapshot =
        FetchGit(repository_.path(), commit, globs_, options_);
    if (!snapshot.ok()) return snapshot.status();
    snapshot_ = *std::move(snapshot);
    return absl::OkStatus();
  }

  // The path of every selected file, with its content or the code of the error that its reading
  // gives.
  std::map<std::string, std::string> Contents() {
    std::map<std::string, std::string> contents;
    for (const Entry& entry : snapshot_->listing().files) {
      if (entry.kind != EntryKind::kFile) {
        contents[entry.path] = "not a file";
        continue;
      }
      absl::StatusOr<int64_t> size = snapshot_->Size(entry);
      absl::StatusOr<std::string> content = snapshot_->Read(entry);
      if (size.ok() && content.ok()) EXPECT_EQ(*size, static_cast<int64_t>(content->size()));
      contents[entry.path] = size.ok() && content.ok()
                                 ? *content
                                 : absl::StatusCodeToString(size.ok() ? content.status().code()
                                                                      : size.status().code());
    }
    return contents;
  }

  TempDir temp_ = *TempDir::Create();
  GitOptions options_;
  GlobSet globs_ = *GlobSet::Compile({"**/*.py"}, {});
  TestRepository repository_;
  std::unique_ptr<Snapshot> snapshot_;
};

TEST_F(GitSnapshotTest, ExactlyTheSelectedBlobsMove) {
  const std::string sub = repository_.Tree({{kFile, "LICENSE", repository_.Blob("sub")},
                                            {kFile, "big.bin", repository_.Blob("unwanted 1")},
                                            {kFile, "y.py", repository_.Blob("y")}});
  const std::string unused = repository_.Tree({{kFile, "LICENSE", repository_.Blob("unwanted 2")}});
  const std::string commit = Commit({{kFile, "LICENSE", repository_.Blob("root")},
                                     {kFile, "HISTORY", repository_.Blob("unwanted 3")},
                                     {kFolder, "sub", sub},
                                     {kFolder, "unused", unused},
                                     {kFile, "x.py", repository_.Blob("x")}});
  ASSERT_THAT(Fetch(commit), IsOk());
  EXPECT_THAT(Contents(),
              ElementsAre(std::make_pair("sub/y.py", "y"), std::make_pair("x.py", "x")));
  const Listing& listing = snapshot_->listing();
  EXPECT_EQ(listing.objects_received, 1 + 3 + 2 + 2) << "commit, trees, files and their licences";
  EXPECT_GT(listing.bytes_received, 0);
  EXPECT_FALSE(listing.unfiltered);
  EXPECT_EQ(listing.unselected, 5);
  EXPECT_EQ(listing.commit, commit);
  EXPECT_EQ(listing.commit_time, 1'600'000'000);
  ASSERT_EQ(listing.licenses.size(), 2u);
  EXPECT_EQ(*snapshot_->Read(listing.licenses[1]), "sub");
}

TEST_F(GitSnapshotTest, FilesThatStateRequirementsMoveToo) {
  const std::string sub = repository_.Tree({{kFile, "setup.cfg", repository_.Blob("unwanted")}});
  const std::string commit = Commit({{kFile, "requirements.txt", repository_.Blob("triton>=3")},
                                     {kFolder, "sub", sub},
                                     {kFile, "x.py", repository_.Blob("x")}});
  ASSERT_THAT(Fetch(commit), IsOk());
  const Listing& listing = snapshot_->listing();
  EXPECT_EQ(listing.objects_received, 1 + 2 + 2) << "commit, trees, the file and the statement";
  ASSERT_EQ(listing.requirements.size(), 1u);
  EXPECT_EQ(*snapshot_->Read(listing.requirements[0]), "triton>=3");
  EXPECT_EQ(listing.unselected, 2);
}

TEST_F(GitSnapshotTest, ParentsDoNotMove) {
  const std::string old = Commit({{kFile, "old.py", repository_.Blob("old")}});
  const std::string tree = repository_.Tree({{kFile, "new.py", repository_.Blob("new")}});
  const std::string commit = repository_.Git({"commit-tree", "-p", old, "-m", "x", tree});
  ASSERT_THAT(Fetch(commit), IsOk());
  EXPECT_EQ(snapshot_->listing().objects_received, 3);
}

TEST_F(GitSnapshotTest, LinksAndSubmodulesAreListedNotFollowed) {
  ASSERT_THAT(Fetch(Commit({{"120000", "link.py", repository_.Blob("/etc/passwd")},
                            {"160000", "module.py", std::string(40, 'd')},
                            {"100755", "x.py", repository_.Blob("x")}})),
              IsOk());
  ASSERT_EQ(snapshot_->listing().files.size(), 3u);
  EXPECT_EQ(snapshot_->listing().files[0].kind, EntryKind::kSymlink);
  EXPECT_EQ(snapshot_->listing().files[1].kind, EntryKind::kSubmodule);
  EXPECT_EQ(snapshot_->listing().files[2].kind, EntryKind::kFile);
  EXPECT_EQ(snapshot_->listing().objects_received, 3) << "not even the link's text";
}

TEST_F(GitSnapshotTest, PathsAndContentsAreBytes) {
  const std::string odd("\xef\xbb\xbf\r\n\0\xff\r", 8);
  ASSERT_THAT(Fetch(Commit({{kFile, "A.py", repository_.Blob("upper")},
                            {kFile, "a.py", repository_.Blob("lower")},
                            {kFile, "\xff\xfe.py", repository_.Blob(odd)}})),
              IsOk());
  EXPECT_THAT(Contents(),
              ElementsAre(std::make_pair("A.py", "upper"), std::make_pair("a.py", "lower"),
                          std::make_pair("\xff\xfe.py", odd)));
}

TEST_F(GitSnapshotTest, UnsafeNamesAreListedAndTheirBlobsStay) {
  const std::string evil = repository_.Tree({{kFile, "x.py", repository_.Blob("evil")}});
  ASSERT_THAT(Fetch(Commit({{kFolder, "..", evil},
                            {kFolder, ".GIT", evil},
                            {kFile, "ok.py", repository_.Blob("ok")}})),
              IsOk());
  EXPECT_EQ(snapshot_->listing().files.size(), 3u);
  EXPECT_EQ(snapshot_->listing().objects_received, 1 + 2 + 1);
}

TEST_F(GitSnapshotTest, MissingBlobFailsItsFileAlone) {
  const std::string gone1 = repository_.Blob("gone 1"), gone2 = repository_.Blob("gone 2");
  const std::string commit = Commit({{kFile, "a.py", gone1},
                                     {kFile, "b.py", repository_.Blob("b")},
                                     {kFile, "c.py", gone2},
                                     {kFile, "d.py", repository_.Blob("d")}});
  std::filesystem::remove(repository_.ObjectFile(gone1));
  std::filesystem::remove(repository_.ObjectFile(gone2));
  ASSERT_THAT(Fetch(commit), IsOk());
  EXPECT_THAT(Contents(),
              ElementsAre(std::make_pair("a.py", "NOT_FOUND"), std::make_pair("b.py", "b"),
                          std::make_pair("c.py", "NOT_FOUND"), std::make_pair("d.py", "d")));
}

TEST_F(GitSnapshotTest, ManyMissingBlobsAreGivenUpTogether) {
  options_.missing_objects = 2;
  std::vector<TestRepository::Item> items;
  for (int i = 0; i < 5; ++i) {
    const std::string blob = repository_.Blob(absl::StrCat(i));
    items.push_back({kFile, absl::StrCat(i, ".py"), blob});
  }
  const std::string commit = Commit(items);
  for (const TestRepository::Item& item : items) {
    std::filesystem::remove(repository_.ObjectFile(item.id));
  }
  ASSERT_THAT(Fetch(commit), IsOk());
  for (const auto& [path, content] : Contents()) EXPECT_EQ(content, "NOT_FOUND") << path;
}

TEST_F(GitSnapshotTest, MissingTreeFailsTheSourceTyped) {
  const std::string sub = repository_.Tree({{kFile, "x.py", repository_.Blob("x")}});
  const std::string commit = Commit({{kFolder, "sub", sub}});
  std::filesystem::remove(repository_.ObjectFile(sub));
  EXPECT_THAT(Fetch(commit), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(GitSnapshotTest, CorruptBlobFailsTheSourceTyped) {
  const std::string blob = repository_.Blob("to be damaged");
  const std::string commit = Commit({{kFile, "x.py", blob}});
  std::filesystem::permissions(repository_.ObjectFile(blob), std::filesystem::perms::owner_all);
  ASSERT_THAT(WriteFile(repository_.ObjectFile(blob), "no zlib stream"), IsOk());
  const absl::Status fetched = Fetch(commit);
  EXPECT_FALSE(fetched.ok());
}

TEST_F(GitSnapshotTest, UnknownCommitIsNotFound) {
  Commit({});
  EXPECT_THAT(Fetch(std::string(40, 'a')), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(GitSnapshotTest, BlobIsNoCommit) { EXPECT_FALSE(Fetch(repository_.Blob("x")).ok()); }

TEST_F(GitSnapshotTest, CommitThatNoRefNamesAnyMoreIsStillFetched) {
  const std::string pinned = Commit({{kFile, "x.py", repository_.Blob("before")}});
  repository_.SetRef("refs/heads/main", pinned);
  ASSERT_EQ(*PinGit(repository_.path(), "main", options_), pinned);
  repository_.SetRef("refs/heads/main", Commit({{kFile, "x.py", repository_.Blob("after")}}));
  ASSERT_THAT(Fetch(pinned), IsOk());
  EXPECT_THAT(Contents(), ElementsAre(std::make_pair("x.py", "before")));
}

// Twelve objects that stand for 10^10 paths.
TEST_F(GitSnapshotTest, TreeBombIsBounded) {
  options_.tree.entries = 10'000;
  std::string kind = kFile, id = repository_.Blob("x");
  for (int level = 0; level < 10; ++level) {
    std::vector<TestRepository::Item> items;
    for (int i = 0; i < 10; ++i) items.push_back({kind, absl::StrCat("d", i, ".py"), id});
    id = repository_.Tree(items);
    kind = kFolder;
  }
  EXPECT_THAT(Fetch(repository_.Commit(id)), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(GitSnapshotTest, DepthIsBounded) {
  options_.tree.depth = 20;
  std::string id = repository_.Tree({{kFile, "x.py", repository_.Blob("x")}});
  for (int level = 0; level < 20; ++level) id = repository_.Tree({{kFolder, "d", id}});
  EXPECT_THAT(Fetch(repository_.Commit(id)), IsOk());
  snapshot_.reset();
  EXPECT_THAT(Fetch(repository_.Commit(repository_.Tree({{kFolder, "d", id}}))),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(GitSnapshotTest, EmptyTreeHasNoFiles) {
  ASSERT_THAT(Fetch(Commit({})), IsOk());
  EXPECT_TRUE(snapshot_->listing().files.empty());
}

TEST_F(GitSnapshotTest, PackOverTheLimitFailsTyped) {
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 300'000; ++i)
    noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  const std::string commit = Commit({{kFile, "x.py", repository_.Blob(noise)}});
  options_.pack_bytes = 100'000;
  EXPECT_THAT(Fetch(commit), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(GitSnapshotTest, WorkingTreeAndItsGitFolderWork) {
  const std::string commit = Commit({{kFile, "x.py", repository_.Blob("x")}});
  repository_.SetRef("refs/heads/main", commit);
  const TempDir clone = *TempDir::Create();
  repository_.Git({"clone", "--quiet", repository_.path(), clone.path() + "/c"});
  for (const char* suffix : {"/c", "/c/.git"}) {
    absl::StatusOr<std::unique_ptr<Snapshot>> snapshot =
        FetchGit(clone.path() + suffix, commit, globs_, options_);
    ASSERT_THAT(snapshot, IsOk()) << suffix;
    EXPECT_EQ((*snapshot)->listing().files.size(), 1u);
  }
}

}  // namespace
}  // namespace kernelmill::fetcher
