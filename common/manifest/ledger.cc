#include "common/manifest/ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::manifest {
namespace {

constexpr absl::string_view kNoLicense = "NOASSERTION";  // as License.expression has it

absl::Status MustEqual(absl::string_view left_name, int64_t left, absl::string_view right_name,
                       int64_t right) {
  if (left == right) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the ledger does not add up: ", left_name, " is ", left,
                                          ", ", right_name, " is ", right));
}

// Adds a decision to sums that have these fields.
template <typename Sums>
void AddFate(v1::Fate fate, const v1::Decision* decision, Sums& sums) {
  if (fate == v1::FATE_KEPT) ++sums.kept;
  if (fate == v1::FATE_REJECTED) ++sums.rejected[KindOf(decision->reason())];
  if (fate == v1::FATE_DUPLICATE) ++sums.duplicates[KindOf(decision->reason())];
  if (fate == v1::FATE_CONTAMINATED) ++sums.contaminated[KindOf(decision->reason())];
}

template <typename Sums>
int64_t Decided(const Sums& sums) {
  return sums.kept + Total(sums.rejected) + Total(sums.duplicates) + Total(sums.contaminated);
}

v1::Fate FateOf(const v1::Decision* decision) {
  return decision == nullptr ? v1::FATE_UNSPECIFIED : decision->fate();
}

bool KeepsFiles(const v1::Source& source) { return source.keep() == v1::SOURCE_KEEP_FILES; }

}  // namespace

int64_t Total(const std::map<std::string, int64_t>& by_reason) {
  int64_t total = 0;
  for (const auto& [reason, count] : by_reason) total += count;
  return total;
}

absl::Status CheckConservation(const LedgerSums& sums) {
  const int64_t kernels = sums.kernels_found + sums.holdout_found;
  RETURN_IF_ERROR(
      MustEqual("files seen", sums.files_seen, "extracted + skipped + failed",
                sums.files_extracted + Total(sums.files_skipped) + Total(sums.files_failed)));
  RETURN_IF_ERROR(MustEqual("kernels counted in files", sums.kernels_in_files,
                            "kernels found in shards", kernels));
  const TrainingFileSums& files = sums.training_files;
  RETURN_IF_ERROR(MustEqual("decisions", sums.decisions, "kernels and whole files in shards",
                            kernels + files.found));
  RETURN_IF_ERROR(MustEqual("kernels found", sums.kernels_found,
                            "kept + rejected + duplicates + contaminated", Decided(sums)));
  RETURN_IF_ERROR(MustEqual("whole files", files.found,
                            "files extracted of sources that keep files", files.extracted));
  RETURN_IF_ERROR(MustEqual("whole files", files.found,
                            "kept + rejected + duplicates + contaminated", Decided(files)));
  return MustEqual("holdout kernels found", sums.holdout_found, "holdout kernels decided",
                   sums.holdout);
}

LedgerVisitor::LedgerVisitor(const v1::DatasetManifest& manifest, const v1::Clusters& clusters)
    : manifest_(manifest), clusters_(clusters) {
  sums_.decisions = clusters.decisions_size();
}

absl::Status LedgerVisitor::VisitTree(int source, const v1::SourceTree& tree) {
  sums_.files_seen += tree.files_size();
  for (const v1::FileEntry& file : tree.files()) {
    if (file.support()) ++sums_.files_support;
    if (file.fate() == v1::FILE_FATE_SKIPPED) ++sums_.files_skipped[KindOf(file.reason())];
    if (file.fate() == v1::FILE_FATE_FAILED) ++sums_.files_failed[KindOf(file.reason())];
  }
  support_.clear();
  for (const v1::FileEntry& file : tree.files()) {
    if (!KeepsFiles(manifest_.sources(source).source())) break;
    if (file.support()) support_.insert(file.path());
  }
  const int64_t lost = manifest_.sources(source).failed_files();
  if (lost != 0) sums_.files_failed[kLostShard] += lost;
  return absl::OkStatus();
}

absl::Status LedgerVisitor::VisitShard(const ShardView& view) {
  if (manifest_.has_compile() && view.verdicts != nullptr) {
    const auto& verdicts = view.verdicts->verdicts();
    if (!std::all_of(verdicts.begin(), verdicts.end(),
                     [](const v1::Verdict& verdict) { return verdict.has_compiled(); })) {
      return absl::InternalError(
          "the job compiles, and a verdict has nothing of what compilers say");
    }
  }
  for (const v1::ExtractedFile& file : view.kernels->files()) {
    sums_.kernels_in_files += file.kernels();
    for (const v1::SkippedString& string : file.skipped_strings()) {
      ++sums_.strings_skipped[string.reason()];
    }
    for (const v1::OtherDsl& dsl : file.other_dsls()) {
      sums_.other_dsls[dsl.name()] += dsl.functions();
    }
    AddFile(view, file);
  }
  const bool holdout = IsHoldout(manifest_.sources(view.source).source());
  if (view.verdicts != nullptr) {
    sums_.unknown_license += std::count_if(
        view.verdicts->verdicts().begin(), view.verdicts->verdicts().end(),
        [](const v1::Verdict& verdict) { return verdict.license().expression() == kNoLicense; });
  }
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    const v1::Decision* decision =
        DecisionOn(clusters_, view.first_number + static_cast<uint32_t>(i));
    if (!IsFile(view.kernels->kernels(i))) {
      AddDecision(holdout, decision);
      continue;
    }
    ++sums_.training_files.found;
    AddFate(FateOf(decision), decision, sums_.training_files);
  }
  return absl::OkStatus();
}

void LedgerVisitor::AddFile(const ShardView& view, const v1::ExtractedFile& file) {
  if (!file.failed().empty()) {
    ++sums_.files_failed[KindOf(file.failed())];
    return;
  }
  ++sums_.files_extracted;
  sums_.training_files.extracted +=
      KeepsFiles(manifest_.sources(view.source).source()) && !support_.contains(file.path());
}

void LedgerVisitor::AddDecision(bool holdout, const v1::Decision* decision) {
  const v1::Fate fate = FateOf(decision);
  if (holdout) {
    ++sums_.holdout_found;
    if (fate == v1::FATE_HOLDOUT) ++sums_.holdout;
    return;
  }
  ++sums_.kernels_found;
  AddFate(fate, decision, sums_);
}

absl::StatusOr<LedgerSums> SumLedger(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters) {
  LedgerVisitor ledger(manifest, clusters);
  RETURN_IF_ERROR(WalkDataset(store, manifest, ledger));
  return ledger.sums();
}

const v1::Decision* DecisionOn(const v1::Clusters& clusters, uint32_t number) {
  if (number >= static_cast<uint32_t>(clusters.decisions_size())) return nullptr;
  return &clusters.decisions(static_cast<int>(number));
}

bool WithholdsLauncher(const v1::Decision& decision, const v1::ContaminationPolicy& policy) {
  if (decision.fate() != v1::FATE_KEPT || policy.action() == v1::CONTAMINATION_ACTION_LABEL) {
    return false;
  }
  return std::any_of(decision.contamination().begin(), decision.contamination().end(),
                     [](const v1::Contamination& match) { return match.text() == "launcher"; });
}

absl::string_view FateName(v1::Fate fate) {
  switch (fate) {
    case v1::FATE_KEPT:
      return "kept";
    case v1::FATE_REJECTED:
      return "rejected";
    case v1::FATE_DUPLICATE:
      return "duplicate";
    case v1::FATE_CONTAMINATED:
      return "contaminated";
    case v1::FATE_HOLDOUT:
      return "holdout";
    default:
      return "unspecified";
  }
}

bool WithholdsFile(absl::string_view kind) {
  return kind == "license" || kind == "sensitive" || kind == "opt_out";
}

std::string KindOf(absl::string_view reason) {
  const absl::string_view kind = reason.substr(0, reason.find(':'));
  return kind.empty() ? "unspecified" : std::string(kind);
}

}  // namespace kernelmill::manifest
