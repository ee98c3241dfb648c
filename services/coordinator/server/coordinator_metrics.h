#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_METRICS_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_METRICS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "kernelmill/v1/work.pb.h"
#include "services/coordinator/core/scheduler.h"
#include "services/coordinator/core/state/observation.h"

namespace kernelmill::coordinator {

// The coordinator's metrics (kernelmill_coordinator_*). All functions are thread-safe, unless a
// comment says otherwise.

// Creates the series that count events, with 0. Call it once, before the first event.
void PrefillMetrics();
void CountLeases(size_t tasks);
// Counts a completion and its outcome.
void CountCompletion(const v1::Completion& completion, const absl::Status& status);
// Sets the gauges of jobs, tasks, hosts, leases, and the ages of the oldest ones. Only one thread
// at a time may call it.
void ShowStats(const QueueStats& stats);
// Sets the gauges of workers, slots and unserved tasks. Only one thread at a time may call it.
void ShowWorkers(const Scheduler::WorkerStats& stats);

// Makes the observer that counts the scheduler's observations. Its functions are thread-safe.
Observer MetricsObserver();

// Creates the series of the observations, with 0.
void PrefillObservations();

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_METRICS_H_
