#include "common/worker/stage_metrics.h"

#include <prometheus/counter.h>

#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "common/metrics/bounded_label.h"
#include "common/metrics/metrics.h"

namespace kernelmill::worker {
namespace {

// Counters that begin with a prefix count what one label's value says; the rest of the name, after
// a dot, is the reason.
struct Rule {
  StageId stage;
  const char* prefix;
  const metrics::Family& family;
  const char* label;   // "result"
  const char* value;   // "skipped"
  const char* reason;  // the name of the label that the rest of the counter's name is a value of
};

constexpr Rule kStageRules[] = {
    {StageId::kFetch, "files.sharded", metrics::kFetchedFiles, "result", "selected", "reason"},
    {StageId::kFetch, "files.skipped", metrics::kFetchedFiles, "result", "skipped", "reason"},
    {StageId::kFetch, "files.failed", metrics::kFetchedFiles, "result", "failed", "reason"},
    {StageId::kExtract, "files.extracted", metrics::kExtractedFiles, "result", "extracted",
     "reason"},
    {StageId::kExtract, "files.failed", metrics::kExtractedFiles, "result", "failed", "reason"},
    {StageId::kValidate, "kernels.accepted", metrics::kValidatedKernels, "verdict", "accepted",
     "rule"},
    {StageId::kValidate, "kernels.rejected", metrics::kValidatedKernels, "verdict", "rejected",
     "rule"},
    {StageId::kResolve, "dataset.kept", metrics::kDecidedKernels, "fate", "kept", "rule"},
    {StageId::kResolve, "dataset.rejected", metrics::kDecidedKernels, "fate", "rejected", "rule"},
    {StageId::kResolve, "dataset.duplicate", metrics::kDecidedKernels, "fate", "duplicate", "rule"},
    {StageId::kResolve, "dataset.contaminated", metrics::kDecidedKernels, "fate", "contaminated",
     "rule"},
    {StageId::kResolve, "dataset.holdout", metrics::kDecidedKernels, "fate", "holdout", "rule"},
};

constexpr Rule kDatasetRules[] = {
    {StageId::kManifest, "dataset.files.extracted", metrics::kDatasetFiles, "result", "extracted",
     "reason"},
    {StageId::kManifest, "dataset.files.skipped", metrics::kDatasetFiles, "result", "skipped",
     "reason"},
    {StageId::kManifest, "dataset.files.failed", metrics::kDatasetFiles, "result", "failed",
     "reason"},
    {StageId::kResolve, "dataset.kept", metrics::kDatasetKernels, "fate", "kept", "rule"},
    {StageId::kResolve, "dataset.rejected", metrics::kDatasetKernels, "fate", "rejected", "rule"},
    {StageId::kResolve, "dataset.duplicate", metrics::kDatasetKernels, "fate", "duplicate", "rule"},
    {StageId::kResolve, "dataset.contaminated", metrics::kDatasetKernels, "fate", "contaminated",
     "rule"},
    {StageId::kResolve, "dataset.holdout", metrics::kDatasetKernels, "fate", "holdout", "rule"},
};

// Reasons are few, but those of a worker of another version are its own.
std::string BoundedReason(absl::string_view reason) {
  static auto* const reasons = new metrics::BoundedLabel(100);
  return reasons->ValueFor(reason);
}

void Count(absl::Span<const Rule> rules, StageId stage, const v1::StageResult& result) {
  for (const v1::Counter& counter : result.counters()) {
    for (const Rule& rule : rules) {
      absl::string_view rest = counter.name();
      if (rule.stage != stage || !absl::ConsumePrefix(&rest, rule.prefix)) continue;
      if (!rest.empty() && !absl::ConsumePrefix(&rest, ".")) continue;
      metrics::Counter(rule.family, {{rule.label, rule.value}, {rule.reason, BoundedReason(rest)}})
          .Increment(static_cast<double>(counter.value()));
    }
  }
}

void PrefillRules(absl::Span<const Rule> rules, StageId stage) {
  for (const Rule& rule : rules) {
    if (rule.stage != stage) continue;
    metrics::Prefill(rule.family, {{rule.label, {rule.value}}, {rule.reason, {"none"}}});
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
