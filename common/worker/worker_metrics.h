#ifndef KERNELMILL_COMMON_WORKER_WORKER_METRICS_H_
#define KERNELMILL_COMMON_WORKER_WORKER_METRICS_H_

#include <string>
#include <vector>

#include "common/worker/stage.h"

namespace kernelmill::worker {

// The metrics of workers (kernelmill_worker_*); those of one process share them. Thread-safe.

enum class Peer { kStore, kCoordinator };

// Makes what counts events, with 0, for these stages.
void PrefillWorker(const std::vector<Stage*>& stages);
// A task that was leased has ended. `stage`: as its action names it.
void CountTask(const std::string& stage, const char* outcome);
// So many slots more, or fewer, are there; or have a task.
void AddSlots(int slots);
void AddBusySlots(int slots);
// So many more, or fewer, wait for the peer.
void AddWaiters(Peer peer, int waiters);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_WORKER_METRICS_H_
