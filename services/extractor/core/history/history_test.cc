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

// A kernel whose helper is in another file, and that helper.
std::string Scaling(absl::string_view value) {
  return absl::StrCat("from .scale import scale\n", Text("k", absl::StrCat("scale(", value, ")")));
}

std::string Scale(absl::string_view value) {
  return absl::StrCat("import triton\n\n\n@triton.jit\ndef scale(x):\n    return x * ", value,
                      "\n");
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

  // Makes the file that was added last import another one on a side; an empty text: only its name
  // counts.
  void Import(bool after, const std::string& path, const std::string& text) {
    v1::HistoryCommit& commit = *inputs_.index.mutable_commits()->rbegin();
    v1::HistoryFile& file = *commit.mutable_files()->rbegin();
    (after ? file.mutable_after_imports() : file.mutable_before_imports())
        ->Add(inputs_.index.imported_size());
    v1::ImportedFile& imported = *inputs_.index.add_imported();
    imported.set_path(path);
    imported.set_id(Version(path, text));
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

TEST_F(FindChangesTest, ATextThatComesBackHasTheKindThatTheMessageSays) {
  const std::string old = Text("k", "2"), other = Text("k", "3");
  Commit("3", {{"", other, "a.py", old}}, "Fix the scale");
  Commit("2", {{"", old, "a.py", other}});
  const std::vector<v1::KernelChange> changes = Find({{"a.py", old}});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].kind(), "fix");
  EXPECT_THAT(changes[0].reverts(), ElementsAre("2"));
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

TEST_F(FindChangesTest, AVersionHasWhatItImportsAtItsCommit) {
  Commit("2", {{"", Scaling("2"), "a/f.py", Scaling("3")}});
  Import(false, "a/scale.py", Scale("8"));
  Import(true, "a/scale.py", Scale("9"));
  Commit("1", {{"", Scaling("1"), "a/f.py", Scaling("2")}});
  Import(false, "a/scale.py", Scale("7"));
  Import(true, "a/scale.py", Scale("7"));
  const std::vector<v1::KernelChange> changes =
      Find({{"a/f.py", Scaling("3")}, {"a/scale.py", Scale("9")}});
  ASSERT_EQ(changes.size(), 2u) << "the change of a helper does not count, nor do imported files";
  EXPECT_THAT(changes[0].after().module(), ::testing::HasSubstr("return x * 9\n"));
  EXPECT_THAT(changes[0].before().module(), ::testing::HasSubstr("return x * 8\n"));
  EXPECT_THAT(changes[1].after().module(), ::testing::HasSubstr("return x * 7\n"));
  EXPECT_EQ(changes[0].before().source(), changes[1].after().source());
  EXPECT_EQ(compiled_.size(), 4u);
  std::vector<std::string> paths;
  for (const v1::ModulePiece& piece : changes[0].after().pieces()) paths.push_back(piece.path());
  EXPECT_THAT(paths, ElementsAre("a/f.py", "a/f.py", "a/scale.py", "a/f.py"));
}

TEST_F(FindChangesTest, ACudaVersionHasTheHeadersThatItIncludesAtItsCommit) {
  const auto kernel = [](int number) {
    return absl::StrCat(
        "#include \"scale.cuh\"\n__global__ void k(float* x) { x[threadIdx.x] *= scale() + ",
        number, "; }\n");
  };
  const auto scale = [](int number) {
    return absl::StrCat("__device__ float scale() { return ", number, "; }\n");
  };
  Commit("1", {{"", kernel(1), "a/k.cu", kernel(2)}});
  Import(false, "a/scale.cuh", scale(7));
  Import(true, "a/scale.cuh", scale(8));
  const std::vector<v1::KernelChange> changes =
      Find({{"a/k.cu", kernel(2)}, {"a/scale.cuh", scale(9)}});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(changes[0].before().module(), ::testing::HasSubstr("return 7; }"));
  EXPECT_THAT(changes[0].after().module(), ::testing::HasSubstr("return 8; }"));
}

TEST_F(FindChangesTest, AnImportIsResolvedAsTheFilesAtItsCommitSay) {
  const std::string absolute = absl::StrCat("from a.scale import scale\n", Text("k", "scale(1)"));
  Commit("1", {{"", absolute, "src/a/f.py", absolute + "\n\nx = 1\n"}});
  Import(false, "src/a/__init__.py", "");
  Import(false, "src/a/scale.py", Scale("7"));
  Commit("0", {{"", Text("k", "1"), "src/a/f.py", absolute}});
  Import(true, "src/a/__init__.py", "");
  Import(true, "src/a/scale.py", Scale("7"));
  const std::vector<v1::KernelChange> changes = Find({});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(changes[0].after().module(), ::testing::HasSubstr("return x * 7\n"));
  inputs_.index.mutable_commits(0)->mutable_files(0)->add_after_imports(9);
  HistoryOutputs none;
  EXPECT_EQ(FindChanges({}, inputs_, python::StandardParser(), none).code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(FindChangesTest, AFileThatIsOnlyMovedIsNoChange) {
  Commit("1", {{"f.py", Text("k", "1"), "g.py", Text("k", "1")}});
  EXPECT_THAT(Find({{"g.py", Text("k", "1")}}), IsEmpty());
  EXPECT_EQ(sums_.moved(), 1);
}

}  // namespace
}  // namespace kernelmill::extractor
