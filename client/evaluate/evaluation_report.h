#ifndef KERNELMILL_CLIENT_EVALUATE_EVALUATION_REPORT_H_
#define KERNELMILL_CLIENT_EVALUATE_EVALUATION_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "client/evaluate/evaluation.h"
#include "client/evaluate/summary.h"

namespace kernelmill::client {

// All that an evaluation says.
struct EvaluationReport {
  EvaluatedModel model;
  std::vector<MeasureSummary> summary;
  // Of --baseline.
  std::optional<EvaluatedModel> baseline;
  std::vector<MeasureSummary> baseline_summary;
  std::optional<Comparison> comparison;
  // What was asked for.
  std::string dataset;  // what memorised text was looked for in; empty: nothing
  std::optional<v1::CompilePolicy> compile;
};

// evaluation.json: the measures of each model, the differences, what was asked for. Its keys are
// sorted.
std::string ReportJson(const EvaluationReport& report);

// samples.jsonl: a line for each sample of the model, then of the baseline, with its measures,
// problems, what compilers said, and its match.
std::string SamplesJson(const EvaluationReport& report);

// EVALUATION.md: the same as tables.
std::string ReportPage(const EvaluationReport& report);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_EVALUATION_REPORT_H_
