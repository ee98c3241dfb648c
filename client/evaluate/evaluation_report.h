#ifndef KERNELMILL_CLIENT_EVALUATE_EVALUATION_REPORT_H_
#define KERNELMILL_CLIENT_EVALUATE_EVALUATION_REPORT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/evaluate/evaluation.h"
#include "client/evaluate/summary.h"

namespace kernelmill::client {

// The results of an evaluation.
struct EvaluationReport {
  EvaluatedModel model;
  std::vector<MeasureSummary> summary;
  // The results of --baseline.
  std::optional<EvaluatedModel> baseline;
  std::vector<MeasureSummary> baseline_summary;
  std::optional<Comparison> comparison;
  // The request.
  std::string dataset;  // the dataset that was searched for memorised text; empty: none
  std::optional<v1::CompilePolicy> compile;
  std::string run_device;  // the device that ran the samples on cases; empty: none
};

// Returns evaluation.json: the measures of each model, the differences, and the request. Its keys
// are sorted.
std::string ReportJson(const EvaluationReport& report);

// Returns samples.jsonl: one line for each sample of the model, then of the baseline, with its
// measures, problems, compile outcomes and match.
std::string SamplesJson(const EvaluationReport& report);

// Returns EVALUATION.md: the same as tables.
std::string ReportPage(const EvaluationReport& report);

// Returns sheet.html: samples to read, as one page without other files. For each of at most `tasks`
// tasks it shows the prompt, the reference, and the first sample of the generations beside that of
// the baseline, with the results of the checks, the compilers and the search. A hash of the task
// ids chooses the tasks: the same tasks for other models, and a fair share of each kind.
//
// All text is escaped, and characters that would hide or turn text are spelled out, as in \u202e. A
// text of more than 20,000 characters is cut. The page has no scripts, and a policy that forbids
// scripts and all loading.
std::string ReadingSheet(const EvaluationReport& report, size_t tasks);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_EVALUATION_REPORT_H_
