#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_METRICS_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_METRICS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "kernelmill/v1/work.pb.h"
#include "services/coordinator/core/scheduler.h"
#include "services/coordinator/core/state/observation.h"

namespace kernelmill::coordinator {

// The coordinator's metrics (kernelmill_coordinator_*). Thread-safe.

// Makes what counts events, with 0. Call once, before the first event.
void PrefillMetrics();
void CountLeases(size_t tasks);
// A completion and what became of it.
void CountCompletion(const v1::Completion& completion, const absl::Status& status);
// Sets the gauges: jobs by state, tasks by stage and state and by host, leases held, and how old
// the oldest are. Called by one thread at a time.
void ShowStats(const QueueStats& stats);
// Likewise: workers and slots by stage and version, ready tasks of stages without a worker.
void ShowWorkers(const Scheduler::WorkerStats& stats);

// What the scheduler observes, as metrics. Its functions may be called from any thread.
Observer MetricsObserver();

// Makes the series of them, with 0.
void PrefillObservations();

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_METRICS_H_
