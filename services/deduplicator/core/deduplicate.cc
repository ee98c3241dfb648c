// The basic idea: the stages sign, pair and resolve in memory, for a few texts that a caller sends.
// It uses the same classes as the stages, so that the answer is the one that a job would give, with
// a single partition and without spilling.

#include "services/deduplicator/core/deduplicate.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "services/deduplicator/core/pair/duplicate_finder.h"
#include "services/deduplicator/core/pair/same_kernel.h"
#include "services/deduplicator/core/resolve/resolve.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {
namespace {

absl::Status CheckSize(const v1::DeduplicateRequest& request) {
  int64_t bytes = 0;
  for (const std::string& source : request.sources()) bytes += static_cast<int64_t>(source.size());
  if (request.sources_size() <= kMaxTexts && bytes <= kMaxTextBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("sources: ", request.sources_size(), " texts of ",
                                                 bytes, " bytes; at most ", kMaxTexts, " and ",
                                                 kMaxTextBytes));
}

}  // namespace

absl::StatusOr<v1::Clusters> Deduplicate(const v1::DeduplicateRequest& request) {
  RETURN_IF_ERROR(CheckSize(request));
  v1::PairParams params;
  params.set_threshold(request.threshold() == 0 ? kDefaultThreshold : request.threshold());
  params.set_partitions(1);
  RETURN_IF_ERROR(CheckPairParams(params));

  // The texts form one shard of one source. Their first lines number them, so that the rank of
  // equal kernels is their order in the request.
  SignedShard shard;
  v1::VerdictShard verdicts;
  v1::Kernel kernel;
  for (const std::string& source : request.sources()) {
    kernel.set_source(source);
    kernel.set_first_line(verdicts.verdicts_size() + 1);
    Sign(kernel, &shard);
    verdicts.add_verdicts()->set_accepted(true);
  }
  // Pair: the second pass loads only the sets that have a candidate, in ascending order.
  v1::PairSet pairs;
  DuplicateFinder finder(params.threshold(), /*partition=*/0, /*partitions=*/1);
  finder.Observe(shard.signatures.near());
  finder.EndObserving();
  SameKernel same{SpillOptions()};
  same.Observe(shard.signatures);
  const auto span = [](const auto& set) { return absl::MakeConstSpan(set.data(), set.size()); };
  for (const uint32_t number : finder.needed()) {
    const v1::KernelShingles& shingles = shard.shingles.kernels(static_cast<int>(number));
    RETURN_IF_ERROR(finder.Load(span(shingles.near())));
    RETURN_IF_ERROR(same.Load(number, span(shingles.operations())));
  }
  RETURN_IF_ERROR(finder.Find(pairs.mutable_pairs()));
  RETURN_IF_ERROR(same.Filter(SameKernel::Names::kCount, pairs.mutable_pairs()));

  // Resolve: without structural duplicates or holdouts.
  v1::DedupPolicy policy;
  policy.set_threshold(params.threshold());
  Resolver resolver(policy);
  RETURN_IF_ERROR(resolver.AddShard(shard.signatures, &verdicts, v1::ShardOrigin()));
  RETURN_IF_ERROR(resolver.AddPairs(pairs));
  return resolver.Resolve();
}

}  // namespace kernelmill::deduplicator
