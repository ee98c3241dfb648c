#include "services/coordinator/core/plan/task.h"

#include <bit>

namespace kernelmill::coordinator {

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

std::vector<SubShard> Split(SubShard sub_shard, int32_t items) {
  if (sub_shard & kQuarantined) return {};
  const int32_t count = GetItems(sub_shard, items).count;
  if (count < 1 || sub_shard >= kQuarantined / 2) return {};
  if (count == 1) return {static_cast<SubShard>(sub_shard | kQuarantined)};
  return {static_cast<SubShard>(2 * sub_shard), static_cast<SubShard>(2 * sub_shard + 1)};
}

}  // namespace kernelmill::coordinator
