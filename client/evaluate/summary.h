#ifndef KERNELMILL_CLIENT_EVALUATE_SUMMARY_H_
#define KERNELMILL_CLIENT_EVALUATE_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/evaluate/evaluation.h"
#include "client/evaluate/statistics.h"

namespace kernelmill::client {

// A measure over all tasks of a model.
struct MeasureSummary {
  Measure measure;
  // The mean over tasks of each task's mean over its samples; of pass@k the mean over tasks. Those
  // without a value are left out.
  double mean = 0;
  int64_t tasks = 0;
  int64_t samples = 0;        // that have a value; 0 of pass@k
  Distribution distribution;  // of the samples' values; of pass@k of the tasks'
  std::vector<std::optional<double>> by_task;
};

// All measures that have a value, by group, then in the order that people read them in. pass@k is
// told for those of `ks` that some task has as many samples for.
std::vector<MeasureSummary> Summarize(const EvaluatedModel& model, absl::Span<const int> ks);

struct MeasureDifference {
  Measure measure;
  int64_t tasks = 0;  // that have a value from both models
  double base = 0;    // the mean over these tasks
  double tuned = 0;
  Difference difference;

  // Of one task the interval is a point, and says nothing.
  bool excludes_zero() const { return tasks > 1 && difference.excludes_zero(); }
};

// What is another of two models, for each measure that both have on some task of the same id.
struct Comparison {
  std::vector<MeasureDifference> differences;  // in the order of Summarize
  size_t common_tasks = 0;
  size_t base_only = 0;
  size_t tuned_only = 0;
};
Comparison CompareModels(const EvaluatedModel& base, absl::Span<const MeasureSummary> base_summary,
                         const EvaluatedModel& tuned,
                         absl::Span<const MeasureSummary> tuned_summary, uint64_t seed);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_SUMMARY_H_
