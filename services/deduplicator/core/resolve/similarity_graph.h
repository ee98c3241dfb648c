#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_SIMILARITY_GRAPH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_SIMILARITY_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {

// A graph of the kernels that are similar by one measure: all pairs that the pair stage found.
//
// The basic idea: the pair stage compares every kernel with equal shingles only with the first such
// kernel. Equality, unlike similarity, is an equivalence relation. So kernels that are linked by
// pairs with common == total form groups (union-find; the smallest number names the group), and a
// pair holds between the groups of its two ends. Not thread-safe.
class SimilarityGraph {
 public:
  void AddKernel() { parent_.push_back(static_cast<uint32_t>(parent_.size())); }
  // Adds a pair, in any order; repeats are fine. Kernels are numbered as they were added.
  void AddPair(uint32_t a, uint32_t b, Overlap overlap);
  // Ends the adding of pairs.
  void Build();

  uint32_t FindGroup(uint32_t number);
  // Calls callback(group, similarity) for the groups that `group` is similar to, ascending.
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

  std::vector<uint32_t> parent_;     // a root names its group
  std::vector<Edge> edges_;          // after Build(): between groups, both ways, sorted, each once
  std::vector<size_t> edge_starts_;  // the first edge of each group, and the end
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_SIMILARITY_GRAPH_H_
