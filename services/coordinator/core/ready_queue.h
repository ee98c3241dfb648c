#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_READY_QUEUE_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_READY_QUEUE_H_

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "services/coordinator/core/clock.h"
#include "services/coordinator/core/task.h"

namespace kernelmill::coordinator {

using StageSet = std::bitset<kStageCount>;

// The tasks of one job that wait for a worker, by stage; the earliest created goes first, so that a
// task which comes back keeps its place. Four bytes a task. Not thread-safe.
class ReadyQueue {
 public:
  void Push(StageId stage, uint32_t index) { heaps_[static_cast<int>(stage)].push(index); }

  // Keeps the task back until `when`.
  void PushLater(StageId stage, uint32_t index, Clock::Time when) {
    later_.insert({when, {stage, index}});
  }

  // Moves the tasks whose time has come; returns whether there were any.
  bool Promote(Clock::Time now) {
    bool any = false;
    while (!later_.empty() && later_.begin()->first <= now) {
      Push(later_.begin()->second.first, later_.begin()->second.second);
      later_.erase(later_.begin());
      any = true;
    }
    return any;
  }

  // The earliest task of one of the stages.
  std::optional<uint32_t> Pop(const StageSet& stages) {
    Heap* best = nullptr;
    for (int i = 0; i < kStageCount; ++i) {
      Heap& heap = heaps_[i];
      if (stages[i] && !heap.empty() && (best == nullptr || heap.top() < best->top())) best = &heap;
    }
    if (best == nullptr) return std::nullopt;
    const uint32_t index = best->top();
    best->pop();
    return index;
  }

 private:
  using Heap = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<uint32_t>>;
  std::array<Heap, kStageCount> heaps_;
  std::set<std::pair<Clock::Time, std::pair<StageId, uint32_t>>> later_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_READY_QUEUE_H_
