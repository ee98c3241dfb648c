// Summaries of a model's measures. Samples of one task are alike, so the values of a task are first
// averaged, and then all tasks count the same, whatever their numbers of samples are. A sample or a
// task without a value for a measure does not count for it: `by_task` has nullopt there.

#include "client/evaluate/summary.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::client {
namespace {

// The order of groups and names. Others follow in alphabetical order.
constexpr absl::string_view kGroups[] = {kStatic,
                                         kHonesty,
                                         kOverlap,
                                         kCompile,
                                         kDecided,
                                         kCompileHonest,
                                         kDecidedHonest,
                                         kCorrect,
                                         kCorrectDecided,
                                         kCorrectHonest,
                                         kCorrectDecidedHonest,
                                         kFast,
                                         kFastHonest,
                                         kMemorised};
constexpr absl::string_view kNames[] = {"parses",
                                        "has_kernel",
                                        "has_triton_jit",
                                        "has_program_id",
                                        "has_load_store",
                                        "has_bounds_masking",
                                        "masked_accesses",
                                        "has_block_size",
                                        "self_contained",
                                        "readable",
                                        "honest",
                                        kLaunched,
                                        kArgumentsMatch,
                                        kNamesBound,
                                        kOutputReachesResult,
                                        kTorchDoesTheWork,
                                        kSwallowed,
                                        kStoresConstant,
                                        kRacingStore,
                                        kCachedResult,
                                        kChangesInput,
                                        kPatches,
                                        kInterpreterOnly,
                                        "exact_match",
                                        "word_overlap",
                                        "token_overlap",
                                        "structural_overlap",
                                        "edit_similarity",
                                        "exact",
                                        "near",
                                        "structural",
                                        "any",
                                        "similarity"};

// Returns the place of a word in the order; the size of the order if it is missing.
template <size_t size>
size_t RankIn(const absl::string_view (&order)[size], absl::string_view word) {
  return static_cast<size_t>(std::find(order, order + size, word) - order);
}

// Returns the k of "pass@10", "pass@10 of all" and the like; 0 for other groups.
int PassK(absl::string_view group) {
  int k = 0;
  absl::ConsumeSuffix(&group, " of all");
  absl::ConsumeSuffix(&group, " honest");
  return absl::ConsumePrefix(&group, "pass@") && absl::SimpleAtoi(group, &k) ? k : 0;
}

// Orders measures for readers: the known groups, then pass@k with k as a number, so that pass@5
// comes before pass@10, then the names.
bool ReadsBefore(const MeasureSummary& a, const MeasureSummary& b) {
  const auto key = [](const Measure& m) {
    return std::make_tuple(RankIn(kGroups, m.group), PassK(m.group), absl::string_view(m.group),
                           RankIn(kNames, m.name), absl::string_view(m.name));
  };
  return key(a.measure) < key(b.measure);
}

// The values of a measure, task by task.
using TaskValues = std::vector<std::vector<double>>;

// Turns the results by sample into values by measure, task by task.
std::map<Measure, TaskValues> CollectValues(const EvaluatedModel& model) {
  std::map<Measure, TaskValues> values;
  for (size_t task = 0; task < model.results.size(); ++task) {
    for (const SampleResult& result : model.results[task]) {
      for (const auto& [measure, value] : result.values) {
        TaskValues& of_measure = values[measure];
        of_measure.resize(model.results.size());
        of_measure[task].push_back(value);
      }
    }
  }
  return values;
}

// Returns the summary of a measure of samples: the mean over tasks, and the distribution over
// samples.
MeasureSummary SummarizeSamples(const Measure& measure, const TaskValues& values) {
  MeasureSummary summary;
  summary.measure = measure;
  std::vector<double> means;
  std::vector<double> all;
  for (const std::vector<double>& task : values) {
    summary.by_task.push_back(task.empty() ? std::nullopt : std::optional(Mean(task)));
    if (!task.empty()) means.push_back(Mean(task));
    all.insert(all.end(), task.begin(), task.end());
  }
  summary.mean = Mean(means);
  summary.tasks = static_cast<int64_t>(means.size());
  summary.samples = static_cast<int64_t>(all.size());
  summary.distribution = ComputeDistribution(std::move(all));
  return summary;
}

// Summarizes pass@k. A value of 1 is a sample that passes.
// Returns nullopt if no task has k samples; smaller tasks are left out, because the estimator needs
// k of them.
std::optional<MeasureSummary> SummarizePass(const Measure& measure, const TaskValues& values,
                                            int k) {
  MeasureSummary summary;
  summary.measure = measure;
  std::vector<double> chances;
  for (const std::vector<double>& task : values) {
    const auto n = static_cast<int64_t>(task.size());
    // An entry for each task, also for one with too few samples, so that tasks keep their places.
    summary.by_task.emplace_back();
    if (n < k) continue;
    summary.by_task.back() = PassAtK(n, absl::c_count(task, 1.0), k);
    chances.push_back(*summary.by_task.back());
  }
  if (chances.empty()) return std::nullopt;
  summary.mean = Mean(chances);
  summary.tasks = static_cast<int64_t>(chances.size());
  summary.distribution = ComputeDistribution(std::move(chances));
  return summary;
}

// Compares a measure over the tasks that both models have with a value. `pairs` has the places of
// each common task in both files.
MeasureDifference Compare(const MeasureSummary& base, const MeasureSummary& tuned,
                          absl::Span<const std::pair<size_t, size_t>> pairs, uint64_t seed) {
  std::vector<double> of_base;
  std::vector<double> of_tuned;
  for (const auto& [b, t] : pairs) {
    if (!base.by_task[b].has_value() || !tuned.by_task[t].has_value()) continue;
    of_base.push_back(*base.by_task[b]);
    of_tuned.push_back(*tuned.by_task[t]);
  }
  MeasureDifference compared;
  compared.measure = tuned.measure;
  compared.tasks = static_cast<int64_t>(of_base.size());
  if (of_base.empty()) return compared;
  compared.base = Mean(of_base);
  compared.tuned = Mean(of_tuned);
  compared.difference = BootstrapDifference(of_base, of_tuned, seed);
  return compared;
}

}  // namespace

std::vector<MeasureSummary> Summarize(const EvaluatedModel& model, absl::Span<const int> ks) {
  std::vector<MeasureSummary> summaries;
  for (const auto& [measure, values] : CollectValues(model)) {
    summaries.push_back(SummarizeSamples(measure, values));
    // Compile results and those of cases tell if a sample passes.
    static constexpr absl::string_view kAll[] = {kCompile, kCompileHonest, kCorrect,
                                                 kCorrectHonest};
    static constexpr absl::string_view kKnown[] = {kDecided, kDecidedHonest, kCorrectDecided,
                                                   kCorrectDecidedHonest};
    const bool all = absl::c_linear_search(kAll, measure.group);
    if (!all && !absl::c_linear_search(kKnown, measure.group)) continue;
    const bool honest = absl::EndsWith(measure.group, "honest");
    const bool ran = absl::StartsWith(measure.group, kCorrect);
    for (const int k : ks) {
      const std::string group =
          absl::StrCat("pass@", k, honest ? " honest" : "", all ? " of all" : "");
      const std::string name = absl::StrCat(ran ? "correct " : "", measure.name);
      std::optional<MeasureSummary> pass = SummarizePass({group, name}, values, k);
      if (pass.has_value()) summaries.push_back(*std::move(pass));
    }
  }
  std::sort(summaries.begin(), summaries.end(), ReadsBefore);
  return summaries;
}

Comparison CompareModels(const EvaluatedModel& base, absl::Span<const MeasureSummary> base_summary,
                         const EvaluatedModel& tuned,
                         absl::Span<const MeasureSummary> tuned_summary, uint64_t seed) {
  // Match the tasks by id: the files may have different tasks, in any order.
  std::unordered_map<std::string, size_t> places;
  const std::vector<Task>& base_tasks = base.generations.tasks;
  for (size_t i = 0; i < base_tasks.size(); ++i) places[base_tasks[i].id] = i;
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < tuned.generations.tasks.size(); ++i) {
    const auto at = places.find(tuned.generations.tasks[i].id);
    if (at != places.end()) pairs.emplace_back(at->second, i);
  }
  Comparison comparison;
  comparison.common_tasks = pairs.size();
  comparison.base_only = base_tasks.size() - pairs.size();
  comparison.tuned_only = tuned.generations.tasks.size() - pairs.size();
  for (const MeasureSummary& summary : tuned_summary) {
    const auto other = absl::c_find_if(
        base_summary, [&](const MeasureSummary& b) { return b.measure == summary.measure; });
    if (other == base_summary.end()) continue;
    const MeasureDifference compared = Compare(*other, summary, pairs, seed);
    if (compared.tasks > 0) comparison.differences.push_back(compared);
  }
  return comparison;
}

}  // namespace kernelmill::client
