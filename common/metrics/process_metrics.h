#ifndef KERNELMILL_COMMON_METRICS_PROCESS_METRICS_H_
#define KERNELMILL_COMMON_METRICS_PROCESS_METRICS_H_

namespace kernelmill::metrics {

// Brings what each process has up to date: the process_* metrics, by /proc (what it does not say
// stays), and the lines of the log.
void MeasureProcess();

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_PROCESS_METRICS_H_
