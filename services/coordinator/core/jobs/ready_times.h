#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_READY_TIMES_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_READY_TIMES_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>

namespace kernelmill::coordinator {

// Since when each task of a job could have been leased, by the wall clock: for timelines alone, and
// apart from the tasks, of which a job may have millions. Four bytes a task, counted from the first
// one's; what lies before that or 49 days after it is that bound. Not thread-safe.
class ReadyTimes {
 public:
  // Of the next task.
  void Add(int64_t unix_ms) {
    if (after_ms_.empty()) first_unix_ms_ = unix_ms;
    after_ms_.push_back(AfterFirst(unix_ms));
  }
  // `index`: from 1, as tasks are counted.
  void Set(uint32_t index, int64_t unix_ms) { after_ms_[index - 1] = AfterFirst(unix_ms); }
  int64_t Get(uint32_t index) const { return first_unix_ms_ + after_ms_[index - 1]; }

 private:
  uint32_t AfterFirst(int64_t unix_ms) const {
    constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
    return static_cast<uint32_t>(std::clamp<int64_t>(unix_ms - first_unix_ms_, 0, kMost));
  }

  int64_t first_unix_ms_ = 0;
  std::deque<uint32_t> after_ms_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_READY_TIMES_H_
