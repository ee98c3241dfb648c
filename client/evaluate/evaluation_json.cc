#include <cstddef>

#include "absl/strings/str_cat.h"
#include "client/evaluate/evaluation_report.h"
#include "dataset/output/json.h"

namespace kernelmill::client {
namespace {

using dataset::Json;
using dataset::Number;
using dataset::Text;

std::string StatusWord(v1::CompileStatus status) {
  return dataset::EnumWord(v1::CompileStatus_Name(status), "COMPILE_STATUS_");
}

Json DistributionJson(const Distribution& values) {
  return {{"mean", Number(values.mean)},
          {"min", Number(values.min)},
          {"lower_quartile", Number(values.lower_quartile)},
          {"median", Number(values.median)},
          {"upper_quartile", Number(values.upper_quartile)},
          {"max", Number(values.max)}};
}

Json SummaryJson(const MeasureSummary& summary) {
  return {
      {"group", summary.measure.group}, {"measure", summary.measure.name},
      {"mean", Number(summary.mean)},   {"tasks", summary.tasks},
      {"samples", summary.samples},     {"distribution", DistributionJson(summary.distribution)}};
}

Json ModelJson(const EvaluatedModel& model, const std::vector<MeasureSummary>& summary) {
  Json json = {{"file", Text(model.generations.file)},
               {"sha256", model.generations.file_sha256},
               {"tasks", model.generations.tasks.size()},
               {"samples", model.generations.samples()},
               {"measures", Json::array()}};
  size_t references = 0;
  size_t in_dataset = 0;
  for (const Task& task : model.generations.tasks) references += task.reference.has_value();
  for (const auto& match : model.references) in_dataset += match.has_value();
  json["references"] = references;
  json["references_in_dataset"] = in_dataset;
  for (const MeasureSummary& entry : summary) json["measures"].push_back(SummaryJson(entry));
  return json;
}

Json ComparisonJson(const Comparison& comparison) {
  Json json = {{"common_tasks", comparison.common_tasks},
               {"baseline_only", comparison.base_only},
               {"generations_only", comparison.tuned_only},
               {"resamples", kResamples},
               {"differences", Json::array()}};
  for (const MeasureDifference& entry : comparison.differences) {
    json["differences"].push_back({{"group", entry.measure.group},
                                   {"measure", entry.measure.name},
                                   {"tasks", entry.tasks},
                                   {"baseline", Number(entry.base)},
                                   {"generations", Number(entry.tuned)},
                                   {"difference", Number(entry.difference.difference)},
                                   {"low", Number(entry.difference.low)},
                                   {"high", Number(entry.difference.high)},
                                   {"excludes_zero", entry.excludes_zero()}});
  }
  return json;
}

Json CompileJson(const std::optional<v1::CompilePolicy>& policy) {
  if (!policy.has_value()) return nullptr;
  return {{"toolchains",
           std::vector<std::string>(policy->toolchains().begin(), policy->toolchains().end())},
          {"targets", std::vector<std::string>(policy->targets().begin(), policy->targets().end())},
          {"max_seconds", policy->max_seconds()}};
}

Json MatchJson(const std::optional<DatasetMatch>& match) {
  if (!match.has_value()) return nullptr;
  return {{"kind", match->kind},
          {"similarity", Number(match->similarity)},
          {"repository", Text(match->repository)},
          {"path", Text(match->path)},
          {"first_line", match->first_line},
          {"qualname", Text(match->qualname)}};
}

Json SampleJson(const char* model, const Task& task, size_t sample, const SampleResult& result) {
  Json json = {{"model", model},
               {"task_id", Text(task.id)},
               {"sample", sample},
               {"measures", Json::object()},
               {"problems", dataset::TextList(result.problems)},
               {"compile", Json::array()},
               {"match", MatchJson(result.match)}};
  for (const auto& [measure, value] : result.values) {
    json["measures"][measure.group][measure.name] = Number(value);
  }
  for (const CompileOutcome& outcome : result.compiles) {
    json["compile"].push_back({{"toolchain", outcome.toolchain},
                               {"target", outcome.target},
                               {"status", StatusWord(outcome.status)},
                               {"message", dataset::TextOrNull(outcome.message)}});
  }
  return json;
}

void AppendSamples(const char* name, const EvaluatedModel& model, std::string* lines) {
  for (size_t task = 0; task < model.results.size(); ++task) {
    for (size_t sample = 0; sample < model.results[task].size(); ++sample) {
      const Json json =
          SampleJson(name, model.generations.tasks[task], sample, model.results[task][sample]);
      absl::StrAppend(lines, dataset::Canonical(json), "\n");
    }
  }
}

}  // namespace

std::string ReportJson(const EvaluationReport& report) {
  Json json = {{"schema", 1},
               {"generations", ModelJson(report.model, report.summary)},
               {"baseline", nullptr},
               {"comparison", nullptr},
               {"dataset", dataset::TextOrNull(report.dataset)},
               {"compile", CompileJson(report.compile)}};
  if (report.baseline.has_value()) {
    json["baseline"] = ModelJson(*report.baseline, report.baseline_summary);
  }
  if (report.comparison.has_value()) json["comparison"] = ComparisonJson(*report.comparison);
  return dataset::Pretty(json);
}

std::string SamplesJson(const EvaluationReport& report) {
  std::string lines;
  AppendSamples("generations", report.model, &lines);
  if (report.baseline.has_value()) AppendSamples("baseline", *report.baseline, &lines);
  return lines;
}

}  // namespace kernelmill::client
