#include "services/store/server/method_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <chrono>

#include "common/metrics/metrics.h"
#include "common/rpc/status.h"

namespace kernelmill::store {

MethodMetrics::MethodMetrics(const std::string& method)
    : seconds_(&metrics::Seconds("kernelmill_store_request_seconds", "Time to answer a request.",
                                 {{"method", method}})) {
  for (size_t code = 0; code < calls_.size(); ++code) {
    calls_[code] = &metrics::Counter(
        "kernelmill_store_requests_total", "Requests answered.",
        {{"method", method},
         {"code", absl::StatusCodeToString(static_cast<absl::StatusCode>(code))}});
  }
}

grpc::Status MethodMetrics::Run(absl::FunctionRef<absl::Status()> body) {
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = body();
  seconds_->Observe(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  calls_[static_cast<size_t>(status.code()) % calls_.size()]->Increment();
  return rpc::ToGrpcStatus(status);
}

void CountBytesIn(int64_t bytes) {
  static prometheus::Counter& counter = metrics::Counter(
      "kernelmill_store_received_bytes_total", "Bytes of content received, as on the wire.");
  counter.Increment(static_cast<double>(bytes));
}

void CountBytesOut(int64_t bytes) {
  static prometheus::Counter& counter = metrics::Counter("kernelmill_store_sent_bytes_total",
                                                         "Bytes of content sent, as on the wire.");
  counter.Increment(static_cast<double>(bytes));
}

}  // namespace kernelmill::store
