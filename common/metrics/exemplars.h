#ifndef KERNELMILL_COMMON_METRICS_EXEMPLARS_H_
#define KERNELMILL_COMMON_METRICS_EXEMPLARS_H_

#include <map>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/metrics/metrics.h"

namespace kernelmill::metrics {

// One observation, by the job and the task that it was made of: where to look when a bucket is too
// full.
struct Exemplar {
  std::string job;
  std::string task;
  double value = 0;
  absl::Time time;
};

// The last exemplar of each series of a histogram, whatever bucket it fell in: as bounded as the
// series are. Thread-safe.
class Exemplars {
 public:
  static Exemplars& OfProcess();

  void Put(const Family& family, const Labels& labels, Exemplar exemplar);
  std::optional<Exemplar> Find(const std::string& family, const Labels& labels) const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::pair<std::string, Labels>, Exemplar> last_ ABSL_GUARDED_BY(mutex_);
};

// Observes `seconds`, and keeps the job and task as the series' exemplar.
void Observe(const Family& family, const Labels& labels, double seconds, const std::string& job,
             const std::string& task);

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_EXEMPLARS_H_
