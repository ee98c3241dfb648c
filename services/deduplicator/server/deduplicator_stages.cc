#include "services/deduplicator/server/deduplicator_stages.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/dataset/ledger.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/core/resolve/resolve.h"
#include "services/deduplicator/core/sign/sign.h"
#include "services/deduplicator/server/manifest_stage.h"
#include "services/deduplicator/server/pair_stage.h"
#include "services/deduplicator/server/split_stage.h"

namespace kernelmill::deduplicator {
namespace {

class SignStage final : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kSign; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const cas::Digest input, worker::InputNamed(action, "kernels"));
    ASSIGN_OR_RETURN(const auto kernels, cas::GetMessage<v1::KernelShard>(store, input));
    const SignedShard shard = SignShard(kernels);
    ASSIGN_OR_RETURN(const cas::Digest signatures, cas::PutMessage(store, shard.signatures));
    ASSIGN_OR_RETURN(const cas::Digest shingles, cas::PutMessage(store, shard.shingles));
    v1::StageResult result;
    worker::AddOutput(result, "signatures", signatures, kernels.kernels_size());
    worker::AddOutput(result, "shingles", shingles, kernels.kernels_size());
    worker::AddCounter(result, "kernels.signed", kernels.kernels_size());
    return result;
  }
};

class ResolveStage final : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kResolve; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    Resolver resolver(action.params().resolve().dedup());
    RETURN_IF_ERROR(AddShards(action, store, &resolver));
    for (const cas::Digest& input : worker::InputsNamed(action, "pairs")) {
      ASSIGN_OR_RETURN(const auto pairs, cas::GetMessage<v1::PairSet>(store, input));
      RETURN_IF_ERROR(resolver.AddPairs(pairs));
    }
    const v1::Clusters clusters = resolver.Resolve();
    ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, clusters));
    v1::StageResult result;
    worker::AddOutput(result, "clusters", output, clusters.decisions_size());
    Count(clusters, action.params().resolve().dedup().contamination(), &result);
    return result;
  }

 private:
  static absl::Status AddShards(const v1::Action& action, cas::BlobStore& store,
                                Resolver* resolver) {
    const auto& origins = action.params().resolve().shards();
    const std::vector<cas::Digest> signatures = worker::InputsNamed(action, "signatures");
    const std::vector<cas::Digest> verdicts = worker::InputsNamed(action, "verdicts");
    size_t candidates = 0;
    for (const v1::ShardOrigin& origin : origins) candidates += !origin.holdout();
    if (signatures.size() != static_cast<size_t>(origins.size()) || verdicts.size() != candidates) {
      return absl::InvalidArgumentError(absl::StrCat(
          "resolve takes a 'signatures' a shard and a 'verdicts' a shard of no holdout: ",
          signatures.size(), " and ", verdicts.size(), " for ", origins.size(), " shards, ",
          candidates, " of no holdout"));
    }
    size_t next_verdicts = 0;
    for (size_t i = 0; i < signatures.size(); ++i) {
      const v1::ShardOrigin& origin = origins.Get(static_cast<int>(i));
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::SignatureShard>(store, signatures[i]));
      v1::VerdictShard verdict_shard;
      if (!origin.holdout()) {
        ASSIGN_OR_RETURN(verdict_shard,
                         cas::GetMessage<v1::VerdictShard>(store, verdicts[next_verdicts++]));
      }
      RETURN_IF_ERROR(
          Annotate(resolver->AddShard(shard, origin.holdout() ? nullptr : &verdict_shard, origin),
                   absl::StrCat("shard ", i)));
    }
    return absl::OkStatus();
  }

  // "dataset.kernels" is the sum of the four fates; holdouts stand apart.
  static void Count(const v1::Clusters& clusters, const v1::ContaminationPolicy& policy,
                    v1::StageResult* result) {
    std::map<std::string, int64_t> counts;
    for (const v1::Decision& decision : clusters.decisions()) {
      std::string counter = absl::StrCat("dataset.", dataset::FateName(decision.fate()));
      if (!decision.reason().empty()) {
        absl::StrAppend(&counter, ".", dataset::KindOf(decision.reason()));
      }
      ++counts[counter];
      if (decision.fate() != v1::FATE_HOLDOUT) ++counts["dataset.kernels"];
      if (decision.fate() != v1::FATE_KEPT) continue;
      if (decision.word_overlap() > 0) ++counts["dataset.review.word_overlap"];
      if (dataset::WithholdsLauncher(decision, policy)) {
        ++counts["dataset.withheld.launcher"];
      } else if (!decision.contamination().empty()) {
        ++counts["dataset.labelled.contaminated"];
      }
    }
    for (const auto& [name, count] : counts) worker::AddCounter(*result, name, count);
  }
};

}  // namespace

std::vector<std::unique_ptr<worker::Stage>> NewDeduplicatorStages(const SpillOptions& spill) {
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(std::make_unique<SignStage>());
  stages.push_back(std::make_unique<PairStage>(spill));
  stages.push_back(std::make_unique<ResolveStage>());
  stages.push_back(std::make_unique<SplitStage>());
  stages.push_back(std::make_unique<ManifestStage>());
  return stages;
}

}  // namespace kernelmill::deduplicator
