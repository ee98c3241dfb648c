#include "services/extractor/core/history/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/python/parse/python_parser.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Text(absl::string_view name, absl::string_view value) {
  return absl::StrCat("import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef ", name,
                      "(x, y):\n    i = tl.program_id(0)\n    tl.store(y + i, tl.load(x + i) * ",
                      value, ")\n");
}

// A history that is made commit by commit, the newest first.
class FindChangesTest : public ::testing::Test {
 protected:
  // A change of a file; empty texts: it is not there.
  struct File {
    std::string before_path, before, path, after;
  };

  std::string Version(const std::string& path, const std::string& text) {
    if (text.empty()) return "";
    for (const v1::FileVersion& known : versions_.versions()) {
      if (known.content() == text) return known.id();
    }
    v1::FileVersion& version = *versions_.add_versions();
    version.set_id(absl::StrCat("id", versions_.versions_size()));
    version.set_path(path);
    version.set_content(text);
    return version.id();
  }

  void Commit(const std::string& id, const std::vector<File>& files,
              const std::string& message = "x") {
    v1::HistoryCommit& commit = *inputs_.index.add_commits();
    commit.set_commit(id);
    commit.set_message(message);
    for (const File& file : files) {
      v1::HistoryFile& out = *commit.add_files();
      out.set_path(file.path);
      out.set_before_path(file.before_path.empty() ? file.path : file.before_path);
      out.set_before(Version(file.path, file.before));
      out.set_after(Version(file.path, file.after));
    }
  }

  // `head`: the files at the pinned commit.
  std::vector<v1::KernelChange> Find(const std::vector<NamedText>& head) {
    inputs_.versions = 1;
    inputs_.read_versions = [&](size_t) { return versions_; };
    inputs_.kernels = 1;
    inputs_.read_kernels = [&](size_t) { return ExtractAndLink(head); };
    std::vector<v1::KernelChange> changes;
    v1::SourceTree tree;
    tree.set_repository("r");
    const python::StandardParser parser;
    HistoryOutputs outputs;
    outputs.write_changes = [&](v1::ChangeShard shard) {
      if (shard.has_sums()) sums_ = shard.sums();
      for (v1::KernelChange& change : *shard.mutable_changes())
        changes.push_back(std::move(change));
      return absl::OkStatus();
    };
    outputs.write_kernels = [&](const v1::KernelShard& shard) {
      for (const v1::Kernel& kernel : shard.kernels()) compiled_.push_back(kernel);
      return absl::OkStatus();
    };
    HistoryOptions options;
    options.compile.add_toolchains()->set_name("triton-3.5.1");
    options.compile.add_targets("cuda:90");
    const absl::Status found = FindChanges(tree, inputs_, parser, outputs, options);
    EXPECT_TRUE(found.ok()) << found;
    return changes;
  }

  HistoryInputs inputs_;
  v1::VersionShard versions_;
  v1::HistorySums sums_;
  std::vector<v1::Kernel> compiled_;
};

TEST_F(FindChangesTest, AChangeHasBothTextsAndTheKernelAtTheHead) {
  Commit("c", {{"", Text("k", "1"), "f.py", Text("k", "2")}}, "Fix k");
  const std::vector<v1::KernelChange> changes = Find({{"f.py", Text("k", "2")}});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].head(), 0);
  EXPECT_EQ(changes[0].kind(), "fix");
  EXPECT_EQ(changes[0].before().first_line(), 5);
  EXPECT_THAT(changes[0].after().source(), ::testing::StartsWith("@triton.jit\ndef k(x, y):\n"));
  EXPECT_THAT(changes[0].after().module(), ::testing::StartsWith("import triton\n"));
  EXPECT_EQ(sums_.changes(), 1);
}

TEST_F(FindChangesTest, ALineageGoesThroughMovesAndNames) {
  Commit("3", {{"", Text("k", "2"), "g.py", Text("k", "3")}});
  Commit("2", {{"", Text("old", "1"), "f.py", ""}, {"", "", "g.py", Text("k", "2")}});
  Commit("1", {{"", Text("old", "0"), "f.py", Text("old", "1")}});
  const std::vector<v1::KernelChange> changes = Find({{"g.py", Text("k", "3")}});
  ASSERT_EQ(changes.size(), 3u);
  for (const v1::KernelChange& change : changes) {
    EXPECT_EQ(change.lineage(), changes[0].lineage());
    EXPECT_EQ(change.head(), 0);
  }
  EXPECT_EQ(changes[1].match(), "renamed");
  EXPECT_EQ(changes[1].before().path(), "f.py");
}

TEST_F(FindChangesTest, AKernelThatIsGoneHasALineageOfItsOwn) {
  Commit("2", {{"", Text("gone", "2"), "f.py", Text("k", "7.5 + x + y + i")}});
  Commit("1", {{"", Text("gone", "1"), "f.py", Text("gone", "2")}});
  std::vector<v1::KernelChange> changes = Find({{"f.py", Text("k", "7.5 + x + y + i")}});
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes.back().commit(), "1");
}

TEST_F(FindChangesTest, ATextThatComesBackRevertsTheChange) {
  Commit("3", {{"", Text("k", "2"), "f.py", Text("k", "1")}}, "Go on");
  Commit("2", {{"", Text("k", "1"), "f.py", Text("k", "2")}}, "Speed up");
  const std::vector<v1::KernelChange> changes = Find({{"f.py", Text("k", "1")}});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].kind(), "revert");
  EXPECT_THAT(changes[0].reverts(), ElementsAre("2"));
  EXPECT_THAT(changes[1].reverted_by(), ElementsAre("3"));
  EXPECT_EQ(changes[1].kind(), "speed");
}

TEST_F(FindChangesTest, CountsOnlyCommitsAndVersionsWithKernels) {
  Commit("2", {{"", "import triton\n# jit 1\n", "host.py", "import triton\n# jit 2\n"}});
  Commit("1", {{"", Text("k", "1"), "f.py", Text("k", "2")}});
  Find({{"f.py", Text("k", "2")}});
  EXPECT_EQ(sums_.commits_with_kernels(), 1);
  EXPECT_EQ(sums_.versions(), 2);
}

TEST_F(FindChangesTest, VersionsShareTheKernelsThatCompilersTake) {
  Commit("2", {{"", Text("k", "2"), "f.py", Text("k", "3")}});
  Commit("1", {{"", Text("k", "1"), "f.py", Text("k", "2")}});
  const std::vector<v1::KernelChange> changes = Find({{"f.py", Text("k", "3")}});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(compiled_.size(), 3u);
  EXPECT_EQ(changes[0].before().compiled(), changes[1].after().compiled());
  for (const v1::KernelChange& change : changes) {
    for (const v1::KernelVersion& version : {change.before(), change.after()}) {
      const v1::Kernel& kernel = compiled_[static_cast<size_t>(version.compiled())];
      EXPECT_EQ(kernel.module(), version.module());
      EXPECT_EQ(kernel.name(), version.name());
    }
  }
}

TEST_F(FindChangesTest, AVersionThatNeedsAnotherFileIsNotCompiled) {
  Commit("1", {{"", Text("k", "scale(1)"), "f.py", Text("k", "scale(2)")}});
  const std::vector<v1::KernelChange> changes = Find({{"f.py", Text("k", "scale(2)")}});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_FALSE(changes[0].before().has_compiled());
  EXPECT_TRUE(compiled_.empty());
}

TEST_F(FindChangesTest, AFileThatIsOnlyMovedIsNoChange) {
  Commit("1", {{"f.py", Text("k", "1"), "g.py", Text("k", "1")}});
  EXPECT_THAT(Find({{"g.py", Text("k", "1")}}), IsEmpty());
  EXPECT_EQ(sums_.moved(), 1);
}

}  // namespace
}  // namespace kernelmill::extractor
