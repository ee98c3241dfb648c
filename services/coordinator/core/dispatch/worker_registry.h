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
#include "services/coordinator/core/jobs/job_table.h"
#include "services/coordinator/core/plan/task.h"
#include "services/coordinator/core/state/clock.h"

namespace kernelmill::coordinator {

class LeaseTable;

// A worker's version of each stage, by StageId; 0: it cannot run the stage.
using StageVersions = std::array<int32_t, kStageCount>;

// The identity of a worker: its name, and its authenticated caller (empty without TLS). So a worker
// cannot impersonate another caller's worker by using its name.
struct WorkerId {
  std::string caller;
  std::string name;

  friend auto operator<=>(const WorkerId&, const WorkerId&) = default;
};

// A worker's description of itself; the fields are those of v1::LeaseRequest.
struct WorkerFacts {
  uint64_t incarnation = 0;
  std::string version;
  int32_t slots = 0;
  StageVersions stages{};
};

// The known workers: what each said about itself last, and when it was last heard from. Bounded:
// the workers that were silent longest are forgotten. Not thread-safe.
//
// It also detects a restarted worker: the same name with a new incarnation. The leases of the
// previous run are then free at once, instead of when they expire. Two workers with the same name,
// by mistake, would end each other's leases forever. They are detected by an incarnation that
// returns after another one; their name is then marked as shared, and ends no leases any more.
class WorkerRegistry {
 public:
  struct Entry {
    WorkerFacts facts;
    Clock::Time heard;    // when it was last heard from
    uint64_t run = 0;     // the id of this run of the worker; 0: unknown
    bool shared = false;  // several workers use this name

   private:
    friend class WorkerRegistry;
    uint64_t order = 0;                 // increases with each call of any worker
    std::deque<uint64_t> incarnations;  // earlier ones, the latest last
  };

  explicit WorkerRegistry(size_t max_workers = 10'000) : max_workers_(max_workers) {}

  struct Runs {
    uint64_t current = 0;  // the id of this run of the worker; 0: unknown
    uint64_t ended = 0;    // the previous run, which has ended; 0: none
    bool began = false;    // the current run is new
  };
  // Notes that the worker asks for tasks. Incarnation 0 is unknown and ends no run.
  Runs Hear(const WorkerId& worker, const WorkerFacts& facts, Clock::Time now);
  // Notes that the worker renews leases or sends results. Ignores a worker that never asked for
  // tasks.
  void HearAgain(const WorkerId& worker, Clock::Time now);

  const std::map<WorkerId, Entry>& entries() const { return entries_; }

 private:
  Runs UpdateRun(Entry& entry, const WorkerId& worker, uint64_t incarnation, bool fresh);
  void ForgetOldest();

  const size_t max_workers_;
  uint64_t last_run_ = 0;
  uint64_t order_ = 0;
  std::map<WorkerId, Entry> entries_;
};

using StageCounts = std::array<int64_t, kStageCount>;  // by StageId

// Counts of the workers that can run one stage. A worker is connected if it was heard from
// recently, otherwise silent.
struct StageWorkers {
  struct Group {
    int64_t idle = 0;  // connected, without tasks
    int64_t busy = 0;  // connected, with tasks of any stage
    int64_t silent = 0;
    int64_t slots = 0;  // slots of connected workers
    int64_t connected() const { return idle + busy; }
  };
  Group same;                         // workers with this build's version of the stage
  Group other;                        // workers with other versions, which get no tasks
  std::map<int32_t, int64_t> others;  // connected workers with other versions, by version
};
using WorkerCensus = std::array<StageWorkers, kStageCount>;

// Counts the known workers; connected are those that were heard from after `since`.
WorkerCensus CountWorkers(const WorkerRegistry& workers, const LeaseTable& leases,
                          Clock::Time since);

// Returns the answer of Crawl.ListWorkers: the workers heard from in the last 15 minutes, by name,
// with the tasks that they hold. Bounded, so that the answer fits into a message: of too many
// workers the most recent ones, and not all of their tasks.
std::vector<v1::WorkerInfo> ListWorkers(const WorkerRegistry& workers, const LeaseTable& leases,
                                        const JobTable& jobs, const Clock& clock);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_REGISTRY_H_
