#ifndef KERNELMILL_COMMON_METRICS_METRICS_H_
#define KERNELMILL_COMMON_METRICS_METRICS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/metrics/families.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
class Registry;
}  // namespace prometheus

namespace kernelmill::metrics {

using Labels = std::map<std::string, std::string>;

// Return an instrument of the process. A call with the same family and labels returns the same
// instrument, which is valid for the life of the process. `labels` must be those that the family
// declares. Label values must come from a small fixed set or a BoundedLabel, never from input.
// Thread-safe.
prometheus::Counter& Counter(const Family& family, const Labels& labels = {});
prometheus::Gauge& Gauge(const Family& family, const Labels& labels = {});
// The buckets are from 1 ms to 5 min, or from 10 ms to a day if the family takes hours.
prometheus::Histogram& Histogram(const Family& family, const Labels& labels = {});

// Raises a counter to a sum that is counted elsewhere. Only one thread may raise a counter.
void RaiseTo(double sum, prometheus::Counter& counter);

// The values of each label.
using LabelValues = std::vector<std::pair<std::string, std::vector<std::string>>>;
// Creates the series of all combinations of these values, with 0, so that increase() sees the first
// event.
void Prefill(const Family& family, const LabelValues& values = {});

// The registry of all instruments, which Endpoint serves.
const std::shared_ptr<prometheus::Registry>& ProcessRegistry();

// A label with values from outside, such as hosts. The first `limit` values are kept, all others
// become "other", so that a million hosts do not make a million series. Thread-safe.
class BoundedLabel {
 public:
  explicit BoundedLabel(size_t limit) : limit_(limit) {}

  std::string ValueFor(absl::string_view value) {
    if (value.empty()) return "none";
    absl::MutexLock lock(&mutex_);
    std::string text(value.substr(0, kMaxBytes));
    if (known_.count(text) > 0) return text;
    if (known_.size() >= limit_) return "other";
    known_.insert(text);
    return text;
  }

 private:
  static constexpr size_t kMaxBytes = 128;

  const size_t limit_;
  absl::Mutex mutex_;
  std::set<std::string> known_ ABSL_GUARDED_BY(mutex_);
};

// One observation with its job and task: an example to look at when a bucket is too full.
struct Exemplar {
  std::string job;
  std::string task;
  double value = 0;
  absl::Time time;
};

// The last exemplar of each series of the histograms; as bounded as the series. Thread-safe.
class Exemplars {
 public:
  static Exemplars& OfProcess();

  void Put(const Family& family, const Labels& labels, Exemplar exemplar);
  std::optional<Exemplar> Find(const std::string& family, const Labels& labels) const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::pair<std::string, Labels>, Exemplar> last_ ABSL_GUARDED_BY(mutex_);
};

// Observes `seconds` and keeps job and task as the series' exemplar.
void Observe(const Family& family, const Labels& labels, double seconds, const std::string& job,
             const std::string& task);

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_METRICS_H_
