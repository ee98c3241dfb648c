// The guard of an earlier export: a crawl in which a source could not be fetched, or that kept
// nothing, must not silently replace a dataset that has kernels. kept_output.h has the rules. The
// earlier state comes from report.json in the folder, the new state from the job's failures.
//
// EarlierOutput is for losses that the guard lets pass, such as those of a new version of a source.
// It compares ledgers, by hashes that are good within this process.

#include "client/commands/kept_output.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
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
#include "dataset/rows/row_reader.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::client {
namespace {

using dataset::Json;

constexpr int64_t kMaxReportBytes = 256 << 20;

// Returns "liger-kernel" for "liger-kernel==0.6.2". Other names stay as they are.
std::string WithoutVersion(const std::string& source) {
  return source.substr(0, source.find("=="));
}

// The failed sources of a job, without versions.
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
    failed.names.insert(WithoutVersion(ToUtf8(failure.source())));
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

absl::StatusOr<Json> ReadReport(const std::string& out_dir) {
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(absl::StrCat(out_dir, "/", dataset::kReportFile), kMaxReportBytes));
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Calls visit(row) for each row of the ledger.
absl::Status ForEachOfLedger(const std::string& out_dir,
                             const std::function<void(const v1::LedgerRow&)>& visit) {
  return dataset::ForEachRow<v1::LedgerRow>(
      out_dir,
      {.fields = {"id", "repository", "path", "json_pointer", "sha256", "qualname", "fate",
                  "reason"}},
      [&](const v1::LedgerRow& row, const dataset::RowPlace&) {
        visit(row);
        return absl::OkStatus();
      });
}

uint64_t HashPlace(const v1::LedgerRow& row) {
  return absl::HashOf(WithoutVersion(row.repository()), row.path(), row.json_pointer(),
                      row.qualname());
}

bool IsKept(const v1::LedgerRow& row) { return row.fate() == "kept"; }

}  // namespace

absl::StatusOr<EarlierOutput> EarlierOutput::Read(const std::string& out_dir,
                                                  const cas::Digest& dataset) {
  EarlierOutput output;
  const absl::StatusOr<Json> report = ReadReport(out_dir);
  if (absl::IsNotFound(report.status())) return output;
  RETURN_IF_ERROR(report.status());
  // The same dataset loses nothing.
  if (report->is_object() && report->value("dataset", Json()) == cas::ToString(dataset)) {
    return output;
  }
  std::map<std::string, uint32_t> places;
  RETURN_IF_ERROR(ForEachOfLedger(out_dir, [&](const v1::LedgerRow& row) {
    if (!IsKept(row)) return;
    const auto [at, is_new] =
        places.try_emplace(row.repository(), static_cast<uint32_t>(output.sources_.size()));
    if (is_new) output.sources_.push_back(row.repository());
    output.kept_.push_back({at->second, HashPlace(row), absl::HashOf(row.sha256())});
  }));
  return output;
}

absl::StatusOr<std::vector<LostFromSource>> EarlierOutput::FindLost(
    const std::string& out_dir) const {
  if (kept_.empty()) return std::vector<LostFromSource>();
  absl::flat_hash_set<uint64_t> places, texts, sources;
  absl::flat_hash_map<uint64_t, std::string> fates;  // by place, for kernels that are not kept
  RETURN_IF_ERROR(ForEachOfLedger(out_dir, [&](const v1::LedgerRow& row) {
    sources.insert(absl::HashOf(WithoutVersion(row.repository())));
    if (!IsKept(row)) {
      fates[HashPlace(row)] = absl::StrCat("now ", row.fate(), ": ", row.reason());
      return;
    }
    places.insert(HashPlace(row));
    texts.insert(absl::HashOf(row.sha256()));
  }));
  std::vector<LostFromSource> lost(sources_.size());
  for (size_t i = 0; i < sources_.size(); ++i) lost[i].source = sources_[i];
  for (const Kept& kernel : kept_) {
    LostFromSource& of = lost[kernel.source];
    ++of.before;
    if (places.contains(kernel.place) || texts.contains(kernel.text)) continue;
    ++of.lost;
    const auto fate = fates.find(kernel.place);
    const bool has_source = sources.contains(absl::HashOf(WithoutVersion(of.source)));
    ++of.reasons[fate != fates.end() ? fate->second
                 : has_source        ? "no longer found"
                                     : "the source has no kernels now"];
  }
  std::erase_if(lost, [](const LostFromSource& of) { return of.lost == 0; });
  std::stable_sort(lost.begin(), lost.end(), [](const LostFromSource& a, const LostFromSource& b) {
    return a.lost > b.lost;
  });
  return lost;
}

absl::StatusOr<LostKernels> FindLostKernels(const std::string& out_dir,
                                            const FinishedJobResult& job) {
  LostKernels lost;
  const FailedSources failed = FindFailedSources(job.failures);
  // The usual case: a source that has fewer kernels now, without any failure, has really changed.
  // An empty dataset is a mistake rather than a change: a glob, a job of another name.
  const bool empty = IsEmpty(job.status);
  if (!failed.any_input_failed && !empty) return lost;
  const absl::StatusOr<Json> report = ReadReport(out_dir);
  // The folder has no export yet.
  if (absl::IsNotFound(report.status())) return lost;
  RETURN_IF_ERROR(report.status());
  if (!report->is_object() || !report->contains("sources") || !report->at("sources").is_array()) {
    return lost;
  }
  std::set<std::string> known;
  for (const v1::Source& source : job.lock.sources()) {
    known.insert(WithoutVersion(ToUtf8(job::SourceName(source))));
  }
  lost.new_is_empty = empty;
  for (const Json& source : report->at("sources")) {
    if (!source.is_object() || !source.contains("repository")) continue;
    if (!source["repository"].is_string()) continue;
    const int64_t kept = CountKept(source, "kernels") + CountKept(source, "training_files");
    // A source that gave nothing cannot be lost.
    if (kept == 0) continue;
    const std::string name = source["repository"].get<std::string>();
    // The search that failed may be the one that found the source before.
    const std::string any_version = WithoutVersion(name);
    const bool not_found = failed.search_failed && !known.contains(any_version);
    if (!empty && !not_found && !failed.names.contains(any_version)) continue;
    lost.kernels += kept;
    lost.sources.push_back(name);
  }
  return lost;
}

}  // namespace kernelmill::client
