#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_TASK_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_TASK_H_

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/worker/stage_table.h"

namespace kernelmill::coordinator {

using worker::GetStageInfo;
using worker::kStageCount;
using worker::StageId;
using worker::StageInfo;

// A part of a shard that is extracted or compiled separately, because one of the shard's items
// (files of an extraction, kernels of a compilation) crashes the worker.
//
// The basic idea: a part that crashes its worker is halved until the item at fault is alone. That
// item is quarantined: it is recorded as failed and not run again. A sub-shard is named by its
// place in the tree of halves, not by the time of its creation. So sub-shards, and with them all
// actions, do not depend on the order of crashes.
//
// The number 1 is the whole shard; 2n and 2n + 1 are the halves of n. kQuarantined is added for a
// quarantined item.
using SubShard = uint16_t;
inline constexpr SubShard kWholeShard = 1;
inline constexpr SubShard kQuarantined = 0x8000;

struct ItemRange {
  int32_t first = 0;
  int32_t count = 0;
};

// Returns the range of the shard's items that the sub-shard has.
ItemRange GetItems(SubShard sub_shard, int32_t items);
// Returns the replacements of a sub-shard that crashes its workers: its halves, or its single item
// as quarantined. Empty if it cannot be split further.
std::vector<SubShard> Split(SubShard sub_shard, int32_t items);

// The name of a task within its job: the stage, the index of the source, and the shard of the
// source (for pair: the partition). Fields that do not apply to a stage are 0; only splittable
// stages have sub-shards.
struct TaskKey {
  StageId stage = StageId::kDiscover;
  SubShard sub_shard = kWholeShard;
  int32_t source = 0;
  int32_t shard = 0;

  friend bool operator==(const TaskKey&, const TaskKey&) = default;
  friend std::strong_ordering operator<=>(const TaskKey& a, const TaskKey& b) {
    if (const auto order = a.stage <=> b.stage; order != 0) return order;
    if (const auto order = a.source <=> b.source; order != 0) return order;
    if (const auto order = a.shard <=> b.shard; order != 0) return order;
    return a.sub_shard <=> b.sub_shard;
  }
  template <typename H>
  friend H AbslHashValue(H h, const TaskKey& key) {
    return H::combine(std::move(h), key.stage, key.sub_shard, key.source, key.shard);
  }
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_TASK_H_
