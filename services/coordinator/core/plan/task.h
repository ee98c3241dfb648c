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

// A part of a shard that is extracted or compiled by itself, because one of the shard's items
// (files of an extraction, kernels of a compilation) ends the worker.
//
// The basic idea: halve whatever ends its worker until the item that does it stands alone, and
// quarantine that item: it is not touched any more, but recorded as failed. A sub-shard is named by
// its place in the tree of halves, not by when it was made, so that sub-shards, and with them all
// actions, do not depend on the order in which workers ended.
//
// 1 is the whole shard, 2n and 2n + 1 are the halves of n; kQuarantined is added for a quarantined
// item.
using SubShard = uint16_t;
inline constexpr SubShard kWholeShard = 1;
inline constexpr SubShard kQuarantined = 0x8000;

struct ItemRange {
  int32_t first = 0;
  int32_t count = 0;
};

// Which of the shard's `items` the sub-shard has.
ItemRange ItemsOf(SubShard sub_shard, int32_t items);
// What takes the place of a sub-shard that ended its worker for good: its halves, or its one item
// quarantined. None: it cannot be split further.
std::vector<SubShard> Split(SubShard sub_shard, int32_t items);

// Which task of a job: a stage, the source by its place in the job, and the shard of that source
// (for pair, the partition). What a stage does not have is 0; only splittable stages have
// sub-shards.
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
