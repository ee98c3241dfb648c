#include "common/worker/stage_metrics.h"

#include <prometheus/counter.h>

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "common/metrics/bounded_label.h"
#include "common/metrics/metrics.h"

namespace kernelmill::worker {
namespace {

// What became of files and kernels, as stages name their counters: GROUP.FATE or GROUP.FATE.REASON.
constexpr const char* kFilesFetched[] = {"sharded", "skipped", "failed"};
constexpr const char* kFilesExtracted[] = {"extracted", "failed"};
constexpr const char* kVerdicts[] = {"accepted", "rejected"};
constexpr const char* kFiles[] = {"extracted", "skipped", "failed"};
constexpr const char* kKernels[] = {"kept", "rejected", "duplicate", "contaminated", "holdout"};

// A group of counters of a stage, and the metric whose first label is the fate and the second the
// reason.
struct Rule {
  StageId stage;
  const char* group;
  absl::Span<const char* const> fates;
  const metrics::Family& family;
};

constexpr Rule kStageRules[] = {
    {StageId::kFetch, "files", kFilesFetched, metrics::kFetchedFiles},
    {StageId::kExtract, "files", kFilesExtracted, metrics::kExtractedFiles},
    {StageId::kValidate, "kernels", kVerdicts, metrics::kValidatedKernels},
    {StageId::kResolve, "dataset", kKernels, metrics::kDecidedKernels},
};

constexpr Rule kDatasetRules[] = {
    {StageId::kManifest, "dataset.files", kFiles, metrics::kDatasetFiles},
    {StageId::kResolve, "dataset", kKernels, metrics::kDatasetKernels},
};

metrics::Labels LabelsOf(const Rule& rule, absl::string_view fate, std::string reason) {
  const std::pair<std::string, std::string> names = absl::StrSplit(rule.family.labels, ", ");
  return {{names.first, fate == "sharded" ? "selected" : std::string(fate)},
          {names.second, std::move(reason)}};
}

// Reasons are few, but those of a worker of another version are its own.
std::string BoundedReason(absl::string_view reason) {
  static auto* const reasons = new metrics::BoundedLabel(100);
  return reasons->ValueFor(reason);
}

void Count(absl::Span<const Rule> rules, StageId stage, const v1::StageResult& result) {
  for (const v1::Counter& counter : result.counters()) {
    for (const Rule& rule : rules) {
      absl::string_view rest = counter.name();
      if (rule.stage != stage || !absl::ConsumePrefix(&rest, rule.group) ||
          !absl::ConsumePrefix(&rest, ".")) {
        continue;
      }
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(rest, absl::MaxSplits('.', 1));
      if (!absl::c_linear_search(rule.fates, parts.first)) continue;
      metrics::Counter(rule.family, LabelsOf(rule, parts.first, BoundedReason(parts.second)))
          .Increment(static_cast<double>(counter.value()));
    }
  }
}

void PrefillRules(absl::Span<const Rule> rules, StageId stage) {
  for (const Rule& rule : rules) {
    if (rule.stage != stage) continue;
    for (const char* const fate : rule.fates) {
      metrics::Counter(rule.family, LabelsOf(rule, fate, "none"));
    }
  }
}

}  // namespace

void CountStage(StageId stage, const v1::StageResult& result) { Count(kStageRules, stage, result); }

void CountDataset(StageId stage, const v1::StageResult& result) {
  Count(kDatasetRules, stage, result);
}

void PrefillStage(StageId stage) { PrefillRules(kStageRules, stage); }

void PrefillDataset() {
  PrefillRules(kDatasetRules, StageId::kResolve);
  PrefillRules(kDatasetRules, StageId::kManifest);
}

}  // namespace kernelmill::worker
