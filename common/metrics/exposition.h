#ifndef KERNELMILL_COMMON_METRICS_EXPOSITION_H_
#define KERNELMILL_COMMON_METRICS_EXPOSITION_H_

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "common/metrics/exemplars.h"

namespace kernelmill::metrics {

inline constexpr char kTextType[] = "text/plain; version=0.0.4; charset=utf-8";
inline constexpr char kOpenMetricsType[] =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

// Prometheus's text format 0.0.4, which has no exemplars.
std::string TextExposition(const std::vector<prometheus::MetricFamily>& families);

// OpenMetrics 1.0: histograms' buckets with the exemplars that fell in them.
std::string OpenMetricsExposition(const std::vector<prometheus::MetricFamily>& families,
                                  const Exemplars& exemplars);

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_EXPOSITION_H_
