#ifndef KERNELMILL_CLIENT_CONSOLE_BUSY_TIMES_H_
#define KERNELMILL_CLIENT_CONSOLE_BUSY_TIMES_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/console/timeline.h"

namespace kernelmill::client {

// The time during which at least one task was at work. It is wall time: two tasks at once count
// once, so that it never exceeds the time that passed.
struct BusyTime {
  std::string name;  // a stage or a source
  absl::Duration time;
};

struct BusyTimes {
  std::vector<BusyTime> stages;  // in the order in which they began
  BusyTime slowest_source;       // empty: no task was of one source
  BusyTime slowest_stage;        // of that source
  // The source that waited longest between the attempts at its tasks; empty: none was tried again.
  BusyTime retried;
};

// Adds up a job's timeline. An attempt that has not ended counts until the timeline's end.
BusyTimes SumBusyTimes(const Timeline& timeline);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_BUSY_TIMES_H_
