#include "common/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cassert>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"

// A thin layer over prometheus-cpp. Families are declared in one table (families.h), so that names,
// help texts and labels cannot differ between two places, and the documentation is made from it.
namespace kernelmill::metrics {
namespace {

using Buckets = prometheus::Histogram::BucketBoundaries;

// Bounds grow by a factor of about three: enough to see where the median is, with few series.
const Buckets& GetBuckets(const Family& family) {
  static const auto* const kShort =
      new Buckets{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300};
  static const auto* const kLong =
      new Buckets{0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600, 10800, 36000, 86400};
  return family.takes_hours ? *kLong : *kShort;
}

// Used by assert only, so a release build does not call it.
[[maybe_unused]] bool AreDeclared(const Family& family, const Labels& labels) {
  const std::vector<std::string> declared = absl::StrSplit(family.labels, ", ", absl::SkipEmpty());
  if (declared.size() != labels.size()) return false;
  for (const std::string& name : declared) {
    if (labels.count(name) == 0) return false;
  }
  return true;
}

// Instruments are created by their first use.
void Create(const Family& family, const Labels& labels) {
  switch (family.type) {
    case Type::kCounter:
      Counter(family, labels);
      break;
    case Type::kGauge:
      Gauge(family, labels);
      break;
    case Type::kHistogram:
      Histogram(family, labels);
      break;
  }
}

// Creates the series of all combinations of values, one label after the other. A series that exists
// from the start shows 0, and a rate over its first event is right.
void PrefillFrom(const Family& family, const LabelValues& values, size_t next, Labels& labels) {
  if (next == values.size()) {
    Create(family, labels);
    return;
  }
  for (const std::string& value : values[next].second) {
    labels[values[next].first] = value;
    PrefillFrom(family, values, next + 1, labels);
  }
}

}  // namespace

// Never destroyed, since instruments are returned by reference.
const std::shared_ptr<prometheus::Registry>& ProcessRegistry() {
  static auto* registry =
      new std::shared_ptr<prometheus::Registry>(std::make_shared<prometheus::Registry>());
  return *registry;
}

// The library returns the existing family or series if there is one, so all three may be called at
// any time. The reference stays valid, since the registry is never destroyed.
prometheus::Counter& Counter(const Family& family, const Labels& labels) {
  assert(family.type == Type::kCounter && AreDeclared(family, labels));
  return prometheus::BuildCounter()
      .Name(family.name)
      .Help(family.help)
      .Register(*ProcessRegistry())
      .Add(labels);
}

prometheus::Gauge& Gauge(const Family& family, const Labels& labels) {
  assert(family.type == Type::kGauge && AreDeclared(family, labels));
  return prometheus::BuildGauge()
      .Name(family.name)
      .Help(family.help)
      .Register(*ProcessRegistry())
      .Add(labels);
}

prometheus::Histogram& Histogram(const Family& family, const Labels& labels) {
  assert(family.type == Type::kHistogram && AreDeclared(family, labels));
  return prometheus::BuildHistogram()
      .Name(family.name)
      .Help(family.help)
      .Register(*ProcessRegistry())
      .Add(labels, GetBuckets(family));
}

// For sums that somebody else counts, such as the kernel: a counter can only be incremented.
void RaiseTo(double sum, prometheus::Counter& counter) {
  if (const double more = sum - counter.Value(); more > 0) counter.Increment(more);
}

void Prefill(const Family& family, const LabelValues& values) {
  Labels labels;
  PrefillFrom(family, values, 0, labels);
}

Exemplars& Exemplars::OfProcess() {
  static auto* const exemplars = new Exemplars;
  return *exemplars;
}

// Keeps only the last observation of each series.
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

// Observes the value and remembers job and task as its exemplar, so that a slow bucket leads to a
// task.
void Observe(const Family& family, const Labels& labels, double seconds, const std::string& job,
             const std::string& task) {
  Histogram(family, labels).Observe(seconds);
  Exemplars::OfProcess().Put(family, labels, {job, task, seconds, absl::Now()});
}

}  // namespace kernelmill::metrics
