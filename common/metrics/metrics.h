#ifndef KERNELMILL_COMMON_METRICS_METRICS_H_
#define KERNELMILL_COMMON_METRICS_METRICS_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/metrics/families.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
class Registry;
}  // namespace prometheus

namespace kernelmill::metrics {

using Labels = std::map<std::string, std::string>;

// The process's metrics. A call with the same family and labels returns the same instrument, valid
// for the life of the process. `labels` has those that the family declares. Thread-safe. Label
// values must come from a small fixed set, or go through a BoundedLabel; never from input.
prometheus::Counter& Counter(const Family& family, const Labels& labels = {});
prometheus::Gauge& Gauge(const Family& family, const Labels& labels = {});
// Buckets from 1 ms to 5 min, or from 10 ms to a day where the family takes hours.
prometheus::Histogram& Histogram(const Family& family, const Labels& labels = {});

// Brings a counter, which only this process moves, up to a sum that is kept elsewhere.
void RaiseTo(double sum, prometheus::Counter& counter);

// Creates the series of all combinations of these values, with 0, so that increase() sees their
// first event.
using LabelValues = std::vector<std::pair<std::string, std::vector<std::string>>>;
void Prefill(const Family& family, const LabelValues& values = {});

// Where the instruments are registered; what Endpoint serves.
const std::shared_ptr<prometheus::Registry>& ProcessRegistry();

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_METRICS_H_
