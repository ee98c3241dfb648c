#include "common/manifest/unmatched.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::manifest {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A job of sources that are given as files, with a kernel of Triton for each file whose text is
// "kernel".
class UnmatchedTest : public ::testing::Test {
 protected:
  using Files = std::vector<std::pair<std::string, std::string>>;

  v1::Source& AddSource(const std::string& name, const Files& files,
                        const std::vector<std::string>& include) {
    v1::Source& source = *manifest_.add_sources()->mutable_source();
    source.set_path(name);
    *source.mutable_include() = {include.begin(), include.end()};
    files_.push_back(files);
    return source;
  }

  void Decide(v1::Fate fate, const std::string& reason) {
    v1::Decision* decision = clusters_.add_decisions();
    decision->set_fate(fate);
    decision->set_reason(reason);
    ++sums_.kernels_found;
    if (fate == v1::FATE_KEPT) ++sums_.kept;
    if (fate == v1::FATE_REJECTED) ++sums_.rejected[ReasonKind(reason)];
  }

  // Returns each as "what where: text".
  std::vector<std::string> Find() {
    std::vector<std::string> texts;
    for (const Unmatched& one : FindAll()) {
      texts.push_back(absl::StrCat(one.what, " ", one.where, ": ", UnmatchedText(one)));
    }
    return texts;
  }

  std::vector<Unmatched> FindAll() {
    UnmatchedFinder finder(manifest_, clusters_, splits_);
    uint32_t number = 0;
    for (int i = 0; i < manifest_.sources_size(); ++i) {
      v1::SourceTree tree;
      v1::FileShard shard;
      v1::KernelShard kernels;
      tree.set_unselected_files(2);
      for (const v1::UnaskedFiles& files : unasked_[i]) *tree.add_unasked_files() = files;
      for (const auto& [path, text] : files_[static_cast<size_t>(i)]) {
        tree.add_files()->set_path(path);
        shard.add_files()->set_path(path);
        shard.mutable_files()->rbegin()->set_content(text);
        if (text == "kernel") kernels.add_kernels()->set_dsl(dsl::kTriton);
        if (absl::StartsWith(text, "import tilelang")) {
          v1::Kernel& kernel = *kernels.add_kernels();
          kernel.set_dsl("tilelang");
          kernel.set_path(path);
        }
      }
      EXPECT_THAT(finder.VisitTree(i, tree), IsOk());
      ShardView view;
      view.source = i;
      view.first_number = number;
      view.kernels = &kernels;
      view.files = &shard;
      finder.VisitShard(view, CountMarkers(view));
      number += static_cast<uint32_t>(kernels.kernels_size());
    }
    EXPECT_THAT(finder.ReadHistories(store_), IsOk());
    return finder.Find(sums_, opt_out_);
  }

  v1::DatasetManifest manifest_;
  v1::Clusters clusters_;
  v1::Splits splits_;
  LedgerSums sums_;
  std::vector<OptOutCount> opt_out_;
  std::vector<Files> files_;
  std::map<int, std::vector<v1::UnaskedFiles>> unasked_;
  cas::MemoryBlobStore store_;
};

TEST_F(UnmatchedTest, AJobThatFindsWhatItAsksForHasNone) {
  AddSource("a", {{"x/a.py", "kernel"}}, {"**/*.py"});
  AddSource("b", {{"b.py", "kernel"}}, {}).set_role(v1::SOURCE_ROLE_HOLDOUT);
  Decide(v1::FATE_KEPT, "");
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(UnmatchedTest, AnIncludeThatMatchesNoFileIsNamed) {
  AddSource("a", {{"x/a.py", "kernel"}}, {"**/*.py", "y/**/*.cu", "*.cu"});
  Decide(v1::FATE_KEPT, "");
  EXPECT_THAT(Find(),
              ElementsAre("include sources[0].include[1]: a: \"y/**/*.cu\" matches none of "
                          "its 3 files",
                          "include sources[0].include[2]: a: \"*.cu\" matches none of its 3 "
                          "files; in all folders: \"**/*.cu\""));
}

TEST_F(UnmatchedTest, EqualGlobsOfSeveralSourcesAreOneEntry) {
  for (const char* name : {"a", "b", "c"}) {
    AddSource(name, {{"x/a.py", "kernel"}}, {"**/*.py", "**/*.cu"});
    Decide(v1::FATE_KEPT, "");
  }
  EXPECT_THAT(Find(), ElementsAre("include sources[0].include[1]: a: \"**/*.cu\" matches none of "
                                  "its 3 files; the same holds for 2 other sources: sources[1], "
                                  "sources[2]"));
}

TEST_F(UnmatchedTest, KindsOfCodeThatNobodyAsksForAreNamed) {
  for (const char* name : {"a", "b"}) {
    AddSource(name, {{"x/a.py", "kernel"}}, {"**/*.py"});
    Decide(v1::FATE_KEPT, "");
  }
  v1::UnaskedFiles cuda;
  cuda.set_glob("**/*.cu");
  cuda.set_files(2);
  cuda.add_paths("a.cu");
  cuda.add_paths("b.cu");
  unasked_[0] = {cuda};
  EXPECT_THAT(Find(), ElementsAre("unasked sources[0].include: a: \"**/*.cu\" is not asked for; it "
                                  "matches 2 files: a.cu, b.cu"));
  cuda.set_files(1);
  unasked_[1] = {cuda};
  EXPECT_THAT(Find(),
              ElementsAre("unasked sources[0].include: a: \"**/*.cu\" is not asked for; it "
                          "matches 2 files; the same holds for 1 other source: sources[1]"));
}

TEST_F(UnmatchedTest, AHistoryWithoutAChangeIsNamed) {
  for (const int changes : {0, 3}) {
    AddSource(changes == 0 ? "a" : "b", {{"a.py", "kernel"}}, {})
        .mutable_history()
        ->set_since("2100-01-01");
    Decide(v1::FATE_KEPT, "");
    v1::ChangeShard shard;
    shard.mutable_sums()->set_commits_seen(7);
    shard.mutable_sums()->set_commits_with_kernels(2);
    shard.mutable_sums()->set_changes(changes);
    const auto digest = cas::PutMessage(store_, shard);
    ASSERT_THAT(digest, IsOk());
    *manifest_.mutable_sources()->rbegin()->add_changes() = *digest;
  }
  EXPECT_THAT(Find(),
              ElementsAre("history sources[0].history: a: \"2100-01-01\" has no change of a "
                          "kernel in 7 commits; files with kernels are in 2"));
}

TEST_F(UnmatchedTest, ASourceAndAHoldoutWithoutKernelsAreNamed) {
  AddSource("a", {{"a.py", "print()"}}, {"**/*.py"});
  AddSource("b", {{"b.py", "print()"}}, {"**/*.py"}).set_role(v1::SOURCE_ROLE_HOLDOUT);
  AddSource("c", {{"c.py", "kernel"}}, {"**/*.py"});
  AddSource("gone", {}, {"**/*.py"});
  manifest_.mutable_sources(3)->set_failed(true);
  Decide(v1::FATE_KEPT, "");
  EXPECT_THAT(Find(), ElementsAre("holdout sources[1]: b: is a holdout without a kernel in 1 "
                                  "file that include selects; it leaves out 2",
                                  "source sources[0]: a: has no kernel in 1 file that include "
                                  "selects; it leaves out 2"));
}

TEST_F(UnmatchedTest, EvidenceNeedsNoKernelAndItsGlobsMustMatch) {
  AddSource("a", {{"a.py", "kernel"}}, {"**/*.py"});
  AddSource("b", {{"b.jsonl", "@triton.jit"}}, {"**/*.jsonl", "more/*"})
      .set_role(v1::SOURCE_ROLE_EVIDENCE);
  Decide(v1::FATE_KEPT, "");
  EXPECT_THAT(
      Find(),
      ElementsAre("include sources[1].include[1]: b: \"more/*\" matches none of its 3 files"));
}

TEST_F(UnmatchedTest, MarkersWithoutAKernelAreCountedWithTheirFiles) {
  const std::string text = "@triton.jit\ndef f(): ...\ng = triton.jit(f)\n@triton.jit\n";
  AddSource("a", {{"d.py", text}, {"c.py", text}, {"b.py", text}, {"a.py", text}, {"e.py", ""}},
            {"**/*.py"});
  AddSource("b", {{"k.py", "kernel"}, {"k.cu", "__global__ __global__"}, {"k.txt", text}},
            {"**/*.py"});
  AddSource("c", {{"k.py", "y = pl.pallas_call(k)(x)"}}, {"**/*.py"});
  Decide(v1::FATE_KEPT, "");
  const std::vector<Unmatched> found = FindAll();
  std::vector<std::string> markers;
  for (const Unmatched& one : found) {
    if (one.what == "marker") markers.push_back(absl::StrCat(one.where, " ", UnmatchedText(one)));
  }
  EXPECT_THAT(markers,
              ElementsAre("sources[0] a: \"@triton.jit\" is there 8 times, and no triton kernel is "
                          "found; 4 files: a.py, b.py, c.py",
                          "sources[0] a: \"triton.jit(\" is there 4 times, and no triton kernel is "
                          "found; 4 files: a.py, b.py, c.py",
                          "sources[1] b: \"__global__\" is there 2 times, and no cuda kernel is "
                          "found; 1 file: k.cu",
                          "sources[2] c: \"pallas_call(\" is there 1 time, and no pallas kernel is "
                          "found; 1 file: k.py"));
}

TEST_F(UnmatchedTest, AMarkerOfTwoLanguagesIsThatOfTheFilesKernels) {
  const std::string text = "@T.prim_func\ndef f(): ...\n";
  AddSource("a", {{"a.py", absl::StrCat("import tilelang\n", text)}, {"b.py", text}}, {"**/*.py"})
      .add_languages("tvm");
  Decide(v1::FATE_KEPT, "");
  EXPECT_THAT(Find(), ElementsAre("marker sources[0]: a: \"@T.prim_func\" is there 1 time, and no "
                                  "tvm kernel is found; 1 file: b.py"));
}

TEST_F(UnmatchedTest, ALicenceListThatRejectsAllIsNamedAndTheDatasetIsEmpty) {
  AddSource("a", {{"a.py", "kernel"}, {"b.py", "kernel"}, {"c.py", "kernel"}}, {"**/*.py"});
  manifest_.mutable_licenses()->add_allow("MIT");
  manifest_.mutable_licenses()->add_allow("ISC");
  Decide(v1::FATE_REJECTED, "license:GPL-3.0-only");
  Decide(v1::FATE_REJECTED, "license:NOASSERTION");
  Decide(v1::FATE_REJECTED, "license:GPL-3.0-only");
  EXPECT_THAT(Find(), ElementsAre("kept dataset: is empty: 3 kernels found, none kept "
                                  "(license:GPL-3.0-only 2, license:NOASSERTION 1)",
                                  "licenses licenses.allow: \"MIT, ISC\" allows none of 3 kernels "
                                  "(license:GPL-3.0-only 2, license:NOASSERTION 1)"));
  sums_.kept = 1;
  sums_.rejected["license"] = 2;
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(UnmatchedTest, AnEmptyDatasetIsNamedFirst) {
  AddSource("a", {}, {"**/*.py"});
  EXPECT_THAT(Find(),
              ElementsAre("kept dataset: is empty: no kernel is found in 0 files of 1 source",
                          HasSubstr("\"**/*.py\" matches none of its 2 files")));
}

TEST_F(UnmatchedTest, ASplitWithoutRowsIsNamed) {
  AddSource("a", {{"a.py", "kernel"}, {"b.py", "kernel"}}, {"**/*.py"});
  Decide(v1::FATE_KEPT, "");
  Decide(v1::FATE_KEPT, "");
  v1::SplitPolicy& policy = *manifest_.mutable_split_policy();
  policy.set_validation(0.001);
  policy.add_test_repositories("b");
  splits_.add_splits(v1::SPLIT_TRAIN);
  splits_.add_splits(v1::SPLIT_TRAIN);
  EXPECT_THAT(Find(), ElementsAre("split splits.validation: \"0.001\" gets none of 2 rows: there "
                                  "is only 1 repository to divide",
                                  "split splits.test_repositories[0]: \"b\" is the name of no "
                                  "source"));
  policy.set_test_repositories(0, "a");
  EXPECT_THAT(Find(), ::testing::Contains(HasSubstr("split splits.test: gets none of 2 rows")));
  policy.set_validation(0);
  splits_.set_splits(1, v1::SPLIT_TEST);
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(UnmatchedTest, AnEmptyTrainIsNamed) {
  AddSource("a", {{"a.py", "kernel"}}, {"**/*.py"});
  Decide(v1::FATE_KEPT, "");
  manifest_.mutable_split_policy()->add_test_repositories("a");
  splits_.add_splits(v1::SPLIT_TEST);
  EXPECT_THAT(Find(), ElementsAre("split splits.train: gets none of 1 row: there is only 1 "
                                  "repository to divide"));
}

TEST_F(UnmatchedTest, AShareThatFewRepositoriesMissIsNamed) {
  for (int i = 0; i < 10; ++i) {
    AddSource(i < 9 ? "a" : "b", {{absl::StrCat(i, ".py"), "kernel"}}, {"**/*.py"});
    Decide(v1::FATE_KEPT, "");
    splits_.add_splits(i < 9 ? v1::SPLIT_TEST : v1::SPLIT_TRAIN);
  }
  v1::SplitPolicy& policy = *manifest_.mutable_split_policy();
  policy.set_test(0.1);
  EXPECT_THAT(Find(), ElementsAre("split splits.test: \"0.1\" gets 0.9 (9 of 10 rows): "
                                  "there are only 2 repositories to divide"));
  policy.set_test(0.5);
  EXPECT_THAT(Find(), IsEmpty());
  // With many repositories the shares are as good as they get.
  policy.set_test(0.1);
  for (int i = 0; i < 20; ++i) AddSource(absl::StrCat("c", i), {{"a.py", "kernel"}}, {"**/*.py"});
  for (int i = 0; i < 20; ++i) Decide(v1::FATE_REJECTED, "quality:x");
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(UnmatchedTest, AnOptOutThatNamesNothingIsNamed) {
  AddSource("a", {{"a.py", "kernel"}}, {"**/*.py"});
  Decide(v1::FATE_KEPT, "");
  manifest_.add_opt_out()->set_owner("github.com/somebody");
  manifest_.add_opt_out()->set_repository("a");
  manifest_.mutable_opt_out(1)->set_path("x/**");
  manifest_.add_opt_out()->set_repository("a");
  opt_out_.resize(3);
  opt_out_[1].sources = 1;
  opt_out_[2].kernels = 1;
  EXPECT_THAT(Find(),
              ElementsAre("opt_out opt_out[0]: \"github.com/somebody\" names no source of the job",
                          "opt_out opt_out[1]: \"a x/**\" names no kernel in 1 source"));
}

TEST_F(UnmatchedTest, ForeignTextsAreSpelledOutAndShort) {
  AddSource("evil\u202ename", {{"a.py", "kernel"}}, {"\u2066/*\x1b.py", std::string(500, 'x')});
  Decide(v1::FATE_KEPT, "");
  const std::vector<Unmatched> found = FindAll();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].source, "evil\\u202ename");
  EXPECT_EQ(found[0].asked, "\\u2066/*\\x1b.py");
  for (const Unmatched& one : found) EXPECT_LT(ToJson(one).size(), 4096u);
}

TEST(Unmatched, ItsJsonIsReadAgain) {
  const Unmatched one = {"marker", "sources[0]", "a \"b\"", "x", "is there", {"p", "q"}};
  const Unmatched again = ReadUnmatched(ToJson(one));
  EXPECT_EQ(UnmatchedText(again), UnmatchedText(one));
  EXPECT_EQ(again.what, "marker");
  EXPECT_EQ(again.where, "sources[0]");
  EXPECT_EQ(ReadUnmatched("words").message, "words");
  EXPECT_EQ(ReadUnmatched("{\"paths\":[1],\"what\":2}").what, "");
}

}  // namespace
}  // namespace kernelmill::manifest
