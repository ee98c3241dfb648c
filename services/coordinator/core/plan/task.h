#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_TASK_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_TASK_H_

#include <compare>
#include <cstdint>
#include <utility>

#include "common/worker/stage_table.h"

namespace kernelmill::coordinator {

using worker::kStageCount;
using worker::StageId;
using worker::StageInfo;
using worker::StageInfoOf;

// Which piece of a shard an extraction takes: a node of the tree of halves, 1 being the whole shard
// and 2n and 2n + 1 the halves of n; with kSetAside, a file that is not read any more but recorded
// as failed.
using Piece = uint16_t;
inline constexpr Piece kWhole = 1;
inline constexpr Piece kSetAside = 0x8000;

// Which task of a job: a stage, the source by its place in the job, and the shard of that source
// (for pair, the partition). What a stage does not have is 0; only extract has other pieces than
// the whole.
struct TaskKey {
  StageId stage = StageId::kDiscover;
  Piece piece = kWhole;
  int32_t source = 0;
  int32_t shard = 0;

  friend bool operator==(const TaskKey&, const TaskKey&) = default;
  friend std::strong_ordering operator<=>(const TaskKey& a, const TaskKey& b) {
    if (const auto order = a.stage <=> b.stage; order != 0) return order;
    if (const auto order = a.source <=> b.source; order != 0) return order;
    if (const auto order = a.shard <=> b.shard; order != 0) return order;
    return a.piece <=> b.piece;
  }
  template <typename H>
  friend H AbslHashValue(H h, const TaskKey& key) {
    return H::combine(std::move(h), key.stage, key.piece, key.source, key.shard);
  }
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_TASK_H_
