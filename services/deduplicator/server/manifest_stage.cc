// The basic idea: a manifest lists digests, so that making one is copying the action's inputs in
// the job's order. The work of the stage is to check, from the blobs, that the dataset is what it
// says: each kernel equals its file's bytes, and no file or kernel is missing from the sums. One
// walk over the dataset does both, since it has to read every shard.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/processors.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "common/job/source_spec.h"
#include "common/manifest/curated_pairs.h"
#include "common/manifest/ledger.h"
#include "common/manifest/opt_out_count.h"
#include "common/manifest/reviews.h"
#include "common/manifest/source_check.h"
#include "common/manifest/unmatched.h"
#include "common/manifest/walk.h"
#include "services/deduplicator/server/deduplicator_stages.h"

namespace kernelmill::deduplicator {
namespace {

constexpr int kMaxFailures = 100;  // named in a result
// Nothing else of the job runs meanwhile. Memory holds two shards for each thread.
constexpr int kMaxThreads = 16;

// Hands out the action's inputs of one name in order.
class InputQueue {
 public:
  InputQueue(const v1::Action& action, absl::string_view name)
      : name_(name), digests_(worker::InputsNamed(action, name)) {}

  absl::StatusOr<cas::Digest> Next() {
    if (next_ == digests_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("manifest: needs more than ", digests_.size(), " inputs '", name_, "'"));
    }
    return digests_[next_++];
  }

  absl::Status CheckUsedUp() const {
    if (next_ == digests_.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("manifest: has ", digests_.size(), " inputs '",
                                                   name_, "' but needs only ", next_));
  }

 private:
  const absl::string_view name_;
  const std::vector<cas::Digest> digests_;
  size_t next_ = 0;
};

// The action's inputs with an entry for each shard or source, in the order of the sources.
struct Inputs {
  explicit Inputs(const v1::Action& action)
      : trees(action, "tree"),
        files(action, "files"),
        kernels(action, "kernels"),
        verdicts(action, "verdicts"),
        ir(action, "ir"),
        references(action, "references"),
        changes(action, "changes"),
        version_kernels(action, "version_kernels"),
        version_compiled(action, "version_compiled") {}

  absl::Status CheckUsedUp() const {
    for (const InputQueue* queue : {&trees, &files, &kernels, &verdicts, &ir, &references, &changes,
                                    &version_kernels, &version_compiled}) {
      RETURN_IF_ERROR(queue->CheckUsedUp());
    }
    return absl::OkStatus();
  }

  InputQueue trees;
  InputQueue files;
  InputQueue kernels;
  InputQueue verdicts;
  InputQueue ir;
  InputQueue references;
  InputQueue changes;
  InputQueue version_kernels;
  InputQueue version_compiled;
};

// Adds the texts that compilers made of the source's shards.
absl::Status AddIr(const v1::ManifestSourceParams& params, InputQueue* ir,
                   v1::ManifestSource* source) {
  if (params.ir().empty()) return absl::OkStatus();
  if (params.ir_size() != params.shards()) {
    return absl::InvalidArgumentError(absl::StrCat("ir: must have a count for each of ",
                                                   params.shards(), " shards, not ",
                                                   params.ir_size(), " counts"));
  }
  for (const int32_t count : params.ir()) {
    if (count < 0) {
      return absl::InvalidArgumentError(absl::StrCat("ir: must not be negative: ", count));
    }
    source->add_ir_parts(count);
    for (int32_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(*source->add_ir(), ir->Next());
    }
  }
  return absl::OkStatus();
}

// Adds the changes of the source's kernels, and what compilers made of their versions.
absl::Status AddHistory(const v1::ManifestSourceParams& params, Inputs* inputs,
                        v1::ManifestSource* source) {
  for (int32_t i = 0; i < params.changes(); ++i) {
    ASSIGN_OR_RETURN(*source->add_changes(), inputs->changes.Next());
  }
  for (const int32_t parts : params.version_parts()) {
    ASSIGN_OR_RETURN(*source->add_version_kernels(), inputs->version_kernels.Next());
    if (parts < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("version_parts: must not be negative: ", parts));
    }
    source->add_version_parts(parts);
    for (int32_t i = 0; i < parts; ++i) {
      ASSIGN_OR_RETURN(*source->add_version_compiled(), inputs->version_compiled.Next());
    }
  }
  return absl::OkStatus();
}

// Adds a source with its tree and shards. A failed source has only its name.
absl::Status AddSource(const v1::ManifestSourceParams& params, bool references, Inputs* inputs,
                       v1::ManifestSource* source) {
  *source->mutable_source() = params.source();
  source->set_failed(params.failed());
  source->set_failed_files(params.failed_files());
  if (params.shards() < 0 || (params.failed() && params.shards() != 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shards: must not be negative, and 0 for a failed source, not ", params.shards()));
  }
  if (params.failed()) return absl::OkStatus();
  ASSIGN_OR_RETURN(*source->mutable_tree(), inputs->trees.Next());
  for (int i = 0; i < params.shards(); ++i) {
    ASSIGN_OR_RETURN(*source->add_files(), inputs->files.Next());
    if (manifest::IsEvidence(params.source())) continue;
    ASSIGN_OR_RETURN(*source->add_kernels(), inputs->kernels.Next());
    if (manifest::IsHoldout(params.source())) continue;
    ASSIGN_OR_RETURN(*source->add_verdicts(), inputs->verdicts.Next());
    if (!references) continue;
    ASSIGN_OR_RETURN(*source->add_references(), inputs->references.Next());
  }
  RETURN_IF_ERROR(AddHistory(params, inputs, source));
  return AddIr(params, &inputs->ir, source);
}

// Restores the job's compile policy from the parameters that the coordinator made of it.
void AddCompile(const v1::CompileParams& params, v1::DatasetManifest* manifest) {
  v1::CompilePolicy& policy = *manifest->mutable_compile();
  for (const v1::Toolchain& toolchain : params.toolchains()) {
    policy.add_toolchains(toolchain.name());
  }
  *policy.mutable_targets() = params.targets();
  *policy.mutable_keep() = params.keep();
  policy.set_max_seconds(params.max_seconds());
  *manifest->mutable_toolchains() = params.toolchains();
}

// Adds the versions of all stages, sorted by name.
void AddStages(const v1::ManifestParams& params, v1::DatasetManifest* manifest) {
  std::map<std::string, int> versions;
  for (const v1::ManifestStage& stage : params.stages()) versions[stage.stage()] = stage.version();
  for (const auto& [stage, version] : versions) {
    v1::StageVersion* added = manifest->add_stages();
    added->set_stage(stage);
    added->set_version(version);
  }
}

// Counts files: seen, extracted, and by the reason why not.
void AddFileCounters(const manifest::LedgerSums& sums, v1::StageResult* result) {
  worker::AddCounter(*result, "dataset.files.seen", sums.files_seen);
  worker::AddCounter(*result, "dataset.files.extracted", sums.files_extracted);
  for (const auto& [reason, count] : sums.strings_skipped) {
    worker::AddCounter(*result, absl::StrCat("dataset.strings.skipped.", reason), count);
  }
  for (const auto& [reason, count] : sums.files_skipped) {
    worker::AddCounter(*result, absl::StrCat("dataset.files.skipped.", reason), count);
  }
  for (const auto& [reason, count] : sums.files_failed) {
    worker::AddCounter(*result, absl::StrCat("dataset.files.failed.", reason), count);
  }
}

// Reports a problem of a field of the job, up to kMaxFailures.
void AddFailure(const std::string& where, const std::string& problem, v1::StageResult* result) {
  if (result->failures_size() == kMaxFailures) return;
  v1::FileFailure* failure = result->add_failures();
  failure->set_path(where);
  failure->set_reason(problem);
}

// Counts curated and reviewed pairs, and reports those that the dataset cannot have.
void AddPairs(const std::vector<manifest::CuratedPair>& pairs,
              const manifest::FollowedReviews& reviews, v1::StageResult* result) {
  auto made = static_cast<int64_t>(reviews.accepted.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    made += pairs[i].problem.empty();
    if (pairs[i].problem.empty()) continue;
    AddFailure(absl::StrCat("pairs[", i, "]"), pairs[i].problem, result);
  }
  const auto all = static_cast<int64_t>(pairs.size() + reviews.accepted.size());
  if (all == 0) return;
  worker::AddCounter(*result, "dataset.pairs.curated", made);
  worker::AddCounter(*result, "dataset.pairs.unmade", all - made);
}

// Counts the decisions of people, and reports those that match no kernel.
void AddReviews(const v1::DatasetManifest& manifest, const manifest::FollowedReviews& reviews,
                v1::StageResult* result) {
  if (manifest.reviews().empty()) return;
  for (const manifest::ReviewProblem& problem : reviews.problems) {
    AddFailure(absl::StrCat("reviews[", problem.review, "]"), problem.problem, result);
  }
  worker::AddCounter(*result, "dataset.reviews", manifest.reviews_size());
  worker::AddCounter(*result, "dataset.reviews.unmatched",
                     static_cast<int64_t>(reviews.problems.size()));
}

// Reports the gates that the dataset misses. They do not fail the stage: the client decides.
void AddMissedGates(const v1::DatasetManifest& manifest, const manifest::LedgerSums& sums,
                    v1::StageResult* result) {
  for (const manifest::GateResult& gate : manifest::CheckGates(manifest, sums)) {
    if (gate.passed) continue;
    v1::FileFailure* failure = result->add_failures();
    failure->set_path(absl::StrCat("gates.", gate.name));
    failure->set_reason(manifest::GateText(gate));
  }
}

// The number of texts that the dataset is compared with in each holdout: kernels and whole files.
class HoldoutTexts {
 public:
  void AddTree(int source, const v1::SourceTree& tree) { files_[source] = tree.files_size(); }

  void AddShard(const manifest::ShardView& view) {
    for (const v1::Kernel& kernel : view.kernels->kernels()) {
      const bool counts = !manifest::IsFile(kernel) ||
                          kernel.source().find_first_not_of(" \t\r\n") != std::string::npos;
      texts_[view.source] += counts;
    }
  }

  // Returns FAILED_PRECONDITION if a holdout has nothing that rows are compared with: a dataset
  // that was held against nothing must not pass for one without contamination.
  absl::Status Check(const v1::DatasetManifest& manifest) const {
    for (int i = 0; i < manifest.sources_size(); ++i) {
      const v1::Source& source = manifest.sources(i).source();
      const auto texts = texts_.find(i);
      const bool has_any = texts != texts_.end() && texts->second > 0;
      if (!manifest::IsHoldout(source) || manifest.sources(i).failed() || has_any) continue;
      const auto files = files_.find(i);
      return absl::FailedPreconditionError(
          absl::StrCat("sources[", i, "]: the holdout ", job::SourceName(source),
                       " must have a text to compare; found none in ",
                       files == files_.end() ? 0 : files->second, " files that its include names"));
    }
    return absl::OkStatus();
  }

 private:
  std::map<int, int64_t> files_;  // by source
  std::map<int, int64_t> texts_;  // by source
};

// Reports what matches nothing, as failures that do not count as such.
void AddUnmatched(const std::vector<manifest::Unmatched>& unmatched, v1::StageResult* result) {
  if (unmatched.empty()) return;
  for (const manifest::Unmatched& one : unmatched) {
    AddFailure(absl::StrCat(manifest::kUnmatchedPrefix, one.where), manifest::ToJson(one), result);
  }
  worker::AddCounter(*result, "dataset.unmatched", static_cast<int64_t>(unmatched.size()));
}

// Counts the kept kernels by language, and the sources that have some.
class KeptCounter {
 public:
  KeptCounter(const v1::DatasetManifest& manifest, const v1::Clusters& clusters)
      : manifest_(manifest), clusters_(clusters) {}

  void AddShard(const manifest::ShardView& view) {
    for (int i = 0; i < view.kernels->kernels_size(); ++i) {
      const v1::Kernel& kernel = view.kernels->kernels(i);
      const v1::Decision* decision =
          manifest::DecisionOn(clusters_, view.first_number + static_cast<uint32_t>(i));
      if (decision == nullptr || decision->fate() != v1::FATE_KEPT) continue;
      sources_.insert(view.source);
      if (!manifest::IsFile(kernel)) ++languages_[kernel.dsl()];
    }
  }

  void AddCounters(v1::StageResult* result) const {
    for (const auto& [language, count] : languages_) {
      worker::AddCounter(*result, absl::StrCat("dataset.languages.", language), count);
    }
    const auto candidates =
        std::count_if(manifest_.sources().begin(), manifest_.sources().end(),
                      [](const v1::ManifestSource& source) {
                        return !source.failed() && manifest::IsCandidate(source.source());
                      });
    worker::AddCounter(*result, "dataset.sources.read", candidates);
    worker::AddCounter(*result, "dataset.sources.kept", static_cast<int64_t>(sources_.size()));
  }

 private:
  const v1::DatasetManifest& manifest_;
  const v1::Clusters& clusters_;
  std::map<std::string, int64_t> languages_;
  std::set<int> sources_;
};

// Walks a dataset for everything that the stage reports of it.
class ReportVisitor final : public manifest::DatasetVisitor {
 public:
  ReportVisitor(const v1::DatasetManifest& manifest, const v1::Clusters& clusters,
                const v1::Splits& splits)
      : ledger_(manifest, clusters),
        opt_out_(manifest, clusters),
        kept_(manifest, clusters),
        unmatched_(manifest, clusters, splits) {}

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override {
    holdout_texts_.AddTree(source, tree);
    RETURN_IF_ERROR(ledger_.VisitTree(source, tree));
    RETURN_IF_ERROR(opt_out_.VisitTree(source, tree));
    return unmatched_.VisitTree(source, tree);
  }
  absl::StatusOr<std::unique_ptr<manifest::PreparedShard>> PrepareShard(
      const manifest::ShardView& view) override {
    auto prepared = std::make_unique<Prepared>();
    prepared->markers = manifest::CountMarkers(view);
    return prepared;
  }
  absl::Status VisitShard(const manifest::ShardView& view) override {
    holdout_texts_.AddShard(view);
    kept_.AddShard(view);
    RETURN_IF_ERROR(ledger_.VisitShard(view));
    RETURN_IF_ERROR(opt_out_.VisitShard(view));
    unmatched_.VisitShard(view, static_cast<const Prepared&>(*view.prepared).markers);
    return absl::OkStatus();
  }

  const HoldoutTexts& holdout_texts() const { return holdout_texts_; }
  const KeptCounter& kept() const { return kept_; }
  const manifest::LedgerSums& sums() const { return ledger_.sums(); }
  absl::Status ReadHistories(cas::BlobStore& store) { return unmatched_.ReadHistories(store); }
  std::vector<manifest::Unmatched> FindUnmatched() const {
    return unmatched_.Find(sums(), opt_out_.Counts());
  }

 private:
  struct Prepared final : manifest::PreparedShard {
    manifest::MarkerCounts markers;
  };

  HoldoutTexts holdout_texts_;
  manifest::LedgerVisitor ledger_;
  manifest::OptOutCounter opt_out_;
  KeptCounter kept_;
  manifest::UnmatchedFinder unmatched_;
};

}  // namespace

// INVALID_ARGUMENT: the action has an input too many or too few for its parameters.
absl::StatusOr<v1::DatasetManifest> BuildManifest(const v1::Action& action) {
  const v1::ManifestParams& params = action.params().manifest();
  v1::DatasetManifest manifest;
  manifest.set_schema(manifest::kManifestSchema);
  manifest.set_name(params.name());
  Inputs inputs(action);
  for (const v1::ManifestSourceParams& source : params.sources()) {
    RETURN_IF_ERROR(AddSource(source, params.references(), &inputs, manifest.add_sources()));
  }
  RETURN_IF_ERROR(inputs.CheckUsedUp());
  ASSIGN_OR_RETURN(*manifest.mutable_clusters(), worker::InputNamed(action, "clusters"));
  *manifest.mutable_licenses() = params.licenses();
  *manifest.mutable_dedup() = params.dedup();
  *manifest.mutable_quality() = params.quality();
  *manifest.mutable_pairs() = params.pairs();
  if (params.has_mix()) *manifest.mutable_mix() = params.mix();
  *manifest.mutable_opt_out() = params.opt_out();
  if (params.has_gates()) *manifest.mutable_gates() = params.gates();
  *manifest.mutable_reviews() = params.reviews();
  if (params.has_splits()) {
    *manifest.mutable_split_policy() = params.splits();
    ASSIGN_OR_RETURN(*manifest.mutable_splits(), worker::InputNamed(action, "splits"));
  }
  if (params.has_compile()) AddCompile(params.compile(), &manifest);
  if (params.has_evidence()) *manifest.mutable_evidence() = params.evidence();
  AddStages(params, &manifest);
  return manifest;
}

absl::StatusOr<v1::StageResult> ManifestStage::Run(const v1::Action& action,
                                                   cas::BlobStore& store) {
  ASSIGN_OR_RETURN(const v1::DatasetManifest manifest, BuildManifest(action));
  ASSIGN_OR_RETURN(const auto clusters, cas::GetMessage<v1::Clusters>(store, manifest.clusters()));
  ASSIGN_OR_RETURN(const v1::Splits splits, manifest::GetSplits(store, manifest, clusters));
  ReportVisitor visitor(manifest, clusters, splits);
  manifest::CheckingVisitor checked(store, manifest, visitor);
  const int threads = std::min(kMaxThreads, CountProcessors());
  RETURN_IF_ERROR(manifest::WalkDataset(store, manifest, checked, threads));
  RETURN_IF_ERROR(visitor.ReadHistories(store));
  RETURN_IF_ERROR(visitor.holdout_texts().Check(manifest));
  const manifest::LedgerSums& sums = visitor.sums();
  RETURN_IF_ERROR(manifest::CheckConservation(sums));
  ASSIGN_OR_RETURN(const std::vector<manifest::CuratedPair> pairs,
                   manifest::FindCuratedPairs(store, manifest, clusters));
  ASSIGN_OR_RETURN(const manifest::FollowedReviews reviews,
                   manifest::FollowReviews(store, manifest, clusters));
  ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, manifest));
  v1::StageResult result;
  worker::AddOutput(result, "manifest", output, sums.kept);
  AddFileCounters(sums, &result);
  visitor.kept().AddCounters(&result);
  AddMissedGates(manifest, sums, &result);
  AddPairs(pairs, reviews, &result);
  AddReviews(manifest, reviews, &result);
  AddUnmatched(visitor.FindUnmatched(), &result);
  return result;
}

}  // namespace kernelmill::deduplicator
