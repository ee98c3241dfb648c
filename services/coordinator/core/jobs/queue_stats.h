#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_QUEUE_STATS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_QUEUE_STATS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "kernelmill/v1/crawl.pb.h"
#include "services/coordinator/core/plan/task.h"

namespace kernelmill::coordinator {

// Counts for metrics; all are kept as things change, so that none needs a walk over tasks.

// The tasks of one stage in the running jobs. Those that are split count as done.
struct StageTasks {
  int64_t total = 0, done = 0, failed = 0, leased = 0;
  int64_t ready = 0;
  int64_t backing_off = 0;       // until their pause is over
  int64_t waiting_for_host = 0;  // for a place there, or that its pause is over
  int64_t sharing = 0;           // they follow an equal task
  int64_t ready_since_ms = 0;    // by the wall clock: the first in the queue; 0: none is
};

struct HostStats {
  struct Tasks {
    int64_t running = 0, waiting = 0;
  };
  std::map<std::string, Tasks> tasks;  // by host
  int64_t paused = 0;                  // hosts that want to be left alone
};

struct QueueStats {
  int64_t unix_ms = 0;  // when it was counted
  std::map<v1::JobState, int64_t> jobs;
  std::array<StageTasks, kStageCount> tasks;
  HostStats hosts;
  int64_t leases = 0;
  int64_t suspects = 0;       // tasks that must run alone
  int64_t oldest_job_ms = 0;  // when the oldest running job was submitted; 0: none runs
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_QUEUE_STATS_H_
