#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_STAGES_FIXTURE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_STAGES_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/manifest/testing/write_files.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/deduplicator/server/deduplicator_stages.h"

namespace kernelmill::deduplicator {

inline constexpr char kCommit[] = "0123456789012345678901234567890123456789";

inline std::string Text(int first, int count) {
  std::string text = "def f(p):\n";
  for (int i = first; i < first + count; ++i) absl::StrAppend(&text, "    x", i, " = p[", i, "]\n");
  return text;
}

// A job of two sources: one to take from, in two shards, and a holdout.
//   0  a kernel                       kept
//   1  its near copy                  near duplicate of 0
//   2  a copy of 0, licence unknown   rejected
//   3  the holdout's kernel           contaminated
//   4  the holdout's own
class DeduplicatorStagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (auto& stage : NewDeduplicatorStages()) {
      const std::string name(stage->info().name);
      stages_[name] = std::move(stage);
    }
    AddShard({Text(0, 40), Text(0, 42)});
    AddShard({Text(0, 40), Text(500, 40)});
    AddShard({Text(500, 40)});
    for (int shard = 0; shard < 2; ++shard) {
      v1::VerdictShard verdicts;
      for (int i = 0; i < 2; ++i) verdicts.add_verdicts()->set_accepted(true);
      if (shard == 1) {
        verdicts.mutable_verdicts(0)->set_accepted(false);
        verdicts.mutable_verdicts(0)->add_reasons("license:NOASSERTION");
      }
      verdicts_.push_back(Put(verdicts));
    }
    AddTree("a", 3, "symlink");
    AddTree("holdout", 1, "");
  }

  template <typename Message>
  cas::Digest Put(const Message& message) {
    return *cas::PutMessage(store_, message);
  }

  // One file a shard.
  void AddShard(const std::vector<std::string>& sources) {
    v1::KernelShard shard;
    for (const std::string& source : sources) shard.add_kernels()->set_source(source);
    for (v1::Kernel& kernel : *shard.mutable_kernels()) kernel.set_path("a.py");
    files_.push_back(Put(manifest::WriteFiles(&shard)));
    kernels_.push_back(Put(shard));
  }

  void AddTree(const std::string& repository, int files, const std::string& skipped) {
    v1::SourceTree tree;
    tree.set_repository(repository);
    tree.set_commit(kCommit);
    for (int i = 0; i < files; ++i) tree.add_files()->set_fate(v1::FILE_FATE_SHARDED);
    if (!skipped.empty()) {
      tree.mutable_files(0)->set_fate(v1::FILE_FATE_SKIPPED);
      tree.mutable_files(0)->set_reason(skipped);
    }
    trees_.push_back(Put(tree));
  }

  static void AddInputs(v1::Action* action, const std::string& name,
                        const std::vector<cas::Digest>& digests) {
    for (const cas::Digest& digest : digests) {
      v1::NamedDigest* input = action->add_inputs();
      input->set_name(name);
      *input->mutable_digest() = digest;
    }
  }

  absl::StatusOr<v1::StageResult> Run(v1::Action action, const std::string& stage) {
    action.set_stage(stage);
    return stages_.at(stage)->Run(action, store_);
  }

  struct Signed {
    std::vector<cas::Digest> signatures, shingles;
  };

  Signed RunSign() {
    Signed all;
    for (const cas::Digest& kernels : kernels_) {
      v1::Action action;
      AddInputs(&action, "kernels", {kernels});
      const absl::StatusOr<v1::StageResult> result = Run(action, "sign");
      EXPECT_THAT(result, testing::IsOk());
      EXPECT_EQ(result->outputs(0).name(), "signatures");
      EXPECT_EQ(result->outputs(1).name(), "shingles");
      all.signatures.push_back(result->outputs(0).digest());
      all.shingles.push_back(result->outputs(1).digest());
    }
    return all;
  }

  static v1::Action PairAction(const Signed& all, int partition, int partitions) {
    v1::Action action;
    AddInputs(&action, "signatures", all.signatures);
    AddInputs(&action, "shingles", all.shingles);
    v1::PairParams* params = action.mutable_params()->mutable_pair();
    params->set_threshold(0.7);
    params->set_structural_threshold(0.9);
    params->set_holdout_threshold(0.5);
    params->set_partition(partition);
    params->set_partitions(partitions);
    for (size_t i = 0; i < all.signatures.size(); ++i) params->add_holdouts(i == 2);
    return action;
  }

  std::vector<cas::Digest> RunPair(const Signed& all, int partitions) {
    std::vector<cas::Digest> pairs;
    for (int p = 0; p < partitions; ++p) {
      const absl::StatusOr<v1::StageResult> result = Run(PairAction(all, p, partitions), "pair");
      EXPECT_THAT(result, testing::IsOk());
      pairs.push_back(result->outputs(0).digest());
    }
    return pairs;
  }

  v1::Action ResolveAction(int partitions) {
    const Signed all = RunSign();
    v1::Action action;
    AddInputs(&action, "signatures", all.signatures);
    AddInputs(&action, "verdicts", verdicts_);
    AddInputs(&action, "pairs", RunPair(all, partitions));
    v1::ResolveParams* params = action.mutable_params()->mutable_resolve();
    v1::DedupPolicy* policy = params->mutable_dedup();
    policy->set_threshold(0.7);
    policy->set_structural_threshold(0.9);
    policy->mutable_contamination()->set_threshold(0.5);
    policy->mutable_contamination()->set_overlap(0.5);
    for (int i = 0; i < 3; ++i) params->add_shards()->set_holdout(i == 2);
    return action;
  }

  v1::Action SplitAction(const cas::Digest& clusters) {
    const Signed all = RunSign();
    v1::Action action;
    AddInputs(&action, "signatures", all.signatures);
    AddInputs(&action, "shingles", all.shingles);
    AddInputs(&action, "pairs", RunPair(all, 1));
    AddInputs(&action, "clusters", {clusters});
    v1::SplitParams* params = action.mutable_params()->mutable_split();
    params->set_threshold(0.7);
    for (int i = 0; i < 3; ++i) params->add_shards()->set_holdout(i == 2);
    return action;
  }

  v1::Action ManifestAction(const cas::Digest& clusters) {
    v1::Action action;
    AddInputs(&action, "tree", trees_);
    AddInputs(&action, "files", files_);
    AddInputs(&action, "kernels", kernels_);
    AddInputs(&action, "verdicts", verdicts_);
    AddInputs(&action, "clusters", {clusters});
    v1::ManifestParams* params = action.mutable_params()->mutable_manifest();
    params->set_name("job");
    v1::ManifestSourceParams* source = params->add_sources();
    source->mutable_source()->set_git("a");
    source->mutable_source()->set_ref(kCommit);
    source->set_shards(2);
    source = params->add_sources();
    source->mutable_source()->set_git("gone");
    source->set_failed(true);
    source = params->add_sources();
    source->mutable_source()->set_git("holdout");
    source->mutable_source()->set_ref(kCommit);
    source->mutable_source()->set_role(v1::SOURCE_ROLE_HOLDOUT);
    source->set_shards(1);
    for (const char* stage : {"sign", "pair", "fetch"}) {
      v1::ManifestStage* added = params->add_stages();
      added->set_stage(stage);
      added->set_version(1);
    }
    return action;
  }

  cas::Digest Clusters() { return Run(ResolveAction(2), "resolve")->outputs(0).digest(); }

  static std::vector<std::pair<std::string, int64_t>> Counters(const v1::StageResult& result) {
    std::vector<std::pair<std::string, int64_t>> counters;
    for (const v1::Counter& c : result.counters()) counters.push_back({c.name(), c.value()});
    return counters;
  }

  cas::MemoryBlobStore store_;
  std::map<std::string, std::unique_ptr<worker::Stage>> stages_;
  std::vector<cas::Digest> files_, kernels_, verdicts_, trees_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_STAGES_FIXTURE_H_
