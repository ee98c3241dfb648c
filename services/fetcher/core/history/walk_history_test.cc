#include "services/fetcher/core/history/walk_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/core/history/imported_files.h"
#include "services/fetcher/core/history/may_hold_kernel.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// A text that may hold kernels; without `number`, one that may not.
std::string Kernel(int number) {
  return absl::StrCat("@triton.jit\ndef k(): pass  # ", number, "\n");
}

// A repository in memory, whose blobs' ids are their texts.
class FakeObjects : public PastObjects {
 public:
  using Files = std::map<std::string, std::string>;  // texts by path

  // Adds a commit on top of the last one.
  void Commit(const std::string& id, const Files& files, int64_t time = 100) {
    PastCommit commit;
    commit.tree = AddTree(files);
    if (!last_.empty()) commit.parents = {last_};
    commit.commit_time = commit.author_time = time;
    commit.message = absl::StrCat("message of ", id);
    commits_[id] = commit;
    last_ = id;
  }

  absl::Status BringCommits(const std::string& commit, int depth) override {
    std::string at = commit;
    for (int i = 0; i < depth && !at.empty(); ++i) {
      brought_.insert(at);
      at = commits_[at].parents.empty() ? "" : commits_[at].parents[0];
    }
    return absl::OkStatus();
  }
  absl::Status BringTrees(const std::vector<std::string>& ids) override {
    brought_.insert(ids.begin(), ids.end());
    return absl::OkStatus();
  }
  absl::Status BringBlobs(const std::vector<std::string>& ids) override {
    for (const std::string& id : ids) {
      if (brought_.insert(id).second) blobs.push_back(id);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<PastCommit> ReadCommit(const std::string& id) override {
    if (!brought_.contains(id)) return absl::NotFoundError(id);
    return commits_.at(id);
  }
  absl::StatusOr<std::vector<PastEntry>> ReadTree(const std::string& id) override {
    if (loses_trees || !brought_.contains(id)) return absl::NotFoundError(id);
    return trees_.at(id);
  }
  absl::StatusOr<int64_t> BlobSize(const std::string& id) override {
    if (!brought_.contains(id)) return absl::NotFoundError(id);
    return static_cast<int64_t>(id.size());
  }
  absl::StatusOr<std::string> ReadBlob(const std::string& id) override {
    if (!brought_.contains(id)) return absl::NotFoundError(id);
    return id;
  }

  bool loses_trees = false;
  std::vector<std::string> blobs;  // as they were brought

 private:
  std::string AddTree(const Files& files) {
    std::map<std::string, Files> folders;
    std::vector<PastEntry> entries;
    std::string id = "tree";
    for (const auto& [path, text] : files) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(path, absl::MaxSplits('/', 1));
      if (parts.second.empty()) {
        entries.push_back({path, text, false, true});
      } else {
        folders[parts.first][parts.second] = text;
      }
      absl::StrAppend(&id, "|", path, "=", text);
    }
    for (const auto& [name, below] : folders)
      entries.push_back({name, AddTree(below), true, false});
    trees_[id] = entries;
    return id;
  }

  std::string last_;
  std::map<std::string, PastCommit> commits_;
  std::map<std::string, std::vector<PastEntry>> trees_;
  std::set<std::string> brought_;
};

class WalkHistoryTest : public ::testing::Test {
 protected:
  WalkHistoryTest() {
    request_.depth = 100;
    request_.wanted = [](absl::string_view path) { return !absl::StartsWith(path, "docs"); };
    request_.importable = request_.wanted;
    request_.license_files = {"LICENSE"};
  }

  // "commit path before-path" of each file, the newest first.
  std::vector<std::string> Walk(const std::string& head, std::vector<std::string> at_head) {
    request_.commit = head;
    request_.at_head = std::move(at_head);
    absl::StatusOr<WalkedHistory> walked = WalkHistory(objects_, request_, limits_);
    EXPECT_THAT(walked, IsOk());
    if (!walked.ok()) return {};
    walked_ = *std::move(walked);
    std::vector<std::string> out;
    for (const v1::HistoryCommit& commit : walked_.index.commits()) {
      for (const v1::HistoryFile& file : commit.files()) {
        out.push_back(
            absl::StrCat(commit.commit(), " ", file.path(), file.before().empty() ? " added" : "",
                         file.after().empty() ? " deleted" : "",
                         file.before_path() != file.path() ? " from " + file.before_path() : ""));
      }
    }
    return out;
  }

  FakeObjects objects_;
  HistoryRequest request_;
  HistoryLimits limits_;
  WalkedHistory walked_;
};

TEST_F(WalkHistoryTest, FollowsAFileToTheCommitThatAddsItAndBringsNoOther) {
  objects_.Commit("1", {{"a/k.py", Kernel(1)}, {"a/other.py", "1"}, {"docs/k.py", Kernel(8)}});
  objects_.Commit("2", {{"a/k.py", Kernel(1)}, {"a/other.py", "2"}, {"docs/k.py", Kernel(9)}});
  objects_.Commit("3", {{"a/k.py", Kernel(3)}, {"a/other.py", "3"}, {"docs/k.py", Kernel(9)}});
  EXPECT_THAT(Walk("3", {"a/k.py"}), ElementsAre("3 a/k.py", "1 a/k.py added"));
  EXPECT_THAT(objects_.blobs, UnorderedElementsAre(Kernel(1), Kernel(3)));
  EXPECT_EQ(walked_.index.commits_seen(), 3);
  EXPECT_EQ(walked_.index.end(), "root");
  EXPECT_EQ(walked_.index.commits(0).message(), "message of 3");
  EXPECT_EQ(walked_.versions.size(), 2u);
}

TEST_F(WalkHistoryTest, FollowsAFileThroughAMoveThatLeavesItAsItIs) {
  objects_.Commit("1", {{"old.py", Kernel(1)}});
  objects_.Commit("2", {{"old.py", Kernel(2)}});
  objects_.Commit("3", {{"new/k.py", Kernel(2)}});
  EXPECT_THAT(Walk("3", {"new/k.py"}),
              ElementsAre("3 new/k.py from old.py", "2 old.py", "1 old.py added"));
  EXPECT_EQ(walked_.index.probed(), 0);
}

TEST_F(WalkHistoryTest, ProbesFilesThatAreDeletedOnce) {
  objects_.Commit("1", {{"gone.py", Kernel(1)}, {"plain.py", "plain 1"}});
  objects_.Commit("2", {{"gone.py", Kernel(2)}, {"plain.py", "plain 2"}});
  objects_.Commit("3", {});
  EXPECT_THAT(Walk("3", {}), ElementsAre("3 gone.py deleted", "2 gone.py", "1 gone.py added"));
  EXPECT_EQ(walked_.index.probed(), 2);
  EXPECT_THAT(objects_.blobs, UnorderedElementsAre(Kernel(1), Kernel(2), "plain 2"));
}

TEST_F(WalkHistoryTest, ProbesTheFilesBesideANewOneForTheOriginOfItsKernels) {
  objects_.Commit("1", {{"both.py", Kernel(1)}});
  objects_.Commit("2", {{"both.py", Kernel(2)}});
  objects_.Commit("3", {{"both.py", "host"}, {"k.py", Kernel(3)}});
  EXPECT_THAT(Walk("3", {"k.py"}),
              ElementsAre("3 both.py", "3 k.py added", "2 both.py", "1 both.py added"));
}

TEST_F(WalkHistoryTest, ProbesNoFileOfAnotherTopFolderBesideANewOne) {
  FakeObjects::Files files = {{"src/a.py", "a 1"},
                              {"tests/b.py", "b 1"},
                              {"root.py", "root 1"},
                              {"tests/with_kernel.py", Kernel(7)}};
  objects_.Commit("1", files);
  files["src/a.py"] = "a 2";
  files["tests/b.py"] = "b 2";
  files["root.py"] = "root 2";
  files["src/ops/k.py"] = Kernel(1);
  objects_.Commit("2", files);
  Walk("2", {"src/ops/k.py", "tests/with_kernel.py"});
  EXPECT_THAT(objects_.blobs, UnorderedElementsAre("a 1", "root 1", Kernel(1), Kernel(7)));
}

TEST_F(WalkHistoryTest, ProbesAFileBesideManyNewOnesAtBothEndsFirst) {
  FakeObjects::Files files = {{"host.py", "host 0"}, {"from.py", Kernel(0)}};
  std::vector<std::string> paths;
  for (int i = 1; i <= 4; ++i) {
    objects_.Commit(absl::StrCat("a", i), files);
    files["host.py"] = absl::StrCat("host ", i);
    files["from.py"] = i < 3 ? Kernel(i) : absl::StrCat("from ", i);
    paths.push_back(absl::StrCat("k", i, ".py"));
    files[paths.back()] = Kernel(10 + i);
  }
  objects_.Commit("b", files);
  Walk("b", paths);
  EXPECT_THAT(objects_.blobs, ::testing::IsSupersetOf({std::string("host 0"), std::string("host 3"),
                                                       Kernel(0), Kernel(1), Kernel(2)}));
  EXPECT_THAT(objects_.blobs, ::testing::Not(::testing::Contains("host 1")));
  EXPECT_THAT(objects_.blobs, ::testing::Not(::testing::Contains("host 2")));
}

TEST_F(WalkHistoryTest, DoesNotProbeWhatIsFarFromAllThatIsFollowed) {
  const FakeObjects::Files kernels = {{"src/ops/k.py", Kernel(1)}};
  FakeObjects::Files before = kernels;
  for (const char* path : {"src/ops/same.py", "src/above.py", "src/ops/in/below.py",
                           "src/layers/beside.py", "web/app/far.py", "web/app/kernels.py"}) {
    before[path] = absl::StrCat("plain ", path);
  }
  objects_.Commit("1", before);
  objects_.Commit("2", kernels);
  Walk("2", {"src/ops/k.py"});
  EXPECT_THAT(objects_.blobs,
              UnorderedElementsAre(Kernel(1), "plain src/ops/same.py", "plain src/above.py",
                                   "plain src/ops/in/below.py", "plain src/layers/beside.py",
                                   "plain web/app/kernels.py"));
}

// A file that takes its scale from another one, and a name for its host code from a third.
std::string Importing(int number) {
  return absl::StrCat(
      "from .scale import scale\nfrom .host import run\n\n\n@triton.jit\n"
      "def k(): return scale()  # ",
      number, "\n\n\ndef launch(): run(k)\n");
}

std::string Calling(int number) {
  return absl::StrCat("from b.k import j\n\n\n@triton.jit\ndef k(): j()  # ", number, "\n");
}

class ImportsTest : public WalkHistoryTest {
 protected:
  // The head is the last commit: `files`.
  void WalkFrom(const std::string& head, const FakeObjects::Files& files,
                std::vector<std::string> at_head) {
    for (const auto& [path, text] : files) {
      if (ImportedFiles::MayBe(path)) request_.importable_files[path] = text;
    }
    objects_.Commit(head, files);
    objects_.BringCommits(head, 1).IgnoreError();
    for (const auto& [path, text] : files) objects_.BringBlobs({text}).IgnoreError();
    objects_.blobs.clear();
    Walk(head, std::move(at_head));
  }

  // "path id" of what a file imports on a side of the commit with this number.
  std::vector<std::string> Imports(int commit, bool after) {
    const v1::HistoryFile& file = walked_.index.commits(commit).files(0);
    std::vector<std::string> out;
    for (const int32_t place : after ? file.after_imports() : file.before_imports()) {
      const v1::ImportedFile& one = walked_.index.imported(place);
      out.push_back(absl::StrCat(one.path(), " ", one.id()));
    }
    return out;
  }
};

TEST_F(ImportsTest, AVersionHasWhatItsKernelsImportAtItsCommit) {
  FakeObjects::Files files = {{"a/__init__.py", "all = 1"},
                              {"a/k.py", Importing(1)},
                              {"a/scale.py", "def scale(): return 1"},
                              {"a/host.py", "def run(k): k()  # 1"}};
  objects_.Commit("1", files);
  files["a/host.py"] = "def run(k): k()  # 2";
  files["a/scale.py"] = "def scale(): return 2";
  objects_.Commit("2", files);
  files["a/k.py"] = Importing(2);
  objects_.Commit("3", files);
  files["a/k.py"] = Importing(3);
  files["a/scale.py"] = "def scale(): return 4";
  WalkFrom("4", files, {"a/k.py"});
  ASSERT_EQ(walked_.index.commits_size(), 3);
  EXPECT_THAT(Imports(0, true), ElementsAre("a/__init__.py ", "a/scale.py def scale(): return 4"));
  EXPECT_THAT(Imports(0, false), ElementsAre("a/__init__.py ", "a/scale.py def scale(): return 2"));
  EXPECT_THAT(Imports(1, true), ElementsAre("a/__init__.py ", "a/scale.py def scale(): return 2"));
  EXPECT_THAT(Imports(2, true), ElementsAre("a/__init__.py ", "a/scale.py def scale(): return 1"));
  EXPECT_THAT(Imports(2, false), IsEmpty());
  EXPECT_THAT(objects_.blobs,
              UnorderedElementsAre(Importing(1), Importing(2), "def scale(): return 1",
                                   "def scale(): return 2"));
  EXPECT_EQ(walked_.imported_bytes, 3 * 21);
  EXPECT_EQ(walked_.index.versions(), 3);
}

TEST_F(ImportsTest, ImportsAreFollowedThroughFilesThatHandANameOn) {
  FakeObjects::Files files = {{"a/__init__.py", ""},
                              {"a/k.py", Importing(1)},
                              {"a/scale.py", "from a.deep import *\nfrom a.other import more\n"},
                              {"a/deep.py", "from . import names\n\ndef scale(): return names.X\n"},
                              {"a/names.py", "X = 1\n"},
                              {"a/other.py", "more = 1\n"}};
  objects_.Commit("1", files);
  files["a/k.py"] = Importing(2);
  WalkFrom("2", files, {"a/k.py"});
  EXPECT_THAT(Imports(1, true), ElementsAre("a/__init__.py ", "a/deep.py " + files["a/deep.py"],
                                            "a/names.py " + files["a/names.py"],
                                            "a/scale.py " + files["a/scale.py"]));
}

TEST_F(ImportsTest, AFileOutsideOfTheHistorysPathsMayBeImportedButIsNotFollowed) {
  request_.wanted = [](absl::string_view path) { return absl::StartsWith(path, "a/"); };
  FakeObjects::Files files = {{"a/k.py", Calling(1)}, {"b/k.py", "@triton.jit\ndef j(): pass\n"}};
  objects_.Commit("1", files);
  files["b/k.py"] = "@triton.jit\ndef j(): return\n";
  objects_.Commit("2", files);
  files["a/k.py"] = Calling(2);
  WalkFrom("3", files, {"a/k.py"});
  ASSERT_EQ(walked_.index.commits_size(), 2);
  EXPECT_THAT(Imports(1, true), ElementsAre("b/k.py @triton.jit\ndef j(): pass\n"));
}

TEST_F(ImportsTest, ACudaVersionHasTheHeadersThatItIncludesAtItsCommit) {
  const auto kernel = [](int number) {
    return absl::StrCat("#include <vector>\n#include \"a.cuh\"\n__global__ void k() {}  // ",
                        number, "\n");
  };
  FakeObjects::Files files = {{"src/k.cu", kernel(1)},
                              {"src/a.cuh", "#include \"common/b.h\"\n"},
                              {"include/common/b.h", "#define B 1\n"},
                              {"include/common/other.h", "#define C 1\n"}};
  objects_.Commit("1", files);
  files["include/common/b.h"] = "#define B 2\n";
  files["include/common/other.h"] = "#define C 2\n";
  objects_.Commit("2", files);
  files["src/k.cu"] = kernel(2);
  WalkFrom("3", files, {"src/k.cu"});
  ASSERT_EQ(walked_.index.commits_size(), 2);
  EXPECT_THAT(Imports(0, true), ElementsAre("include/common/b.h #define B 2\n",
                                            "src/a.cuh #include \"common/b.h\"\n"));
  EXPECT_THAT(Imports(1, true), ElementsAre("include/common/b.h #define B 1\n",
                                            "src/a.cuh #include \"common/b.h\"\n"));
  EXPECT_THAT(objects_.blobs, UnorderedElementsAre(kernel(1), "#define B 1\n"));
}

TEST_F(ImportsTest, ABoundLeavesOutFartherFiles) {
  FakeObjects::Files files = {{"a/k.py", Importing(1)},
                              {"a/scale.py", "from a.deep import scale\n"},
                              {"a/deep.py", "def scale(): return 1\n"}};
  objects_.Commit("1", files);
  files["a/k.py"] = Importing(2);
  limits_.imported.least_bytes = limits_.imported.most_bytes = 30;
  WalkFrom("2", files, {"a/k.py"});
  EXPECT_THAT(Imports(0, true), ElementsAre("a/scale.py " + files["a/scale.py"]));
}

TEST(MayHoldKernelTest, HostCodeDoesNot) {
  EXPECT_TRUE(MayHoldKernel("import triton\n\n@triton.jit\ndef k(): pass\n"));
  EXPECT_TRUE(MayHoldKernel("__global__ void k() {}"));
  EXPECT_FALSE(MayHoldKernel("import triton\n\nn = triton.cdiv(1, 2)\n"));
  EXPECT_FALSE(MayHoldKernel("import triton\n\ndef jitter(): get_jit_cache()\n"));
  EXPECT_FALSE(MayHoldKernel("import triton, torch\n\n@torch.jit.script\ndef k(): pass\n"));
  EXPECT_TRUE(MayHoldKernel("import triton\n\n@torch.jit.ignore\n@my.jit\ndef k(): pass\n"));
}

TEST_F(WalkHistoryTest, DepthAndSinceEndTheWalk) {
  for (int i = 1; i <= 4; ++i) objects_.Commit(absl::StrCat(i), {{"k.py", Kernel(i)}}, i * 100);
  request_.depth = 2;
  EXPECT_THAT(Walk("4", {"k.py"}), ElementsAre("4 k.py", "3 k.py"));
  EXPECT_EQ(walked_.index.end(), "depth");
  request_.depth = 100;
  request_.since = 400;
  EXPECT_THAT(Walk("4", {"k.py"}), ElementsAre("4 k.py"));
  EXPECT_EQ(walked_.index.end(), "since");
}

TEST_F(WalkHistoryTest, TheLimitOfVersionsLeavesOutOldCommits) {
  for (int i = 1; i <= 5; ++i) objects_.Commit(absl::StrCat(i), {{"k.py", Kernel(i)}});
  limits_.versions = 3;
  EXPECT_THAT(Walk("5", {"k.py"}), ElementsAre("5 k.py", "4 k.py"));
  EXPECT_EQ(walked_.index.end(), "limit");
}

TEST_F(WalkHistoryTest, LicencesAreComparedWithoutTheirHolders) {
  const std::string text = "Permission is granted";
  objects_.Commit("1", {{"k.py", Kernel(1)}});
  objects_.Commit("2", {{"k.py", Kernel(2)}, {"LICENSE", "All rights reserved"}});
  objects_.Commit("3", {{"k.py", Kernel(3)}, {"LICENSE", "Copyright 2023 A\n" + text}});
  objects_.Commit("4", {{"k.py", Kernel(4)}, {"LICENSE", "Copyright 2024 B\n" + text}});
  Walk("4", {"k.py"});
  std::vector<std::string> states;
  for (const v1::HistoryCommit& commit : walked_.index.commits())
    states.push_back(commit.license_files());
  EXPECT_THAT(states, ElementsAre("same", "same", "changed", "absent"));
}

TEST_F(WalkHistoryTest, AFolderThatIsMissingIsDamage) {
  objects_.Commit("1", {{"k.py", Kernel(1)}});
  objects_.loses_trees = true;
  request_.commit = "1";
  EXPECT_THAT(WalkHistory(objects_, request_, limits_), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace kernelmill::fetcher
