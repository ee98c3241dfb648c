#ifndef KERNELMILL_COMMON_METRICS_METRICS_H_
#define KERNELMILL_COMMON_METRICS_METRICS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace prometheus {
class Counter;
class Exposer;
class Gauge;
class Histogram;
class Registry;
}  // namespace prometheus

namespace kernelmill::metrics {

using Labels = std::map<std::string, std::string>;

// The process's metrics. Names are kernelmill_<service>_<what>_<unit>; counters end in _total. Each
// call with the same name and labels returns the same instrument, valid for the life of the
// process. Thread-safe. Label values must come from a small fixed set, never from input.
prometheus::Counter& Counter(const std::string& name, const std::string& help,
                             const Labels& labels = {});
prometheus::Gauge& Gauge(const std::string& name, const std::string& help,
                         const Labels& labels = {});
// Seconds, with buckets from 1 ms to 5 min.
prometheus::Histogram& Seconds(const std::string& name, const std::string& help,
                               const Labels& labels = {});

// Whether a user with that password may read; HTTP's basic authentication.
using MayRead = std::function<bool(const std::string& user, const std::string& password)>;

// Serves GET /metrics while it lives.
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
  explicit Endpoint(std::unique_ptr<prometheus::Exposer> exposer);
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_METRICS_H_
