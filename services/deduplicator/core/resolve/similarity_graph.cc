// A graph in compressed form: after Build(), the edges are one sorted array with both directions,
// and edge_starts_ has the first edge of each group. Groups are a union-find forest whose roots are
// the smallest numbers, so that the names of groups do not depend on the order of pairs.

#include "services/deduplicator/core/resolve/similarity_graph.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace kernelmill::deduplicator {

void SimilarityGraph::AddPair(uint32_t a, uint32_t b, Overlap overlap) {
  if (overlap.common < overlap.total) {
    edges_.push_back({a, b, overlap});
    return;
  }
  a = FindGroup(a);
  b = FindGroup(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

// Follows parents to the root, and halves the path on the way.
uint32_t SimilarityGraph::FindGroup(uint32_t number) {
  while (parent_[number] != number) {
    parent_[number] = parent_[parent_[number]];
    number = parent_[number];
  }
  return number;
}

// Renames the edges to groups, adds each in both directions, and sorts them. An edge that several
// pairs of one group found stays once for each overlap.
void SimilarityGraph::Build() {
  const size_t one_way = edges_.size();
  edges_.reserve(2 * one_way);
  for (size_t i = 0; i < one_way; ++i) {
    Edge& edge = edges_[i];
    edge.from = FindGroup(edge.from);
    edge.to = FindGroup(edge.to);
    edges_.push_back({edge.to, edge.from, edge.overlap});
  }
  const auto key = [](const Edge& edge) {
    return std::make_tuple(edge.from, edge.to, edge.overlap.common, edge.overlap.total);
  };
  std::sort(edges_.begin(), edges_.end(),
            [&](const Edge& x, const Edge& y) { return key(x) < key(y); });
  edges_.erase(std::unique(edges_.begin(), edges_.end(),
                           [&](const Edge& x, const Edge& y) { return key(x) == key(y); }),
               edges_.end());
  edge_starts_.assign(parent_.size() + 1, 0);
  for (const Edge& edge : edges_) ++edge_starts_[edge.from + 1];
  std::partial_sum(edge_starts_.begin(), edge_starts_.end(), edge_starts_.begin());
}

}  // namespace kernelmill::deduplicator
