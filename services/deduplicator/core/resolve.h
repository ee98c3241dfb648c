#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/core/jaccard.h"

namespace kernelmill::deduplicator {

// Decides the fate of every kernel of a job: add all shards in order, then all pairs in any order,
// then resolve once. Holds some hundred bytes a kernel and no shingles. Not thread-safe.
//
//   holdout        of a holdout's shard
//   rejected       its verdict does not accept it; the reason is the verdict's first
//   contaminated   equal to a holdout kernel ("exact") or as similar as the threshold ("near")
//   duplicate      of a kept kernel: the same bytes ("exact"), the same normalized pair ("pair"),
//   or as
//                  similar as the threshold ("near")
//   kept           the rest
//
// in this order: the first that holds. So a copy of a rejected or a contaminated kernel is judged
// for itself, and never vanishes with it.
class Resolver {
 public:
  explicit Resolver(double threshold);

  // The next shard's kernels; `verdicts` is null for a holdout's shard alone. INVALID_ARGUMENT:
  // verdicts and kernels are not as many, or a signature is malformed.
  absl::Status AddShard(const v1::SignatureShard& signatures, const v1::VerdictShard* verdicts,
                        const v1::ShardOrigin& origin);
  // INVALID_ARGUMENT: a pair of kernels that there are not.
  absl::Status AddPairs(const v1::PairSet& pairs);

  v1::Clusters Resolve();

 private:
  struct Candidate {
    bool holdout = false;
    bool accepted = false;
    int tier = 0;
    double confidence = 0;
    uint32_t exact = 0;  // equal for kernels of equal bytes
    uint32_t pair = 0;   // equal for kernels of equal normalized pairs
    std::string rejection;
  };
  struct Edge {
    uint32_t from;
    uint32_t to;
    Overlap overlap;
  };
  struct Match {
    uint32_t number;
    absl::string_view kind;
    double similarity;
  };
  // Kernels found again by what they have in common; kNone where there is none.
  struct Index {
    std::vector<uint32_t> by_exact;
    std::vector<uint32_t> by_pair;
    std::vector<uint32_t> by_group;
  };

  uint32_t GroupOf(uint32_t number);
  void BuildEdges();
  Index EmptyIndex() const;
  void Enter(uint32_t number, Index* index);
  std::vector<uint32_t> Ranked() const;
  // Calls visit(Match) for every entry of `index` that repeats or resembles the kernel.
  template <typename Visit>
  void ForEachMatch(uint32_t number, const Index& index, Visit visit);
  bool Contaminated(uint32_t number, const Index& holdouts, v1::Decision* decision);
  bool Duplicate(uint32_t number, const Index& leaders, const std::vector<uint32_t>& rank,
                 v1::Decision* decision);

  const double threshold_;
  std::vector<Candidate> kernels_;
  absl::flat_hash_map<std::string, uint32_t> exact_ids_;
  absl::flat_hash_map<std::string, uint32_t> pair_ids_;
  std::vector<uint32_t> parent_;  // of kernels with equal shingle sets; a root is its group's name
  std::vector<Edge> edges_;       // both ways, between groups once built; sorted, each once
  std::vector<size_t> edge_starts_;  // of each group's edges, and the end
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_H_
