#ifndef KERNELMILL_COMMON_WORKER_WORKER_METRICS_H_
#define KERNELMILL_COMMON_WORKER_WORKER_METRICS_H_

#include <string>
#include <vector>

#include "common/worker/stage.h"
#include "common/worker/stage_table.h"
#include "kernelmill/v1/action.pb.h"

namespace kernelmill::worker {

// The metrics of workers (kernelmill_worker_*), which all workers of a process share, and of the
// counters in stage results (StageResult.counters). Thread-safe.

enum class Peer { kStore, kCoordinator };

// Creates the series of these stages, with 0.
void PrefillWorker(const std::vector<Stage*>& stages);
// Counts a leased task that has ended. `stage` is the name in its action.
void CountTask(const std::string& stage, const char* outcome);
// Add to the number of slots, or of slots with a task.
void AddSlots(int slots);
void AddBusySlots(int slots);
// Adds to the number of waiters for the peer.
void AddWaiters(Peer peer, int waiters);

// Counts the files and kernels of a stage that this process ran, by their fate.
void CountStage(StageId stage, const v1::StageResult& result);
// Counts the files and kernels of a finished dataset, in the coordinator: from resolve and
// manifest, run or cached.
void CountDataset(StageId stage, const v1::StageResult& result);

// Create the series that are known before the first event.
void PrefillStage(StageId stage);
void PrefillDataset();

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_WORKER_METRICS_H_
