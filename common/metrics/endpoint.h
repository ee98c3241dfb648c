#ifndef KERNELMILL_COMMON_METRICS_ENDPOINT_H_
#define KERNELMILL_COMMON_METRICS_ENDPOINT_H_

#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/metrics/metrics.h"

namespace kernelmill::metrics {

// Returns whether the user may read with this password (HTTP's basic authentication).
using MayRead = std::function<bool(const std::string& user, const std::string& password)>;

// An HTTP server of GET /metrics, in Prometheus's text format or, if the client accepts it, in
// OpenMetrics. Silent connections are closed after two seconds and do not block others.
class Endpoint {
 public:
  // Starts serving. `address` is host:port; port 0 picks one. `version` is the label of
  // kernelmill_build_info. If `may_read` is null, anyone may read. UNAVAILABLE: the address cannot
  // be bound.
  static absl::StatusOr<std::unique_ptr<Endpoint>> Start(const std::string& address,
                                                         const std::string& version,
                                                         const MayRead& may_read);
  ~Endpoint();

  int port() const;

 private:
  class Http;
  explicit Endpoint(std::unique_ptr<Http> http);
  std::unique_ptr<Http> http_;
};

inline constexpr char kTextType[] = "text/plain; version=0.0.4; charset=utf-8";
inline constexpr char kOpenMetricsType[] =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

// Formats metrics in Prometheus's text format 0.0.4, which has no exemplars.
std::string TextExposition(const std::vector<prometheus::MetricFamily>& families);

// Formats metrics in OpenMetrics 1.0, with exemplars in the histograms' buckets.
std::string OpenMetricsExposition(const std::vector<prometheus::MetricFamily>& families,
                                  const Exemplars& exemplars);

// Updates the metrics that every process has: process_*, from /proc, and the log lines. A value
// that /proc does not have stays.
void MeasureProcess();

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_ENDPOINT_H_
