#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_REGISTRY_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_REGISTRY_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "kernelmill/v1/crawl.pb.h"
#include "services/coordinator/core/dispatch/lease_table.h"
#include "services/coordinator/core/jobs/job_table.h"
#include "services/coordinator/core/plan/task.h"
#include "services/coordinator/core/state/clock.h"

namespace kernelmill::coordinator {

// The version that a worker has of each stage, by StageId; 0: it cannot run the stage.
using StageVersions = std::array<int32_t, kStageCount>;

// Who a worker is: its own name, and by certificate or token who calls, empty without TLS. Nobody
// can take the place of a worker of another caller by taking its name.
struct WorkerId {
  std::string caller;
  std::string name;

  friend auto operator<=>(const WorkerId&, const WorkerId&) = default;
};

// What a worker says of itself; the fields as those of v1::LeaseRequest.
struct WorkerFacts {
  uint64_t incarnation = 0;
  std::string version;
  int32_t slots = 0;
  StageVersions stages{};
};

// Who works: what each worker said of itself last, and when it was last heard of.
//
// Notices too that a worker has been started anew: the same name with another incarnation. What the
// run before held is then free at once, instead of when its leases run out. Two workers that were
// given one name by mistake would end each other's leases for ever; they are told by an incarnation
// that comes back after another, and their name is then no longer trusted.
//
// Bounded: the workers heard of longest ago are forgotten. Not thread-safe.
class WorkerRegistry {
 public:
  struct Entry {
    WorkerFacts facts;
    Clock::Time heard;    // last
    uint64_t run = 0;     // names this run of the worker; 0: unknown
    bool shared = false;  // the name is that of several workers

   private:
    friend class WorkerRegistry;
    uint64_t order = 0;                 // grows with each time that somebody is heard of
    std::deque<uint64_t> incarnations;  // earlier ones, the latest last
  };

  explicit WorkerRegistry(size_t max_workers = 10'000) : max_workers_(max_workers) {}

  struct Runs {
    uint64_t current = 0;  // names this run of the worker; 0: unknown
    uint64_t ended = 0;    // the run before, which has ended; 0: none
    bool began = false;    // the current run was not heard of before
  };
  // The worker asks for tasks. Incarnation 0 is unknown, and ends nothing.
  Runs Hear(const WorkerId& worker, const WorkerFacts& facts, Clock::Time now);
  // It renews leases or hands in results. One that never asked stays unknown.
  void HearAgain(const WorkerId& worker, Clock::Time now);

  const std::map<WorkerId, Entry>& entries() const { return entries_; }

 private:
  Runs RunsOf(Entry& entry, const WorkerId& worker, uint64_t incarnation, bool fresh);
  void ForgetOldest();

  const size_t max_workers_;
  uint64_t last_run_ = 0;
  uint64_t order_ = 0;
  std::map<WorkerId, Entry> entries_;
};

using StageCounts = std::array<int64_t, kStageCount>;  // by StageId

// Workers that can run one stage. A worker is connected if it was heard of lately; it is silent if
// that was a while ago.
struct StageWorkers {
  struct Group {
    int64_t idle = 0;  // connected, and holds no task
    int64_t busy = 0;  // connected, and holds some, of whatever stage
    int64_t silent = 0;
    int64_t slots = 0;  // of those that are connected
    int64_t connected() const { return idle + busy; }
  };
  Group same;                         // of the stage's version that this build plans with
  Group other;                        // of other versions: they get none of its tasks
  std::map<int32_t, int64_t> others;  // connected workers of these, by version
};
using WorkerCensus = std::array<StageWorkers, kStageCount>;

// Counts the workers that were heard of; connected are those heard of after `since`.
WorkerCensus CountWorkers(const WorkerRegistry& workers, const LeaseTable& leases,
                          Clock::Time since);

// The workers heard of in the last quarter of an hour, by name, with the tasks that they hold:
// what ListWorkers answers. Bounded, so that the answer fits in a message: of very many workers
// those heard of last, and not all of their tasks.
std::vector<v1::WorkerInfo> ListWorkers(const WorkerRegistry& workers, const LeaseTable& leases,
                                        const JobTable& jobs, const Clock& clock);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_REGISTRY_H_
