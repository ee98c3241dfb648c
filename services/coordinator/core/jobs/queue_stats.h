#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_QUEUE_STATS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_QUEUE_STATS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "kernelmill/v1/crawl.pb.h"
#include "services/coordinator/core/plan/task.h"

namespace kernelmill::coordinator {

// Counts for metrics. They are updated with each change, so that reading them walks over no tasks.

// The tasks of one stage in the running jobs. Split tasks count as done.
struct StageTasks {
  int64_t total = 0, done = 0, failed = 0, leased = 0;
  int64_t ready = 0;
  int64_t backing_off = 0;       // wait for the next attempt
  int64_t waiting_for_host = 0;  // wait for a place at their host, or for the end of its pause
  int64_t sharing = 0;           // wait for the result of an equal task
  int64_t ready_since_ms = 0;    // when the first queued task became ready, wall clock; 0: none
};

struct HostStats {
  struct Tasks {
    int64_t running = 0, waiting = 0;
  };
  std::map<std::string, Tasks> tasks;  // by host
  int64_t paused = 0;                  // hosts that requested a pause
};

struct QueueStats {
  int64_t unix_ms = 0;  // the time of counting
  std::map<v1::JobState, int64_t> jobs;
  std::array<StageTasks, kStageCount> tasks;
  HostStats hosts;
  int64_t leases = 0;
  int64_t suspects = 0;       // tasks that must run alone
  int64_t oldest_job_ms = 0;  // when the oldest running job was submitted; 0: no job runs
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_QUEUE_STATS_H_
