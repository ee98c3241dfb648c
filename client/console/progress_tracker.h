#ifndef KERNELMILL_CLIENT_CONSOLE_PROGRESS_TRACKER_H_
#define KERNELMILL_CLIENT_CONSOLE_PROGRESS_TRACKER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// The state of one stage at one moment, with its rate.
struct StageView {
  std::string stage;
  int64_t total = 0;
  int64_t done = 0;
  int64_t cached = 0;
  int64_t failed = 0;
  double per_second = 0;                          // lately; 0: unknown
  absl::Duration left;                            // infinite: unknown
  absl::Duration at_work = absl::ZeroDuration();  // since its first task was seen
};

// An estimate of the time that a stage takes, which does not climb without a reason. The .cc
// explains it. Not thread-safe.
class TimeLeft {
 public:
  // Notes how many tasks are finished, and how many there are. `total_known`: no more will come.
  void Update(int64_t finished, int64_t total, bool total_known, absl::Time now);
  // Returns the finished tasks per second, lately; 0: unknown.
  double GetRate() const { return rate_; }
  // Returns the time until the end; infinite if it is unknown.
  absl::Duration Get(absl::Time now) const;

 private:
  void Estimate(absl::Time now);

  std::deque<std::pair<absl::Time, int64_t>> samples_;  // when a task finished, and how many had
  int64_t first_ = -1;  // tasks that were finished when the stage was first seen
  int64_t total_ = 0;
  bool total_known_ = false;
  double rate_ = 0;
  absl::Time end_ = absl::InfiniteFuture();
};

// A converter of a job's statuses into StageViews. It remembers when each stage was first seen at
// work, to compute rates. Not thread-safe.
class ProgressTracker {
 public:
  void Update(const v1::JobStatus& status, absl::Time now);
  // The stages that have tasks, in the order of the data flow.
  const std::vector<StageView>& stages() const { return stages_; }

 private:
  struct Stage {
    absl::Time begin;
    TimeLeft left;
  };
  std::map<std::string, Stage> begun_;
  std::vector<StageView> stages_;
};

// Returns whether the stage has unfinished tasks.
bool AtWork(const StageView& stage);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_PROGRESS_TRACKER_H_
