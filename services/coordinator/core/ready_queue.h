#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_READY_QUEUE_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_READY_QUEUE_H_

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "services/coordinator/core/clock.h"
#include "services/coordinator/core/task.h"

namespace kernelmill::coordinator {

using StageSet = std::bitset<kStageCount>;

// The tasks of one job that wait for a worker, by stage; the earliest created goes first, so that a
// task which comes back keeps its place. Tasks that must run alone wait apart. Four bytes a task.
// Not thread-safe.
class ReadyQueue {
 public:
  void Push(StageId stage, uint32_t index, bool alone) {
    (alone ? alone_ : shared_)[static_cast<int>(stage)].push(index);
  }

  // Keeps the task back until `when`.
  void PushLater(StageId stage, uint32_t index, bool alone, Clock::Time when) {
    later_.insert({when, {stage, index, alone}});
  }

  // Moves the tasks whose time has come; returns whether there were any.
  bool Promote(Clock::Time now) {
    bool any = false;
    while (!later_.empty() && later_.begin()->first <= now) {
      const auto [stage, index, alone] = later_.begin()->second;
      Push(stage, index, alone);
      later_.erase(later_.begin());
      any = true;
    }
    return any;
  }

  // The earliest task of one of the stages, of those that may run beside others.
  std::optional<uint32_t> Pop(const StageSet& stages) { return PopFrom(shared_, stages); }
  // Likewise, of those that must run alone.
  std::optional<uint32_t> PopAlone(const StageSet& stages) { return PopFrom(alone_, stages); }
  bool HasAlone(const StageSet& stages) const { return Any(alone_, stages); }
  bool HasShared(const StageSet& stages) const { return Any(shared_, stages); }

 private:
  using Heap = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<uint32_t>>;
  using Heaps = std::array<Heap, kStageCount>;

  static bool Any(const Heaps& heaps, const StageSet& stages) {
    for (int i = 0; i < kStageCount; ++i) {
      if (stages[i] && !heaps[i].empty()) return true;
    }
    return false;
  }

  static std::optional<uint32_t> PopFrom(Heaps& heaps, const StageSet& stages) {
    Heap* best = nullptr;
    for (int i = 0; i < kStageCount; ++i) {
      Heap& heap = heaps[i];
      if (stages[i] && !heap.empty() && (best == nullptr || heap.top() < best->top())) best = &heap;
    }
    if (best == nullptr) return std::nullopt;
    const uint32_t index = best->top();
    best->pop();
    return index;
  }

  Heaps shared_, alone_;
  std::set<std::pair<Clock::Time, std::tuple<StageId, uint32_t, bool>>> later_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_READY_QUEUE_H_
