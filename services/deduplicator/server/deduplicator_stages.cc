#include "services/deduplicator/server/deduplicator_stages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/manifest/ledger.h"
#include "common/manifest/reviews.h"
#include "common/manifest/walk.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/core/resolve/opted_out_texts.h"
#include "services/deduplicator/core/resolve/resolve.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {
namespace {

// The stage that signs the kernels of one shard.
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

// The stage that decides the fate of every kernel of a job.
class ResolveStage final : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kResolve; }

  // The order matters: reviews change what is accepted before leaders are chosen; opt-outs come
  // after the pairs, because copies of an opted-out kernel are found by them.
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    Resolver resolver(action.params().resolve().dedup());
    ASSIGN_OR_RETURN(CandidateShards candidates, AddShards(action, store, &resolver));
    RETURN_IF_ERROR(FollowReviews(action, store, &resolver));
    for (const cas::Digest& input : worker::InputsNamed(action, "pairs")) {
      ASSIGN_OR_RETURN(const auto pairs, cas::GetMessage<v1::PairSet>(store, input));
      RETURN_IF_ERROR(resolver.AddPairs(pairs));
    }
    RETURN_IF_ERROR(RejectOptedOutTexts(action, std::move(candidates), store, &resolver));
    const v1::Clusters clusters = resolver.Resolve();
    ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, clusters));
    v1::StageResult result;
    worker::AddOutput(result, "clusters", output, clusters.decisions_size());
    Count(clusters, resolver, action.params().resolve().dedup().contamination(), &result);
    return result;
  }

 private:
  // A shard of candidates, which are kernels that are not holdouts.
  struct CandidateShard {
    cas::Digest texts;  // empty in a job without an opt_out
    int source = 0;
    uint32_t first_number = 0;
    uint32_t kernels = 0;
  };
  using CandidateShards = std::vector<CandidateShard>;

  // Adds all shards to the resolver. Returns those of candidates, with the numbers of their
  // kernels.
  static absl::StatusOr<CandidateShards> AddShards(const v1::Action& action, cas::BlobStore& store,
                                                   Resolver* resolver) {
    const auto& origins = action.params().resolve().shards();
    const std::vector<cas::Digest> signatures = worker::InputsNamed(action, "signatures");
    const std::vector<cas::Digest> verdicts = worker::InputsNamed(action, "verdicts");
    size_t candidates = 0;
    for (const v1::ShardOrigin& origin : origins) candidates += !origin.holdout();
    if (signatures.size() != static_cast<size_t>(origins.size()) || verdicts.size() != candidates) {
      return absl::InvalidArgumentError(absl::StrCat(
          "resolve: needs a 'signatures' for each of ", origins.size(),
          " shards and a 'verdicts' for each of the ", candidates, " that are not holdouts; got ",
          signatures.size(), " and ", verdicts.size()));
    }
    CandidateShards shards;
    uint32_t number = 0;
    for (size_t i = 0; i < signatures.size(); ++i) {
      const v1::ShardOrigin& origin = origins.Get(static_cast<int>(i));
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::SignatureShard>(store, signatures[i]));
      v1::VerdictShard verdict_shard;
      if (!origin.holdout()) {
        ASSIGN_OR_RETURN(verdict_shard,
                         cas::GetMessage<v1::VerdictShard>(store, verdicts[shards.size()]));
        shards.push_back({{}, origin.source(), number, static_cast<uint32_t>(KernelsIn(shard))});
      }
      number += static_cast<uint32_t>(KernelsIn(shard));
      RETURN_IF_ERROR(
          Annotate(resolver->AddShard(shard, origin.holdout() ? nullptr : &verdict_shard, origin),
                   absl::StrCat("shard ", i)));
    }
    return shards;
  }

  // Rejects kernels that include an opted-out one. Reads texts only in a job with an opt_out, and
  // only from sources that have opted-out kernels or may use the files of one that has: first the
  // opted-out kernels, then all kernels that may include them.
  static absl::Status RejectOptedOutTexts(const v1::Action& action, CandidateShards shards,
                                          cas::BlobStore& store, Resolver* resolver) {
    const std::vector<cas::Digest> kernels = worker::InputsNamed(action, "kernels");
    if (kernels.empty()) return absl::OkStatus();
    if (kernels.size() != shards.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("resolve: needs a 'kernels' for each of ", shards.size(),
                       " shards that are not holdouts, or none; got ", kernels.size()));
    }
    for (size_t i = 0; i < shards.size(); ++i) shards[i].texts = kernels[i];
    const std::vector<uint32_t> opted_out = resolver->OptedOut();
    OptedOutTexts texts;
    for (const v1::ShardOrigin& origin : action.params().resolve().shards()) {
      if (!origin.repository().empty()) texts.AddLending(origin.source(), origin.repository());
    }
    for (const CandidateShard& input : shards) {
      auto at = std::lower_bound(opted_out.begin(), opted_out.end(), input.first_number);
      const uint32_t end = input.first_number + input.kernels;
      if (at == opted_out.end() || *at >= end) continue;
      ASSIGN_OR_RETURN(const v1::KernelShard shard, GetShard(input, store));
      for (; at != opted_out.end() && *at < end; ++at) {
        texts.Add(input.source, *at, shard.kernels(static_cast<int>(*at - input.first_number)),
                  resolver->IsNamed(*at));
      }
    }
    for (const CandidateShard& input : shards) {
      if (!texts.Has(input.source)) continue;
      ASSIGN_OR_RETURN(const v1::KernelShard shard, GetShard(input, store));
      uint32_t number = input.first_number;
      for (const v1::Kernel& kernel : shard.kernels()) {
        const auto found = texts.FindIn(input.source, number, kernel);
        if (found.has_value()) resolver->RejectWith(number, found->text, found->number);
        ++number;
      }
    }
    return absl::OkStatus();
  }

  // Applies people's decisions. A job with reviews has trees and kernels among the inputs, to find
  // what each decision is about.
  static absl::Status FollowReviews(const v1::Action& action, cas::BlobStore& store,
                                    Resolver* resolver) {
    const v1::ResolveParams& params = action.params().resolve();
    if (params.reviews().empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const v1::DatasetManifest shards, ListShards(action));
    manifest::ReviewedKernelFinder finder(params.reviews());
    RETURN_IF_ERROR(manifest::WalkDataset(store, shards, finder));
    for (const manifest::ReviewedKernelFinder::Found& found : finder.found()) {
      if (found.part != manifest::ReviewedKernelFinder::Part::kKernel) continue;
      RETURN_IF_ERROR(resolver->Review(found.number, params.reviews(found.review)));
    }
    return absl::OkStatus();
  }

  // Arranges the action's shards as in a manifest, so that a visitor can walk them.
  static absl::StatusOr<v1::DatasetManifest> ListShards(const v1::Action& action) {
    const auto& origins = action.params().resolve().shards();
    const std::vector<cas::Digest> trees = worker::InputsNamed(action, "tree");
    const std::vector<cas::Digest> kernels = worker::InputsNamed(action, "reviewed");
    const std::vector<cas::Digest> verdicts = worker::InputsNamed(action, "verdicts");
    v1::DatasetManifest manifest;
    size_t next_verdicts = 0;
    for (int i = 0; i < origins.size(); ++i) {
      if (i == 0 || origins[i].source() != origins[i - 1].source()) {
        v1::ManifestSource* source = manifest.add_sources();
        const auto place = static_cast<size_t>(manifest.sources_size() - 1);
        if (place < trees.size()) *source->mutable_tree() = trees[place];
        if (origins[i].holdout()) {
          source->mutable_source()->set_role(v1::SOURCE_ROLE_HOLDOUT);
        }
      }
      v1::ManifestSource* source = manifest.mutable_sources(manifest.sources_size() - 1);
      if (static_cast<size_t>(i) < kernels.size()) *source->add_kernels() = kernels[i];
      if (!origins[i].holdout()) *source->add_verdicts() = verdicts[next_verdicts++];
    }
    if (static_cast<size_t>(manifest.sources_size()) == trees.size() &&
        static_cast<size_t>(origins.size()) == kernels.size()) {
      return manifest;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("resolve: with reviews, needs a 'tree' for each of ", manifest.sources_size(),
                     " sources and a 'reviewed' for each of ", origins.size(), " shards; got ",
                     trees.size(), " and ", kernels.size()));
  }

  // Reads the texts of a shard of candidates.
  static absl::StatusOr<v1::KernelShard> GetShard(const CandidateShard& input,
                                                  cas::BlobStore& store) {
    ASSIGN_OR_RETURN(auto shard, cas::GetMessage<v1::KernelShard>(store, input.texts));
    if (static_cast<uint32_t>(shard.kernels_size()) == input.kernels) return shard;
    return absl::InvalidArgumentError(
        absl::StrCat(shard.kernels_size(), " kernels for ", input.kernels, " signatures"));
  }

  // Counts decisions by fate and reason. "dataset.kernels" is the sum of the four fates without
  // holdouts. Whole files are counted apart; "dataset.training_files.found" is their sum, without
  // those of holdouts.
  static void Count(const v1::Clusters& clusters, const Resolver& resolver,
                    const v1::ContaminationPolicy& policy, v1::StageResult* result) {
    std::map<std::string, int64_t> counts;
    for (int i = 0; i < clusters.decisions_size(); ++i) {
      const v1::Decision& decision = clusters.decisions(i);
      const bool file = resolver.IsFile(static_cast<uint32_t>(i));
      if (file && decision.fate() == v1::FATE_HOLDOUT) {
        ++counts["dataset.holdout_files"];
        continue;
      }
      std::string counter = absl::StrCat(file ? "dataset.training_files." : "dataset.",
                                         manifest::FateName(decision.fate()));
      if (!decision.reason().empty()) {
        absl::StrAppend(&counter, ".", manifest::ReasonKind(decision.reason()));
      }
      ++counts[counter];
      if (file) {
        ++counts["dataset.training_files.found"];
        continue;
      }
      if (decision.fate() != v1::FATE_HOLDOUT) ++counts["dataset.kernels"];
      if (decision.fate() != v1::FATE_KEPT) continue;
      if (decision.word_overlap() > 0) ++counts["dataset.review.word_overlap"];
      if (manifest::WithholdsLauncher(decision, policy)) {
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
  stages.push_back(std::make_unique<SplitStage>(spill));
  stages.push_back(std::make_unique<ManifestStage>());
  return stages;
}

}  // namespace kernelmill::deduplicator
