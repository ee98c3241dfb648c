#ifndef KERNELMILL_COMMON_METRICS_ENDPOINT_H_
#define KERNELMILL_COMMON_METRICS_ENDPOINT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace kernelmill::metrics {

// Whether a user with that password may read; HTTP's basic authentication.
using MayRead = std::function<bool(const std::string& user, const std::string& password)>;

// Serves GET /metrics while it lives, as Prometheus's text or, to who accepts it, as OpenMetrics.
// Connections that say nothing are closed after two seconds, and hold up nobody meanwhile.
class Endpoint {
 public:
  // `address` is host:port; port 0 picks one. `version` is the program's, which the metric
  // kernelmill_build_info is labelled with. Anyone may read where `may_read` is null. UNAVAILABLE:
  // the address cannot be bound.
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

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_ENDPOINT_H_
