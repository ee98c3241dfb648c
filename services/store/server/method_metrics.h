#ifndef KERNELMILL_SERVICES_STORE_SERVER_METHOD_METRICS_H_
#define KERNELMILL_SERVICES_STORE_SERVER_METHOD_METRICS_H_

#include <grpcpp/support/status.h>

#include <array>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace prometheus {
class Counter;
class Histogram;
}  // namespace prometheus

namespace kernelmill::store {

// Counts the calls of one method by code, and their time. Thread-safe. Looks its instruments up
// once.
class MethodMetrics {
 public:
  explicit MethodMetrics(const std::string& method);

  // Runs a handler's body and counts it; the one place where a status goes to the wire.
  grpc::Status Run(absl::FunctionRef<absl::Status()> body);

 private:
  std::array<prometheus::Counter*, 17> calls_;  // by canonical code
  prometheus::Histogram* seconds_;
};

// Content that came in and went out, as on the wire.
void CountBytesIn(int64_t bytes);
void CountBytesOut(int64_t bytes);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_METHOD_METRICS_H_
