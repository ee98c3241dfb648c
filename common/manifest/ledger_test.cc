#include "common/manifest/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::manifest {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Two sources, the second a holdout: three kernels in two shards, and one.
struct Dataset {
  v1::DatasetManifest manifest;
  v1::Clusters clusters;
  std::vector<v1::KernelShard> shards;
  std::vector<v1::VerdictShard> verdicts;
  std::vector<v1::SourceTree> trees;

  Dataset() : shards(3), verdicts(2), trees(2) {
    manifest.add_sources()->set_failed_files(2);
    manifest.add_sources()->mutable_source()->set_role(v1::SOURCE_ROLE_HOLDOUT);
    for (int i = 0; i < 5; ++i) AddFile(0, v1::FILE_FATE_SHARDED, "");
    AddFile(0, v1::FILE_FATE_SKIPPED, "symlink");
    AddFile(0, v1::FILE_FATE_FAILED, "unreadable");
    AddFile(1, v1::FILE_FATE_SHARDED, "");
    AddExtracted(0, 2, "");
    AddExtracted(1, 0, "too_deep");
    AddExtracted(1, 1, "");  // the other two of source 0 are lost with their shard
    AddExtracted(2, 1, "");
    trees[0].mutable_files(1)->set_support(true);
    for (const int shard : {0, 2}) {
      v1::OtherDsl* dsl = shards[shard].mutable_files(0)->add_other_dsls();
      dsl->set_name("cute");
      dsl->set_functions(2 + shard);
    }
    shards[0].mutable_files(0)->add_skipped_strings()->set_reason("not_verbatim");
    shards[2].mutable_files(0)->add_skipped_strings()->set_reason("not_verbatim");
    for (int i = 0; i < 3; ++i) AddKernels(i);
    Decide(v1::FATE_KEPT, "");
    Decide(v1::FATE_REJECTED, "license:GPL-3.0-only");
    Decide(v1::FATE_DUPLICATE, "near");
    Decide(v1::FATE_HOLDOUT, "");
  }

  void AddFile(int tree, v1::FileFate fate, const std::string& reason) {
    v1::FileEntry* file = trees[tree].add_files();
    file->set_fate(fate);
    file->set_reason(reason);
  }
  void AddExtracted(int shard, int kernels, const std::string& failed) {
    v1::ExtractedFile* file = shards[shard].add_files();
    file->set_kernels(kernels);
    file->set_failed(failed);
  }
  void AddKernels(int shard) {
    for (const v1::ExtractedFile& file : shards[shard].files()) {
      for (int i = 0; i < file.kernels(); ++i) {
        shards[shard].add_kernels()->set_id(absl::StrCat(shard, ".", i));
        if (shard < 2) verdicts[shard].add_verdicts();
      }
    }
  }
  void Decide(v1::Fate fate, const std::string& reason) {
    v1::Decision* decision = clusters.add_decisions();
    decision->set_fate(fate);
    decision->set_reason(reason);
  }

  // Stores everything and completes the manifest.
  void Store(cas::BlobStore& store) {
    for (int i = 0; i < 2; ++i) {
      *manifest.mutable_sources(i)->mutable_tree() = *cas::PutMessage(store, trees[i]);
    }
    for (int i = 0; i < 3; ++i) {
      v1::ManifestSource* source = manifest.mutable_sources(i / 2);
      *source->add_kernels() = *cas::PutMessage(store, shards[i]);
      if (i < 2) *source->add_verdicts() = *cas::PutMessage(store, verdicts[i]);
    }
  }

  absl::StatusOr<LedgerSums> Sum() {
    cas::MemoryBlobStore store;
    Store(store);
    return SumLedger(store, manifest, clusters);
  }
};

TEST(Ledger, AVerdictOfAJobThatCompilesHasWhatCompilersSay) {
  Dataset dataset;
  dataset.manifest.mutable_compile();
  EXPECT_THAT(dataset.Sum(), StatusIs(absl::StatusCode::kInternal));
  Dataset whole;
  whole.manifest.mutable_compile();
  for (v1::VerdictShard& shard : whole.verdicts) {
    for (v1::Verdict& verdict : *shard.mutable_verdicts()) verdict.mutable_compiled();
  }
  EXPECT_THAT(whole.Sum(), IsOk());
}

TEST(Ledger, FilesOfEvidenceAreNoPartOfTheSums) {
  Dataset dataset;
  const absl::StatusOr<LedgerSums> without = dataset.Sum();
  ASSERT_THAT(without, IsOk());
  Dataset with;
  with.trees.emplace_back();
  with.AddFile(2, v1::FILE_FATE_SHARDED, "");
  with.AddFile(2, v1::FILE_FATE_SKIPPED, "symlink");
  with.manifest.add_sources()->mutable_source()->set_role(v1::SOURCE_ROLE_EVIDENCE);
  cas::MemoryBlobStore store;
  with.Store(store);
  *with.manifest.mutable_sources(2)->mutable_tree() = *cas::PutMessage(store, with.trees[2]);
  with.manifest.mutable_sources(2)->add_files();
  const absl::StatusOr<LedgerSums> sums = SumLedger(store, with.manifest, with.clusters);
  ASSERT_THAT(sums, IsOk());
  EXPECT_EQ(sums->files_seen, without->files_seen);
  EXPECT_EQ(sums->files_skipped, without->files_skipped);
  EXPECT_THAT(CheckConservation(*sums), IsOk());
}

class Recorder final : public DatasetVisitor {
 public:
  absl::Status VisitTree(int source, const v1::SourceTree& tree) override {
    seen.push_back(absl::StrCat("tree ", source));
    return absl::OkStatus();
  }
  absl::Status VisitShard(const ShardView& view) override {
    for (int i = 0; i < view.kernels->kernels_size(); ++i) {
      seen.push_back(absl::StrCat(view.source, "/", view.shard, "/", view.kernels->kernels(i).id(),
                                  " ", view.first_number + i,
                                  view.verdicts == nullptr ? " holdout" : ""));
    }
    return absl::OkStatus();
  }
  std::vector<std::string> seen;
};

TEST(WalkDataset, NumbersKernelsBySourceShardAndPlace) {
  Dataset dataset;
  cas::MemoryBlobStore store;
  dataset.Store(store);
  Recorder recorder;
  EXPECT_THAT(WalkDataset(store, dataset.manifest, recorder), IsOk());
  EXPECT_THAT(recorder.seen, ElementsAre("tree 0", "0/0/0.0 0", "0/0/0.1 1", "0/1/1.0 2", "tree 1",
                                         "1/0/2.0 3 holdout"));
}

TEST(WalkDataset, PassesOverAFailedSource) {
  Dataset dataset;
  cas::MemoryBlobStore store;
  dataset.Store(store);
  dataset.manifest.mutable_sources(0)->Clear();
  dataset.manifest.mutable_sources(0)->set_failed(true);
  Recorder recorder;
  EXPECT_THAT(WalkDataset(store, dataset.manifest, recorder), IsOk());
  EXPECT_THAT(recorder.seen, ElementsAre("tree 1", "1/0/2.0 0 holdout"));
}

TEST(WalkDataset, RefusesVerdictsThatAreNotAsMany) {
  Dataset dataset;
  dataset.verdicts[0].add_verdicts();
  EXPECT_THAT(dataset.Sum(), StatusIs(absl::StatusCode::kInternal));
  Dataset other;
  cas::MemoryBlobStore store;
  other.Store(store);
  other.manifest.mutable_sources(0)->mutable_verdicts()->RemoveLast();
  EXPECT_THAT(SumLedger(store, other.manifest, other.clusters),
              StatusIs(absl::StatusCode::kInternal));
}

TEST(WalkDataset, NamesABlobThatIsGone) {
  Dataset dataset;
  cas::MemoryBlobStore store, empty;
  dataset.Store(store);
  EXPECT_THAT(SumLedger(empty, dataset.manifest, dataset.clusters),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(Ledger, AddsUp) {
  Dataset dataset;
  const absl::StatusOr<LedgerSums> sums = dataset.Sum();
  ASSERT_THAT(sums, IsOk());
  EXPECT_THAT(CheckConservation(*sums), IsOk());
  EXPECT_EQ(sums->files_seen, 8);
  EXPECT_EQ(sums->files_extracted, 3);
  EXPECT_EQ(sums->files_support, 1);
  EXPECT_THAT(sums->other_dsls, ElementsAre(Pair("cute", 6)));
  EXPECT_THAT(sums->files_skipped, ElementsAre(Pair("symlink", 1)));
  EXPECT_THAT(sums->files_failed,
              ElementsAre(Pair("lost_shard", 2), Pair("too_deep", 1), Pair("unreadable", 1)));
  EXPECT_THAT(sums->strings_skipped, ElementsAre(Pair("not_verbatim", 2)));
  EXPECT_EQ(sums->kernels_found, 3);
  EXPECT_EQ(sums->kept, 1);
  EXPECT_THAT(sums->rejected, ElementsAre(Pair("license", 1)));
  EXPECT_THAT(sums->duplicates, ElementsAre(Pair("near", 1)));
  EXPECT_EQ(sums->holdout, 1);
}

// Each way to lose something, and the sum that shows it.
struct Loss {
  const char* sum;
  void (*lose)(Dataset&);
};

class LedgerLoss : public ::testing::TestWithParam<Loss> {};

TEST_P(LedgerLoss, IsFound) {
  Dataset dataset;
  GetParam().lose(dataset);
  const absl::StatusOr<LedgerSums> sums = dataset.Sum();
  ASSERT_THAT(sums, IsOk());
  const absl::Status status = CheckConservation(*sums);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().sum));
}

INSTANTIATE_TEST_SUITE_P(
    Ledger, LedgerLoss,
    ::testing::Values(
        Loss{"files seen", [](Dataset& d) { d.shards[1].mutable_files()->DeleteSubrange(0, 1); }},
        Loss{"files seen", [](Dataset& d) { d.manifest.mutable_sources(0)->set_failed_files(1); }},
        Loss{"files seen",
             [](Dataset& d) { d.trees[0].mutable_files(0)->set_fate(v1::FILE_FATE_SKIPPED); }},
        Loss{"kernels counted in files",
             [](Dataset& d) {
               d.shards[0].mutable_kernels()->RemoveLast();
               d.verdicts[0].mutable_verdicts()->RemoveLast();
               d.clusters.mutable_decisions()->DeleteSubrange(1, 1);
             }},
        Loss{"decisions", [](Dataset& d) { d.clusters.mutable_decisions()->RemoveLast(); }},
        Loss{"decisions", [](Dataset& d) { d.Decide(v1::FATE_KEPT, ""); }},
        Loss{"kernels found",
             [](Dataset& d) { d.clusters.mutable_decisions(0)->set_fate(v1::FATE_UNSPECIFIED); }},
        Loss{"kernels found",
             [](Dataset& d) { d.clusters.mutable_decisions(0)->set_fate(v1::FATE_HOLDOUT); }},
        Loss{"holdout kernels",
             [](Dataset& d) { d.clusters.mutable_decisions(3)->set_fate(v1::FATE_KEPT); }}));

TEST(ReasonKind, IsTheWordBeforeTheColon) {
  EXPECT_EQ(ReasonKind("license:GPL-3.0-only"), "license");
  EXPECT_EQ(ReasonKind("near"), "near");
  EXPECT_EQ(ReasonKind(""), "unspecified");
}

TEST(WithholdsLauncher, OfAKernelThatIsKeptThoughItsLauncherIsAHoldouts) {
  v1::ContaminationPolicy policy;
  v1::Decision decision;
  decision.set_fate(v1::FATE_KEPT);
  EXPECT_FALSE(WithholdsLauncher(decision, policy));
  decision.add_contamination()->set_text("launcher");
  EXPECT_TRUE(WithholdsLauncher(decision, policy));
  policy.set_action(v1::CONTAMINATION_ACTION_LABEL);
  EXPECT_FALSE(WithholdsLauncher(decision, policy));
  policy.set_action(v1::CONTAMINATION_ACTION_DROP);
  decision.set_fate(v1::FATE_DUPLICATE);
  EXPECT_FALSE(WithholdsLauncher(decision, policy));
}

// The first source keeps files: of its three that were extracted or failed in shards that were not
// lost, one is there for others' sake and one failed.
Dataset KeptFiles() {
  Dataset dataset;
  dataset.manifest.mutable_sources(0)->mutable_source()->set_keep(v1::SOURCE_KEEP_FILES);
  v1::Kernel* file = dataset.shards[1].add_kernels();
  file->set_form(v1::KERNEL_FORM_FILE);
  dataset.shards[0].mutable_files(0)->set_path("support.h");
  dataset.trees[0].mutable_files(1)->set_path("support.h");
  dataset.verdicts[1].add_verdicts();
  const v1::Decision holdout = dataset.clusters.decisions(3);
  dataset.clusters.mutable_decisions()->RemoveLast();
  dataset.Decide(v1::FATE_REJECTED, "holds:contaminated");
  *dataset.clusters.add_decisions() = holdout;
  return dataset;
}

TEST(Ledger, WholeFilesHaveSumsOfTheirOwn) {
  const absl::StatusOr<LedgerSums> sums = KeptFiles().Sum();
  ASSERT_THAT(sums, IsOk());
  EXPECT_THAT(CheckConservation(*sums), IsOk());
  EXPECT_EQ(sums->kernels_found, 3);
  EXPECT_EQ(sums->training_files.found, 1);
  EXPECT_EQ(sums->training_files.extracted, 1);
  EXPECT_EQ(sums->training_files.kept, 0);
  EXPECT_THAT(sums->training_files.rejected, ElementsAre(Pair("holds", 1)));
}

// A holdout's files are compared with rows, and are no files to train on.
TEST(Ledger, HoldoutsWholeFilesAreCountedApart) {
  Dataset dataset;
  dataset.shards[2].add_kernels()->set_form(v1::KERNEL_FORM_FILE);
  dataset.Decide(v1::FATE_HOLDOUT, "");
  const absl::StatusOr<LedgerSums> sums = dataset.Sum();
  ASSERT_THAT(sums, IsOk());
  EXPECT_THAT(CheckConservation(*sums), IsOk());
  EXPECT_EQ(sums->holdout_files_found, 1);
  EXPECT_EQ(sums->holdout_files, 1);
  EXPECT_EQ(sums->holdout_found, 1);
  EXPECT_EQ(sums->training_files.found, 0);
  Dataset undecided;
  undecided.shards[2].add_kernels()->set_form(v1::KERNEL_FORM_FILE);
  undecided.Decide(v1::FATE_KEPT, "");
  EXPECT_THAT(std::string(CheckConservation(*undecided.Sum()).message()),
              HasSubstr("holdout files"));
}

TEST(Ledger, AWholeFileThatVanishesOrComesFromNowhereIsNoticed) {
  Dataset lost = KeptFiles();
  lost.shards[1].mutable_kernels()->RemoveLast();
  lost.verdicts[1].mutable_verdicts()->RemoveLast();
  lost.clusters.mutable_decisions()->DeleteSubrange(3, 1);
  EXPECT_THAT(CheckConservation(*lost.Sum()), StatusIs(absl::StatusCode::kInternal));
  Dataset invented = KeptFiles();
  invented.manifest.mutable_sources(0)->mutable_source()->clear_keep();
  EXPECT_THAT(CheckConservation(*invented.Sum()), StatusIs(absl::StatusCode::kInternal));
}

}  // namespace

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LedgerSums Sums() {
  LedgerSums sums;
  sums.files_seen = 50;
  sums.files_failed = {{"too_large", 1}};
  sums.kernels_found = 100;
  sums.unknown_license = 5;
  sums.kept = 40;
  sums.rejected = {{"license", 15}, {"quality", 5}};
  sums.duplicates = {{"near", 30}};
  sums.contaminated = {{"exact", 10}};
  return sums;
}

// Those that are missed, as a person reads it.
std::vector<std::string> Missed(const v1::DatasetManifest& manifest, const LedgerSums& sums) {
  std::vector<std::string> missed;
  for (const GateResult& gate : CheckGates(manifest, sums)) {
    if (!gate.passed) missed.push_back(absl::StrCat(gate.name, ": ", GateText(gate)));
  }
  return missed;
}

v1::DatasetManifest With(const v1::Gates& gates) {
  v1::DatasetManifest manifest;
  *manifest.mutable_gates() = gates;
  manifest.add_sources()->set_failed(true);
  manifest.add_sources();
  return manifest;
}

TEST(Gates, ADatasetWithJustTheBoundsPasses) {
  v1::Gates gates;
  gates.set_min_kept(40);
  gates.set_max_rejected(0.2);
  gates.set_max_duplicate(0.3);
  gates.set_max_contaminated(0.1);
  gates.set_max_unknown_license(0.05);
  gates.set_max_failed_sources(1);
  gates.set_max_failed_files(0.02);
  EXPECT_EQ(CheckGates(With(gates), Sums()).size(), 7u);
  EXPECT_THAT(Missed(With(gates), Sums()), IsEmpty());
}

TEST(Gates, EachThatIsMissedSaysItsBoundAndTheValue) {
  v1::Gates gates;
  gates.set_min_kept(500);
  gates.set_max_rejected(0.15);
  gates.set_max_duplicate(0);
  gates.set_max_contaminated(0.05);
  gates.set_max_unknown_license(0);
  gates.set_max_failed_sources(0);
  gates.set_max_failed_files(0.0199999999);
  EXPECT_THAT(Missed(With(gates), Sums()),
              ElementsAre("min_kept: 40, but at least 500 is asked for",
                          "max_rejected: 0.2, but at most 0.15 is asked for",
                          "max_duplicate: 0.3, but at most 0 is asked for",
                          "max_contaminated: 0.1, but at most 0.05 is asked for",
                          "max_unknown_license: 0.05, but at most 0 is asked for",
                          "max_failed_sources: 1, but at most 0 is asked for",
                          "max_failed_files: 0.02, but at most 0.0199999999 is asked for"));
}

TEST(Gates, OnlyThoseThatAreGivenAreChecked) {
  EXPECT_THAT(CheckGates(With({}), Sums()), IsEmpty());
  v1::Gates gates;
  gates.set_max_duplicate(1);
  EXPECT_EQ(CheckGates(With(gates), Sums()).size(), 1u);
}

TEST(Gates, OfNothingEveryShareIsZero) {
  v1::Gates gates;
  gates.set_max_rejected(0);
  gates.set_max_failed_files(0);
  gates.set_min_kept(1);
  EXPECT_THAT(Missed(With(gates), LedgerSums()),
              ElementsAre("min_kept: 0, but at least 1 is asked for"));
}

}  // namespace

namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

v1::Clusters TwoKernels() {
  v1::Clusters clusters;
  clusters.add_decisions()->set_fate(v1::FATE_KEPT);
  clusters.add_decisions()->set_fate(v1::FATE_DUPLICATE);
  return clusters;
}

v1::Splits Of(v1::Split first, v1::Split second) {
  v1::Splits splits;
  splits.add_splits(first);
  splits.add_splits(second);
  return splits;
}

TEST(Splits, KeptKernelsHaveOneAndNoOthers) {
  const v1::Clusters clusters = TwoKernels();
  const auto refused = StatusIs(absl::StatusCode::kDataLoss);
  EXPECT_THAT(CheckSplits(Of(v1::SPLIT_TEST, v1::SPLIT_UNSPECIFIED), clusters), IsOk());
  EXPECT_THAT(CheckSplits(Of(v1::SPLIT_TEST, v1::SPLIT_TEST), clusters), refused);
  EXPECT_THAT(CheckSplits(Of(v1::SPLIT_UNSPECIFIED, v1::SPLIT_UNSPECIFIED), clusters), refused);
  EXPECT_THAT(CheckSplits(Of(static_cast<v1::Split>(4), v1::SPLIT_UNSPECIFIED), clusters), refused);
  EXPECT_THAT(CheckSplits(v1::Splits(), clusters), refused);
}

TEST(Splits, ADatasetThatIsNotDividedHasNone) {
  cas::MemoryBlobStore store;
  v1::DatasetManifest manifest;
  EXPECT_EQ(GetSplits(store, manifest, TwoKernels())->splits_size(), 0);
  *manifest.mutable_splits() = *cas::PutMessage(store, Of(v1::SPLIT_TRAIN, v1::SPLIT_UNSPECIFIED));
  EXPECT_EQ(GetSplits(store, manifest, TwoKernels())->splits(0), v1::SPLIT_TRAIN);
  *manifest.mutable_splits() = *cas::PutMessage(store, Of(v1::SPLIT_TRAIN, v1::SPLIT_TRAIN));
  EXPECT_THAT(GetSplits(store, manifest, TwoKernels()), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace

}  // namespace kernelmill::manifest
