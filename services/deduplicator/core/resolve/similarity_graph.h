#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_SIMILARITY_GRAPH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_SIMILARITY_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {

// Which kernels are similar by one measure: all pairs that the pair stage found.
//
// Equal sets. The pair stage compares all but the first kernel of each set with that first alone.
// Equality of sets, unlike similarity, is an equivalence; so kernels linked by pairs with common ==
// total are put into groups (union-find, the smallest number names the group), and a pair holds
// between the whole groups of its two ends. Not thread-safe.
class SimilarityGraph {
 public:
  void AddKernel() { parent_.push_back(static_cast<uint32_t>(parent_.size())); }
  // In any order, each as often as the caller likes; kernels are numbered as they were added.
  void AddPair(uint32_t a, uint32_t b, Overlap overlap);
  // After the last pair.
  void Build();

  uint32_t GroupOf(uint32_t number);
  // Calls callback(group, similarity) for the other groups that a kernel's is similar to,
  // ascending.
  template <typename Callback>
  void ForEachNeighbour(uint32_t group, Callback callback) const {
    for (size_t i = edge_starts_[group]; i < edge_starts_[group + 1]; ++i) {
      callback(edges_[i].to, Similarity(edges_[i].overlap));
    }
  }

 private:
  struct Edge {
    uint32_t from;
    uint32_t to;
    Overlap overlap;
  };

  std::vector<uint32_t> parent_;     // a root is its group's name
  std::vector<Edge> edges_;          // both ways, between groups once built; sorted, each once
  std::vector<size_t> edge_starts_;  // of each group's edges, and the end
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_SIMILARITY_GRAPH_H_
