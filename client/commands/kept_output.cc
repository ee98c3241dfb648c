// The guard of an earlier export: a crawl in which a source could not be fetched, or that kept
// nothing, must not silently replace a dataset that has kernels. kept_output.h has the rules. The
// earlier state comes from report.json in the folder, the new state from the job's failures.

#include "client/commands/kept_output.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/source_spec.h"
#include "common/worker/stage_table.h"
#include "dataset/output/dataset_files.h"
#include "dataset/output/json.h"
#include "dataset/output/output_dir.h"

namespace kernelmill::client {
namespace {

using dataset::Json;

constexpr int64_t kMaxReportBytes = 256 << 20;

// The failed sources of a job.
struct FailedSources {
  std::set<std::string> names;
  bool search_failed = false;
  bool any_input_failed = false;
};

FailedSources FindFailedSources(const std::vector<v1::Failure>& failures) {
  FailedSources failed;
  for (const v1::Failure& failure : failures) {
    const worker::StageInfo* stage = worker::FindStage(failure.stage());
    // Missed gates and pairs that could not be made are failures of the whole job, not of an input.
    if (stage == nullptr || stage->failure_cost == worker::FailureCost::kJob) continue;
    failed.any_input_failed = true;
    // A failure with a path is one of single files; the source goes on without them.
    const bool whole_source = stage->failure_cost == worker::FailureCost::kSource;
    if (!whole_source || !failure.path().empty()) continue;
    failed.names.insert(ToUtf8(failure.source()));
    failed.search_failed |= stage->id == worker::StageId::kDiscover;
  }
  return failed;
}

// Returns whether the job kept neither kernels nor whole files.
bool IsEmpty(const v1::JobStatus& status) {
  return std::none_of(
      status.counters().begin(), status.counters().end(), [](const v1::Counter& counter) {
        return counter.value() > 0 && (counter.name() == "dataset.kept" ||
                                       counter.name() == "dataset.training_files.kept");
      });
}

// The number at report.sources[i].GROUP.kept; 0 if an older report does not have it.
int64_t CountKept(const Json& source, const char* group) {
  const auto found = source.find(group);
  if (found == source.end() || !found->is_object()) return 0;
  const auto kept = found->find("kept");
  return kept != found->end() && kept->is_number_integer() ? kept->get<int64_t>() : 0;
}

}  // namespace

absl::StatusOr<LostKernels> FindLostKernels(const std::string& out_dir,
                                            const FinishedJobResult& job) {
  LostKernels lost;
  const FailedSources failed = FindFailedSources(job.failures);
  // The usual case: a source that has fewer kernels now, without any failure, has really changed.
  // An empty dataset is a mistake rather than a change: a glob, a job of another name.
  const bool empty = IsEmpty(job.status);
  if (!failed.any_input_failed && !empty) return lost;
  const absl::StatusOr<std::string> text =
      ReadFile(absl::StrCat(out_dir, "/", dataset::kReportFile), kMaxReportBytes);
  // The folder has no export yet.
  if (absl::IsNotFound(text.status())) return lost;
  RETURN_IF_ERROR(text.status());
  const Json report = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("sources") || !report["sources"].is_array()) {
    return lost;
  }
  std::set<std::string> known;
  for (const v1::Source& source : job.lock.sources()) known.insert(ToUtf8(job::SourceName(source)));
  lost.new_is_empty = empty;
  for (const Json& source : report["sources"]) {
    if (!source.is_object() || !source.contains("repository")) continue;
    if (!source["repository"].is_string()) continue;
    const int64_t kept = CountKept(source, "kernels") + CountKept(source, "training_files");
    // A source that gave nothing cannot be lost.
    if (kept == 0) continue;
    const std::string name = source["repository"].get<std::string>();
    // The search that failed may be the one that found the source before.
    const bool not_found = failed.search_failed && !known.contains(name);
    if (!empty && !not_found && !failed.names.contains(name)) continue;
    lost.kernels += kept;
    lost.sources.push_back(name);
  }
  return lost;
}

}  // namespace kernelmill::client
