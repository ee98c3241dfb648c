#include "services/validator/core/tokens/merge.h"

#include <algorithm>
#include <functional>

namespace kernelmill::validator::bpe {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

}  // namespace

void Merger::Append(absl::string_view piece, std::vector<uint32_t>& tokens) {
  if (const uint32_t rank = vocabulary_.Rank(piece); rank != kNoRank) {
    tokens.push_back(rank);
    return;
  }
  const auto size = static_cast<uint32_t>(piece.size());
  parts_.resize(size);
  heap_.clear();
  for (uint32_t i = 0; i < size; ++i) parts_[i] = {i == 0 ? kNone : i - 1, i + 1, kNoRank};
  for (uint32_t i = 0; i < size; ++i) Rerank(piece, i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [rank, at] = heap_.back();
    heap_.pop_back();
    if (parts_[at].rank == rank) Merge(piece, at);
  }
  for (uint32_t at = 0; at < size; at = parts_[at].next) {
    tokens.push_back(vocabulary_.Rank(piece.substr(at, parts_[at].next - at)));
  }
}

// Says anew what the part at `at` and the next one are together.
void Merger::Rerank(absl::string_view piece, uint32_t at) {
  Part& part = parts_[at];
  part.rank = kNoRank;
  if (part.next == piece.size()) return;
  part.rank = vocabulary_.Rank(piece.substr(at, parts_[part.next].next - at));
  if (part.rank == kNoRank) return;
  heap_.emplace_back(part.rank, at);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void Merger::Merge(absl::string_view piece, uint32_t at) {
  Part& part = parts_[at];
  Part& gone = parts_[part.next];
  part.next = gone.next;
  gone.rank = kNoRank;  // what the heap has of it is stale
  if (part.next < piece.size()) parts_[part.next].previous = at;
  Rerank(piece, at);
  if (part.previous != kNone) Rerank(piece, part.previous);
}

}  // namespace kernelmill::validator::bpe
