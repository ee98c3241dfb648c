#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_OBSERVATIONS_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_OBSERVATIONS_H_

#include "services/coordinator/core/state/observation.h"

namespace kernelmill::coordinator {

// What the scheduler observes, as metrics. Its functions may be called from any thread.
Observer MetricsObserver();

// Makes the series of them, with 0.
void PrefillObservations();

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_OBSERVATIONS_H_
