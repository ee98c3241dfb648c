#include "common/manifest/ledger.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/digest.h"

namespace kernelmill::manifest {
namespace {

constexpr absl::string_view kNoLicense = "NOASSERTION";  // in License.expression

// Compares two numbers that were counted from different records.
absl::Status MustEqual(absl::string_view left_name, int64_t left, absl::string_view right_name,
                       int64_t right) {
  if (left == right) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the ledger does not add up: ", left_name, " is ", left,
                                          ", ", right_name, " is ", right));
}

// Adds a decision to LedgerSums or TrainingFileSums.
template <typename Sums>
void AddFate(v1::Fate fate, const v1::Decision* decision, Sums& sums) {
  if (fate == v1::FATE_KEPT) ++sums.kept;
  if (fate == v1::FATE_REJECTED) ++sums.rejected[ReasonKind(decision->reason())];
  if (fate == v1::FATE_DUPLICATE) ++sums.duplicates[ReasonKind(decision->reason())];
  if (fate == v1::FATE_CONTAMINATED) ++sums.contaminated[ReasonKind(decision->reason())];
}

template <typename Sums>
// Returns the number of kernels with one of the four fates.
int64_t Decided(const Sums& sums) {
  return sums.kept + Total(sums.rejected) + Total(sums.duplicates) + Total(sums.contaminated);
}

v1::Fate GetFate(const v1::Decision* decision) {
  return decision == nullptr ? v1::FATE_UNSPECIFIED : decision->fate();
}

bool KeepsFiles(const v1::Source& source) { return source.keep() == v1::SOURCE_KEEP_FILES; }

}  // namespace

int64_t Total(const std::map<std::string, int64_t>& by_reason) {
  int64_t total = 0;
  for (const auto& [reason, count] : by_reason) total += count;
  return total;
}

// The basic idea: double-entry bookkeeping. Each number is counted twice, where things are found
// and where they are decided. A kernel that got lost, or was counted twice, shows as a difference.
absl::Status CheckConservation(const LedgerSums& sums) {
  const int64_t kernels = sums.kernels_found + sums.holdout_found;
  RETURN_IF_ERROR(
      MustEqual("files seen", sums.files_seen, "extracted + skipped + failed",
                sums.files_extracted + Total(sums.files_skipped) + Total(sums.files_failed)));
  RETURN_IF_ERROR(MustEqual("kernels counted in files", sums.kernels_in_files,
                            "kernels found in shards", kernels));
  const TrainingFileSums& files = sums.training_files;
  RETURN_IF_ERROR(MustEqual("decisions", sums.decisions, "kernels and whole files in shards",
                            kernels + files.found + sums.holdout_files_found));
  RETURN_IF_ERROR(MustEqual("kernels found", sums.kernels_found,
                            "kept + rejected + duplicates + contaminated", Decided(sums)));
  RETURN_IF_ERROR(MustEqual("whole files", files.found,
                            "files extracted of sources that keep files", files.extracted));
  RETURN_IF_ERROR(MustEqual("whole files", files.found,
                            "kept + rejected + duplicates + contaminated", Decided(files)));
  RETURN_IF_ERROR(MustEqual("holdout files found", sums.holdout_files_found,
                            "holdout files decided", sums.holdout_files));
  return MustEqual("holdout kernels found", sums.holdout_found, "holdout kernels decided",
                   sums.holdout);
}

LedgerVisitor::LedgerVisitor(const v1::DatasetManifest& manifest, const v1::Clusters& clusters)
    : manifest_(manifest), clusters_(clusters) {
  sums_.decisions = clusters.decisions_size();
}

// Counts the files of a source that no shard has: the skipped and failed ones. Remembers its
// support files, which are not rows even if the source keeps whole files.
absl::Status LedgerVisitor::VisitTree(int source, const v1::SourceTree& tree) {
  // Nothing is extracted from evidence: its files are no part of the sums.
  if (IsEvidence(manifest_.sources(source).source())) return absl::OkStatus();
  sums_.files_seen += tree.files_size();
  for (const v1::FileEntry& file : tree.files()) {
    if (file.support()) ++sums_.files_support;
    if (file.fate() == v1::FILE_FATE_SKIPPED) ++sums_.files_skipped[ReasonKind(file.reason())];
    if (file.fate() == v1::FILE_FATE_FAILED) ++sums_.files_failed[ReasonKind(file.reason())];
  }
  // Support files serve other kernels only.
  support_.clear();
  for (const v1::FileEntry& file : tree.files()) {
    if (!KeepsFiles(manifest_.sources(source).source())) break;
    if (file.support()) support_.insert(file.path());
  }
  // Files of shards that failed for good are in no kernel shard.
  const int64_t lost = manifest_.sources(source).failed_files();
  if (lost != 0) sums_.files_failed[kLostShard] += lost;
  return absl::OkStatus();
}

// Counts a shard's files, strings, licenses and decisions. Records of whole files are counted apart
// from kernels.
absl::Status LedgerVisitor::VisitShard(const ShardView& view) {
  // In a job that compiles, each verdict must have results of compilers.
  if (manifest_.has_compile() && view.verdicts != nullptr) {
    const auto& verdicts = view.verdicts->verdicts();
    if (!std::all_of(verdicts.begin(), verdicts.end(),
                     [](const v1::Verdict& verdict) { return verdict.has_compiled(); })) {
      return absl::InternalError("the job compiles, but a verdict has no results of compilers");
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
    if (holdout) {
      ++sums_.holdout_files_found;
      sums_.holdout_files += GetFate(decision) == v1::FATE_HOLDOUT;
      continue;
    }
    ++sums_.training_files.found;
    AddFate(GetFate(decision), decision, sums_.training_files);
  }
  return absl::OkStatus();
}

// A file that failed has no kernels. A file of a source that keeps files must have one record of
// the whole file, unless it is a support file.
void LedgerVisitor::AddFile(const ShardView& view, const v1::ExtractedFile& file) {
  if (!file.failed().empty()) {
    ++sums_.files_failed[ReasonKind(file.failed())];
    return;
  }
  ++sums_.files_extracted;
  sums_.training_files.extracted +=
      KeepsFiles(manifest_.sources(view.source).source()) && !support_.contains(file.path());
}

// Kernels of holdouts are counted apart: no fate except FATE_HOLDOUT is right for them.
void LedgerVisitor::AddDecision(bool holdout, const v1::Decision* decision) {
  const v1::Fate fate = GetFate(decision);
  if (holdout) {
    ++sums_.holdout_found;
    if (fate == v1::FATE_HOLDOUT) ++sums_.holdout;
    return;
  }
  ++sums_.kernels_found;
  AddFate(fate, decision, sums_);
}

// Walks the whole dataset once. The sums are not checked; CheckConservation does that.
absl::StatusOr<LedgerSums> SumLedger(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters) {
  LedgerVisitor ledger(manifest, clusters);
  RETURN_IF_ERROR(WalkDataset(store, manifest, ledger));
  return ledger.sums();
}

// Returns null for a kernel without a decision: decisions are in the order of the kernels' numbers,
// and a damaged dataset may have fewer of them.
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

// Says whether a rejection for this reason speaks against the whole file: its licence, its secrets
// or its owner's wish apply to all of it, while a check of quality applies to one kernel.
bool WithholdsFile(absl::string_view kind) {
  return kind == "license" || kind == "sensitive" || kind == "opt_out";
}

// Reasons are KIND or KIND:DETAIL. Details may be any text, so sums are by kind.
std::string ReasonKind(absl::string_view reason) {
  const absl::string_view kind = reason.substr(0, reason.find(':'));
  return kind.empty() ? "unspecified" : std::string(kind);
}

namespace {

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Makes the result of a gate whose value must be at most the bound.
GateResult Most(absl::string_view name, bool is_share, double bound, double value) {
  return {name, is_share, bound, value, value <= bound};
}

// Formats a number. A share gets more digits if value and bound would look equal.
std::string Text(const GateResult& gate, double number) {
  if (!gate.is_share) return absl::StrCat(static_cast<int64_t>(number));
  const bool alike = absl::StrCat(gate.value) == absl::StrCat(gate.bound);
  if (!alike) return absl::StrCat(number);
  char digits[64];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
}

}  // namespace

// Checks only the gates that the job sets. Shares are of the kernels found, except that of failed
// files.
std::vector<GateResult> CheckGates(const v1::DatasetManifest& manifest, const LedgerSums& sums) {
  const v1::Gates& gates = manifest.gates();
  const int64_t found = sums.kernels_found;
  std::vector<GateResult> results;
  if (gates.min_kept() > 0) {
    results.push_back({"min_kept", false, static_cast<double>(gates.min_kept()),
                       static_cast<double>(sums.kept), sums.kept >= gates.min_kept()});
  }
  const auto share = [&](bool given, absl::string_view name, double bound, int64_t part,
                         int64_t whole) {
    if (given) results.push_back(Most(name, true, bound, Share(part, whole)));
  };
  share(gates.has_max_rejected(), "max_rejected", gates.max_rejected(), Total(sums.rejected),
        found);
  share(gates.has_max_duplicate(), "max_duplicate", gates.max_duplicate(), Total(sums.duplicates),
        found);
  share(gates.has_max_contaminated(), "max_contaminated", gates.max_contaminated(),
        Total(sums.contaminated), found);
  share(gates.has_max_unknown_license(), "max_unknown_license", gates.max_unknown_license(),
        sums.unknown_license, found);
  if (gates.has_max_failed_sources()) {
    const auto failed =
        std::count_if(manifest.sources().begin(), manifest.sources().end(),
                      [](const v1::ManifestSource& source) { return source.failed(); });
    results.push_back(Most("max_failed_sources", false,
                           static_cast<double>(gates.max_failed_sources()),
                           static_cast<double>(failed)));
  }
  share(gates.has_max_failed_files(), "max_failed_files", gates.max_failed_files(),
        Total(sums.files_failed), sums.files_seen);
  return results;
}

// Says the value and the bound of a gate that was not passed.
std::string GateText(const GateResult& gate) {
  const bool least = gate.name == "min_kept";
  return absl::StrCat(Text(gate, gate.value), ", but at ", least ? "least " : "most ",
                      Text(gate, gate.bound), " is asked for");
}

absl::string_view SplitName(v1::Split split) {
  switch (split) {
    case v1::SPLIT_TRAIN:
      return "train";
    case v1::SPLIT_VALIDATION:
      return "validation";
    case v1::SPLIT_TEST:
      return "test";
    default:
      return "unspecified";
  }
}

// Checks that exactly the kept kernels have a split.
absl::Status CheckSplits(const v1::Splits& splits, const v1::Clusters& clusters) {
  if (splits.splits_size() != clusters.decisions_size()) {
    return absl::DataLossError(
        absl::StrCat(splits.splits_size(), " splits of ", clusters.decisions_size(), " kernels"));
  }
  for (int i = 0; i < splits.splits_size(); ++i) {
    const bool kept = clusters.decisions(i).fate() == v1::FATE_KEPT;
    const int split = splits.splits(i);
    const bool known = split >= v1::SPLIT_TRAIN && split <= v1::SPLIT_TEST;
    if (kept ? known : split == v1::SPLIT_UNSPECIFIED) continue;
    return absl::DataLossError(
        absl::StrCat("kernel ", i, " is ", kept ? "" : "not ", "kept, and its split is ", split));
  }
  return absl::OkStatus();
}

// Returns an empty message if the job does not divide the dataset. DATA_LOSS: the splits do not fit
// the decisions.
absl::StatusOr<v1::Splits> GetSplits(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters) {
  if (!manifest.has_splits()) return v1::Splits();
  ASSIGN_OR_RETURN(auto splits, cas::GetMessage<v1::Splits>(store, manifest.splits()));
  RETURN_IF_ERROR(Annotate(CheckSplits(splits, clusters), "splits"));
  return splits;
}

}  // namespace kernelmill::manifest
