#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/pair/duplicate_finder.h"
#include "services/deduplicator/core/pair/holdout_matcher.h"
#include "services/deduplicator/core/pair/same_kernel.h"
#include "services/deduplicator/core/pair/version_finder.h"
#include "services/deduplicator/core/sign/sign.h"
#include "services/deduplicator/server/deduplicator_stages.h"
#include "services/deduplicator/server/shard_batches.h"

namespace kernelmill::deduplicator {
namespace {

// One run of the stage. Reads all signatures once per kind of set, a batch of shards at a time.
// Then it reads only the shards of shingles that have something to compare.
class PairTask {
 public:
  PairTask(const v1::Action& action, const SpillOptions& spill, cas::BlobStore& store)
      : params_(action.params().pair()),
        store_(store),
        signatures_(worker::InputsNamed(action, "signatures")),
        shingles_(worker::InputsNamed(action, "shingles")),
        near_(params_.threshold(), params_.partition(), params_.partitions(), spill),
        versions_(params_.partition(), params_.partitions(), spill),
        same_(spill),
        matcher_(params_.holdout_threshold()) {
    if (params_.structural_threshold() > 0) {
      structural_.emplace(params_.structural_threshold(), params_.partition(), params_.partitions(),
                          spill);
    }
  }

  // Order matters: holdouts are indexed before other shards are matched with them, and candidates
  // are known before shingles are read. A pair of similar kernels whose operations differ is not a
  // pair; SameKernel removes it at the end.
  absl::StatusOr<v1::PairSet> Run() {
    RETURN_IF_ERROR(CheckInputs());
    RETURN_IF_ERROR(Observe());
    RETURN_IF_ERROR(LoadHoldouts());
    RETURN_IF_ERROR(LoadOthers());
    RETURN_IF_ERROR(near_.Find(pairs_.mutable_pairs()));
    RETURN_IF_ERROR(same_.Filter(SameKernel::Names::kCount, pairs_.mutable_pairs()));
    RETURN_IF_ERROR(versions_.Find(pairs_.mutable_versions()));
    if (!structural_) return std::move(pairs_);
    RETURN_IF_ERROR(structural_->Find(pairs_.mutable_structural()));
    RETURN_IF_ERROR(same_.Filter(SameKernel::Names::kDoNotCount, pairs_.mutable_structural()));
    return std::move(pairs_);
  }

  void AddCounters(const v1::PairSet& pairs, v1::StageResult* result) const {
    int64_t candidates = near_.candidates();
    int64_t large = near_.large_buckets();
    auto spilled = static_cast<int64_t>(near_.spilled());
    if (structural_) {
      candidates += structural_->candidates();
      large += structural_->large_buckets();
      spilled += static_cast<int64_t>(structural_->spilled());
    }
    worker::AddCounter(*result, "buckets.large", large);
    worker::AddCounter(*result, "pairs.candidates", candidates);
    worker::AddCounter(*result, "pairs.found",
                       pairs.pairs_size() + pairs.structural_size() + pairs.versions_size());
    worker::AddCounter(*result, "sets.spilled", spilled);
  }

 private:
  absl::Status CheckInputs() const {
    const size_t holdouts = static_cast<size_t>(params_.holdouts_size());
    if (signatures_.size() == shingles_.size() && signatures_.size() == holdouts) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("pair: needs a 'signatures' and a 'shingles' for each of ", holdouts,
                     " shards; got ", signatures_.size(), " and ", shingles_.size()));
  }

  bool IsHoldout(size_t shard) const { return params_.holdouts(static_cast<int>(shard)); }

  std::vector<size_t> ShardsThat(const std::function<bool(size_t)>& hold) const {
    std::vector<size_t> shards;
    for (size_t i = 0; i < signatures_.size(); ++i) {
      if (hold(i)) shards.push_back(i);
    }
    return shards;
  }

  // Observes one kind of set after the other, so that the buckets of one kind are freed before
  // those of the other are filled.
  absl::Status Observe() {
    uint32_t first = 0;
    const auto count = [&](const v1::SignatureShard& shard) -> absl::Status {
      RETURN_IF_ERROR(CheckSignatures(shard));
      const auto kernels = static_cast<uint32_t>(KernelsIn(shard));
      if (IsHoldout(firsts_.size())) {
        versions_.SkipShard(kernels);
      } else {
        versions_.Observe(shard);
      }
      same_.Observe(shard);
      firsts_.push_back(first);
      first += kernels;
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(ObserveIn(&near_, &v1::SignatureShard::near, count));
    versions_.EndObserving();
    firsts_.push_back(first);
    if (!structural_) return absl::OkStatus();
    return ObserveIn(&*structural_, &v1::SignatureShard::structural,
                     [](const v1::SignatureShard&) { return absl::OkStatus(); });
  }

  using GetSets = const v1::TokenSets& (v1::SignatureShard::*)() const;

  // Shows the finder every shard's sets of one kind. Holdouts are only counted, so that numbers
  // stay right: they are never duplicates.
  template <typename Check>
  absl::Status ObserveIn(DuplicateFinder* finder, GetSets get_sets, Check check) {
    RETURN_IF_ERROR(ForEachShard<v1::SignatureShard>(
        store_, signatures_, ShardsThat([](size_t) { return true; }),
        [&](size_t shard, const v1::SignatureShard& signatures) -> absl::Status {
          RETURN_IF_ERROR(check(signatures));
          if (IsHoldout(shard)) {
            finder->SkipShard(static_cast<uint32_t>(KernelsIn(signatures)));
          } else {
            finder->Observe((signatures.*get_sets)());
          }
          return absl::OkStatus();
        }));
    finder->EndObserving();
    return absl::OkStatus();
  }

  // Checks that a shard has as many sets of shingles as signatures.
  absl::Status CheckSize(size_t shard, const v1::ShingleShard& shingles) const {
    const uint32_t kernels = firsts_[shard + 1] - firsts_[shard];
    if (static_cast<uint32_t>(shingles.kernels_size()) == kernels) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(shingles.kernels_size(), " sets of shingles for ", kernels, " kernels"));
  }

  // Indexes the holdouts. Every partition holds all of them, and matches them with its own shards.
  absl::Status LoadHoldouts() {
    return ForEachShard<v1::ShingleShard>(
        store_, shingles_, ShardsThat([this](size_t i) { return IsHoldout(i); }),
        [this](size_t shard, const v1::ShingleShard& shingles) -> absl::Status {
          RETURN_IF_ERROR(CheckSize(shard, shingles));
          uint32_t number = firsts_[shard];
          for (const v1::KernelShingles& kernel : shingles.kernels()) {
            RETURN_IF_ERROR(matcher_.Add(number++, kernel));
          }
          has_holdouts_ = true;
          return absl::OkStatus();
        });
  }

  // Returns true if this partition looks for holdouts in the shard. Each shard has one such.
  bool Matches(size_t shard) const {
    return has_holdouts_ && !IsHoldout(shard) &&
           shard % params_.partitions() == static_cast<size_t>(params_.partition());
  }

  template <typename Finder>
  bool Needs(const Finder& finder, size_t shard) const {
    return finder.NeedsAny(firsts_[shard], firsts_[shard + 1] - firsts_[shard]);
  }

  // Reads the shards that any finder needs, once for all of them.
  absl::Status LoadOthers() {
    const auto wanted = [this](size_t shard) {
      return Matches(shard) || Needs(near_, shard) || Needs(versions_, shard) ||
             (structural_ && Needs(*structural_, shard));
    };
    return ForEachShard<v1::ShingleShard>(
        store_, shingles_, ShardsThat(wanted),
        [this](size_t shard, const v1::ShingleShard& shingles) -> absl::Status {
          RETURN_IF_ERROR(CheckSize(shard, shingles));
          uint32_t number = firsts_[shard];
          for (const v1::KernelShingles& kernel : shingles.kernels()) {
            RETURN_IF_ERROR(LoadKernel(number, kernel));
            if (Matches(shard)) RETURN_IF_ERROR(matcher_.Match(number, kernel, &pairs_));
            ++number;
          }
          return absl::OkStatus();
        });
  }

  // Passes a kernel's sets to the finders that need it. Only kernels with candidates need their
  // operations.
  absl::Status LoadKernel(uint32_t number, const v1::KernelShingles& kernel) {
    const auto span = [](const auto& set) { return absl::MakeConstSpan(set.data(), set.size()); };
    const bool near = near_.NeedsNext(number);
    const bool structural = structural_ && structural_->NeedsNext(number);
    if (near) RETURN_IF_ERROR(near_.Load(span(kernel.near())));
    if (structural) RETURN_IF_ERROR(structural_->Load(span(kernel.structural())));
    if (versions_.NeedsNext(number)) RETURN_IF_ERROR(versions_.Load(span(kernel.near())));
    if (!near && !structural) return absl::OkStatus();
    return same_.Load(number, span(kernel.operations()));
  }

  const v1::PairParams& params_;
  cas::BlobStore& store_;
  const std::vector<cas::Digest> signatures_;
  const std::vector<cas::Digest> shingles_;
  std::vector<uint32_t> firsts_;  // the number of each shard's first kernel, and the end
  DuplicateFinder near_;
  std::optional<DuplicateFinder> structural_;
  VersionFinder versions_;
  SameKernel same_;
  HoldoutMatcher matcher_;
  bool has_holdouts_ = false;
  v1::PairSet pairs_;
};

}  // namespace

absl::StatusOr<v1::StageResult> PairStage::Run(const v1::Action& action, cas::BlobStore& store) {
  RETURN_IF_ERROR(CheckPairParams(action.params().pair()));
  PairTask task(action, spill_, store);
  ASSIGN_OR_RETURN(const v1::PairSet pairs, task.Run());
  ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, pairs));
  v1::StageResult result;
  worker::AddOutput(result, "pairs", output, pairs.pairs_size());
  task.AddCounters(pairs, &result);
  return result;
}

}  // namespace kernelmill::deduplicator
