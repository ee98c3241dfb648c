#ifndef KERNELMILL_COMMON_MANIFEST_LEDGER_H_
#define KERNELMILL_COMMON_MANIFEST_LEDGER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "common/manifest/walk.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::manifest {

// The fates of the whole files of sources that keep files.
struct TrainingFileSums {
  int64_t extracted = 0;  // extracted files of such sources, without support files
  int64_t found = 0;      // records of whole files
  int64_t kept = 0;
  std::map<std::string, int64_t> rejected;  // by kind, as for kernels
  std::map<std::string, int64_t> duplicates;
  std::map<std::string, int64_t> contaminated;
};

// The ledger: the fates of all files and kernels of a job, including holdouts' files. It is counted
// from the dataset's blobs and not from the reports of stages.
struct LedgerSums {
  int64_t files_seen = 0;
  int64_t files_extracted = 0;
  int64_t files_support = 0;  // extracted only because other files need them (FileEntry.support)
  std::map<std::string, int64_t> files_skipped;  // by reason
  std::map<std::string, int64_t> files_failed;   // by reason; kLostShard: lost with their shard
  // Strings with kernels that could not be extracted, by reason (ExtractedFile).
  std::map<std::string, int64_t> strings_skipped;
  std::map<std::string, int64_t> other_dsls;  // functions of DSLs that are not extracted, by name

  int64_t kernels_in_files = 0;  // as extraction counted them per file, including holdouts
  int64_t decisions = 0;         // entries of Clusters, including holdouts

  int64_t kernels_found = 0;    // in sources that are not holdouts
  int64_t unknown_license = 0;  // those without a known licence
  int64_t kept = 0;
  std::map<std::string, int64_t> rejected;      // by kind: "license", "quality", ...
  std::map<std::string, int64_t> duplicates;    // by kind: "exact", "pair", "near"
  std::map<std::string, int64_t> contaminated;  // by kind: "exact", "near"

  int64_t holdout_found = 0;
  int64_t holdout = 0;              // those with the fate holdout
  int64_t holdout_files_found = 0;  // whole files of holdouts
  int64_t holdout_files = 0;        // those with the fate holdout

  TrainingFileSums training_files;  // not counted as kernels
};

inline constexpr char kLostShard[] = "lost_shard";

int64_t Total(const std::map<std::string, int64_t>& by_reason);

// Checks that nothing disappeared. The sums must add up:
//   files seen = extracted + skipped + failed
//   kernels in files = kernels found + holdout kernels found
//   kernels found + holdout kernels found + training files found + holdout files found = decisions
//   kernels found = kept + rejected + duplicates + contaminated
//   holdout kernels found = holdout kernels decided; the same of holdout files
//   files extracted of sources that keep files = training files found = kept + rejected + ...
// Returns INTERNAL, with the first sum that does not add up and its numbers.
absl::Status CheckConservation(const LedgerSums& sums);

// A visitor that adds up the ledger. Both arguments must outlive it. An exporter calls it from its
// own visitor, to walk the dataset once. Not thread-safe.
class LedgerVisitor final : public DatasetVisitor {
 public:
  LedgerVisitor(const v1::DatasetManifest& manifest, const v1::Clusters& clusters);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;
  const LedgerSums& sums() const { return sums_; }

 private:
  void AddFile(const ShardView& view, const v1::ExtractedFile& file);
  void AddDecision(bool holdout, const v1::Decision* decision);

  const v1::DatasetManifest& manifest_;
  const v1::Clusters& clusters_;
  LedgerSums sums_;
  // The support files of the current tree, if its source keeps files.
  absl::flat_hash_set<std::string> support_;
};

// Adds up the ledger of a whole dataset, without checking conservation. Errors are those of
// WalkDataset, and INTERNAL if the job compiles and a verdict has no results of compilers.
absl::StatusOr<LedgerSums> SumLedger(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters);

// Returns the decision on a kernel, or null if its number is too large.
const v1::Decision* DecisionOn(const v1::Clusters& clusters, uint32_t number);

// Returns true if the kernel is published without its launcher's text, because only the launcher is
// contaminated.
bool WithholdsLauncher(const v1::Decision& decision, const v1::ContaminationPolicy& policy);

// Returns a fate as in ledgers and counters: "kept", "rejected", "duplicate", "contaminated",
// "holdout".
absl::string_view FateName(v1::Fate fate);

// Returns true if a kernel that is rejected for a reason of this kind must not be published with
// its file either: because of its licence, of a secret in it, or of an opt-out.
bool WithholdsFile(absl::string_view kind);

// Returns the part of a reason that sums use: "license" for "license:GPL-3.0-only".
std::string ReasonKind(absl::string_view reason);

// A bound that a job sets for its dataset, with the result of its check.
struct GateResult {
  absl::string_view name;  // as in job files: "min_kept"
  bool is_share = false;   // a share of a whole, or else a number
  double bound = 0;
  double value = 0;
  bool passed = false;
};

// Checks the gates that the job sets, in the order of job.proto, with the sums of the whole
// dataset. A value equal to its bound passes. A share of nothing is 0.
std::vector<GateResult> CheckGates(const v1::DatasetManifest& manifest, const LedgerSums& sums);

// Returns the text for a gate that did not pass: "480, but at least 500 is asked for".
std::string GateText(const GateResult& gate);

// Returns a split as in records, reports and counters: "train", "validation", "test".
absl::string_view SplitName(v1::Split split);

// Checks that kept kernels have a split, and that no others do. Returns DATA_LOSS if this is wrong,
// or if the numbers of splits and decisions differ.
absl::Status CheckSplits(const v1::Splits& splits, const v1::Clusters& clusters);

// Returns the split of every kernel of a dataset, by its number. It is empty if the dataset is not
// divided: then every row is in train. Errors are those of the store and of CheckSplits.
absl::StatusOr<v1::Splits> GetSplits(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters);

// Returns the outcome of a check, by its name in Checks ("compiles"). Returns EXEMPT if the verdict
// does not list it, as in a job that does not require the check.
inline v1::RuleResult::Outcome GetOutcome(const v1::Verdict& verdict, absl::string_view rule) {
  for (const v1::RuleResult& result : verdict.rules()) {
    if (result.rule() == rule) return result.outcome();
  }
  return v1::RuleResult::OUTCOME_EXEMPT;
}

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_LEDGER_H_
