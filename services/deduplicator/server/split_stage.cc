#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/manifest/ledger.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/split/splitter.h"
#include "services/deduplicator/server/deduplicator_stages.h"
#include "services/deduplicator/server/shard_batches.h"

namespace kernelmill::deduplicator {
namespace {

constexpr int64_t kShingles = int64_t{1} << 26;  // that a pass indexes

// One run of the stage. Reads all signatures, and then all shingles once per pass, a batch of
// shards at a time. One pass is enough for some 200,000 kernels that may end in another split than
// train.
class SplitTask {
 public:
  SplitTask(const v1::Action& action, const v1::Clusters& clusters, const SpillOptions& spill,
            cas::BlobStore& store)
      : params_(action.params().split()),
        store_(store),
        signatures_(worker::InputsNamed(action, "signatures")),
        shingles_(worker::InputsNamed(action, "shingles")),
        pairs_(worker::InputsNamed(action, "pairs")),
        splitter_(params_.splits(), params_.threshold(), clusters, kShingles, spill) {}

  // Each pass loads some kernels into the index and probes it with every kept kernel, so that the
  // memory for one pass is bounded.
  absl::StatusOr<v1::Splits> Run() {
    RETURN_IF_ERROR(CheckInputs());
    RETURN_IF_ERROR(AddShards());
    for (const cas::Digest& input : pairs_) {
      ASSIGN_OR_RETURN(const auto pairs, cas::GetMessage<v1::PairSet>(store_, input));
      RETURN_IF_ERROR(splitter_.AddPairs(pairs));
    }
    RETURN_IF_ERROR(splitter_.EndAdding());
    while (splitter_.BeginPass()) {
      RETURN_IF_ERROR(ForEachKernel([this](uint32_t number) { return splitter_.Loads(number); },
                                    [this](uint32_t number, const v1::KernelShingles& shingles) {
                                      return splitter_.Load(number, shingles);
                                    }));
      RETURN_IF_ERROR(splitter_.EndLoading());
      RETURN_IF_ERROR(ForEachKernel([this](uint32_t number) { return splitter_.Probes(number); },
                                    [this](uint32_t number, const v1::KernelShingles& shingles) {
                                      return splitter_.Probe(number, shingles);
                                    }));
    }
    return splitter_.Take();
  }

  void AddCounters(const v1::Splits& splits, v1::StageResult* result) const {
    std::map<std::string, int64_t> counts;
    for (const int split : splits.splits()) {
      if (split == v1::SPLIT_UNSPECIFIED) continue;
      ++counts[absl::StrCat("dataset.split.", manifest::SplitName(static_cast<v1::Split>(split)))];
    }
    for (const auto& [name, count] : counts) worker::AddCounter(*result, name, count);
    worker::AddCounter(*result, "splits.candidates", splitter_.candidates());
    worker::AddCounter(*result, "splits.joined", splitter_.joined());
    worker::AddCounter(*result, "splits.passes", splitter_.passes());
  }

 private:
  absl::Status CheckInputs() const {
    if (!(params_.threshold() > 0 && params_.threshold() <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("threshold: must be over 0 and at most 1, not ", params_.threshold()));
    }
    const auto shards = static_cast<size_t>(params_.shards_size());
    if (signatures_.size() == shards && shingles_.size() == shards) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("split: needs a 'signatures' and a 'shingles' for each of ", shards,
                     " shards; got ", signatures_.size(), " and ", shingles_.size()));
  }

  // Adds the signatures of all shards, and notes the numbers of their first kernels.
  absl::Status AddShards() {
    std::vector<size_t> all(signatures_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    RETURN_IF_ERROR(ForEachShard<v1::SignatureShard>(
        store_, signatures_, all,
        [this](size_t shard, const v1::SignatureShard& signatures) -> absl::Status {
          firsts_.push_back(static_cast<uint32_t>(splitter_.size()));
          return splitter_.AddShard(signatures, params_.shards(static_cast<int>(shard)));
        }));
    firsts_.push_back(static_cast<uint32_t>(splitter_.size()));
    return absl::OkStatus();
  }

  // Calls visit(number, shingles) for the wanted kernels, ascending. Reads only shards that contain
  // one.
  template <typename Wanted, typename Visit>
  absl::Status ForEachKernel(Wanted wanted, Visit visit) {
    std::vector<size_t> shards;
    for (size_t i = 0; i < shingles_.size(); ++i) {
      uint32_t number = firsts_[i];
      while (number < firsts_[i + 1] && !wanted(number)) ++number;
      if (number < firsts_[i + 1]) shards.push_back(i);
    }
    return ForEachShard<v1::ShingleShard>(
        store_, shingles_, shards,
        [&](size_t shard, const v1::ShingleShard& shingles) -> absl::Status {
          const uint32_t kernels = firsts_[shard + 1] - firsts_[shard];
          if (static_cast<uint32_t>(shingles.kernels_size()) != kernels) {
            return absl::InvalidArgumentError(absl::StrCat(
                shingles.kernels_size(), " sets of shingles for ", kernels, " kernels"));
          }
          for (uint32_t i = 0; i < kernels; ++i) {
            if (!wanted(firsts_[shard] + i)) continue;
            RETURN_IF_ERROR(visit(firsts_[shard] + i, shingles.kernels(static_cast<int>(i))));
          }
          return absl::OkStatus();
        });
  }

  const v1::SplitParams& params_;
  cas::BlobStore& store_;
  const std::vector<cas::Digest> signatures_;
  const std::vector<cas::Digest> shingles_;
  const std::vector<cas::Digest> pairs_;
  std::vector<uint32_t> firsts_;  // the number of each shard's first kernel, and the end
  Splitter splitter_;
};

}  // namespace

absl::StatusOr<v1::StageResult> SplitStage::Run(const v1::Action& action, cas::BlobStore& store) {
  ASSIGN_OR_RETURN(const cas::Digest input, worker::InputNamed(action, "clusters"));
  ASSIGN_OR_RETURN(const auto clusters, cas::GetMessage<v1::Clusters>(store, input));
  SplitTask task(action, clusters, spill_, store);
  ASSIGN_OR_RETURN(const v1::Splits splits, task.Run());
  ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, splits));
  v1::StageResult result;
  worker::AddOutput(result, "splits", output, splits.splits_size());
  task.AddCounters(splits, &result);
  return result;
}

}  // namespace kernelmill::deduplicator
