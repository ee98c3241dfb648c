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
  // The mean over tasks of the means over their samples; for pass@k the mean over tasks. Tasks and
  // samples without a value do not count.
  double mean = 0;
  int64_t tasks = 0;
  int64_t samples = 0;        // samples with a value; 0 for pass@k
  Distribution distribution;  // of the samples' values; for pass@k of the tasks' values
  std::vector<std::optional<double>> by_task;
};

// Returns all measures that have a value, by group and then in the order for readers. It has pass@k
// for each k of `ks` for which a task has enough samples.
std::vector<MeasureSummary> Summarize(const EvaluatedModel& model, absl::Span<const int> ks);

// The difference of one measure between two models.
struct MeasureDifference {
  Measure measure;
  int64_t tasks = 0;  // tasks with a value from both models
  double base = 0;    // the mean over these tasks
  double tuned = 0;
  Difference difference;

  // The interval of one task is a point, which says nothing.
  bool excludes_zero() const { return tasks > 1 && difference.excludes_zero(); }
};

// The differences between two models, for each measure that both have on a common task.
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
