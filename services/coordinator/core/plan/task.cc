#include "services/coordinator/core/plan/task.h"

#include <bit>

namespace kernelmill::coordinator {

// A SubShard is a node of a binary tree over the items of a shard, numbered as in a heap: 1 is the
// whole shard, 2n and 2n + 1 are the halves of n; the first half has the odd item. So a number
// names a range of items without storing it, and the tree needs no memory. The highest bit is the
// flag kQuarantined: this one item is not run but reported.
ItemRange GetItems(SubShard sub_shard, int32_t items) {
  const auto node = static_cast<uint16_t>(sub_shard & ~kQuarantined);
  ItemRange range{0, items};
  // The bits below the highest one are the path down the tree: 0 is the first half.
  for (int bit = std::bit_width(node) - 2; bit >= 0; --bit) {
    const int32_t half = (range.count + 1) / 2;
    if (node >> bit & 1) {
      range = {range.first + half, range.count - half};
    } else {
      range.count = half;
    }
  }
  return range;
}

// Returns the two halves; for a single item the same node in quarantine; nothing if the node is in
// quarantine already, or its children's numbers would not fit.
std::vector<SubShard> Split(SubShard sub_shard, int32_t items) {
  if (sub_shard & kQuarantined) return {};
  const int32_t count = GetItems(sub_shard, items).count;
  if (count < 1 || sub_shard >= kQuarantined / 2) return {};
  if (count == 1) return {static_cast<SubShard>(sub_shard | kQuarantined)};
  return {static_cast<SubShard>(2 * sub_shard), static_cast<SubShard>(2 * sub_shard + 1)};
}

}  // namespace kernelmill::coordinator
