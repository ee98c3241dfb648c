#include "common/metrics/exemplars.h"

#include <prometheus/histogram.h>

#include <utility>

#include "absl/time/clock.h"

namespace kernelmill::metrics {

Exemplars& Exemplars::OfProcess() {
  static auto* const exemplars = new Exemplars;
  return *exemplars;
}

void Exemplars::Put(const Family& family, const Labels& labels, Exemplar exemplar) {
  absl::MutexLock lock(&mutex_);
  last_[{family.name, labels}] = std::move(exemplar);
}

std::optional<Exemplar> Exemplars::Find(const std::string& family, const Labels& labels) const {
  absl::MutexLock lock(&mutex_);
  const auto found = last_.find({family, labels});
  if (found == last_.end()) return std::nullopt;
  return found->second;
}

void Observe(const Family& family, const Labels& labels, double seconds, const std::string& job,
             const std::string& task) {
  Histogram(family, labels).Observe(seconds);
  Exemplars::OfProcess().Put(family, labels, {job, task, seconds, absl::Now()});
}

}  // namespace kernelmill::metrics
