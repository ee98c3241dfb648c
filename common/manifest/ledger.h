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

// What became of the whole files of sources that keep files: of those files that were extracted.
struct TrainingFileSums {
  int64_t extracted = 0;  // of such sources, without those that are there for others' sake
  int64_t found = 0;      // as records of their own
  int64_t kept = 0;
  std::map<std::string, int64_t> rejected;  // by kind, as of kernels
  std::map<std::string, int64_t> duplicates;
  std::map<std::string, int64_t> contaminated;
};

// What became of every file and kernel of a job, holdouts' files included, counted from the
// dataset's own blobs rather than from what stages reported.
struct LedgerSums {
  int64_t files_seen = 0;
  int64_t files_extracted = 0;
  int64_t files_support = 0;  // handed on to extraction for others' sake alone (FileEntry.support)
  std::map<std::string, int64_t> files_skipped;  // by reason
  std::map<std::string, int64_t> files_failed;   // by reason; kLostShard: gone with their shard
  // Strings with kernels that could not be taken from them, by reason (ExtractedFile).
  std::map<std::string, int64_t> strings_skipped;
  std::map<std::string, int64_t> other_dsls;  // functions of DSLs that are not extracted, by name

  int64_t kernels_in_files = 0;  // as extraction counted them file by file, holdouts included
  int64_t decisions = 0;         // of Clusters, holdouts included

  int64_t kernels_found = 0;    // of sources that are no holdouts
  int64_t unknown_license = 0;  // of these: no licence was found
  int64_t kept = 0;
  std::map<std::string, int64_t> rejected;      // by kind: "license", "quality", ...
  std::map<std::string, int64_t> duplicates;    // by kind: "exact", "pair", "near"
  std::map<std::string, int64_t> contaminated;  // by kind: "exact", "near"

  int64_t holdout_found = 0;
  int64_t holdout = 0;  // of these, decided as such

  TrainingFileSums training_files;  // none of them counts as a kernel
};

inline constexpr char kLostShard[] = "lost_shard";

int64_t Total(const std::map<std::string, int64_t>& by_reason);

// The sums must add up:
//   files seen = extracted + skipped + failed
//   kernels in files = kernels found + holdout kernels found
//   kernels found + holdout kernels found + training files found = decisions
//   kernels found = kept + rejected + duplicates + contaminated
//   holdout kernels found = holdout kernels decided
//   files extracted of sources that keep files = training files found = kept + rejected + ...
// INTERNAL: names the first that does not, with its numbers.
absl::Status CheckConservation(const LedgerSums& sums);

// Adds up the ledger on a walk. Keeps references to both arguments. An exporter calls it from its
// own visitor, to walk once.
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
  // Of the tree at hand, where its source keeps files: those that are there for others' sake.
  absl::flat_hash_set<std::string> support_;
};

// The ledger of a whole dataset. Errors as WalkDataset, and INTERNAL where the job compiles and a
// verdict has no evidence of it; does not check conservation.
absl::StatusOr<LedgerSums> SumLedger(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters);

// The decision on a kernel, by its number; null where there is none.
const v1::Decision* DecisionOn(const v1::Clusters& clusters, uint32_t number);

// Whether the kernel goes into the dataset without its launcher's text, since that is a holdout's
// and the kernel is not.
bool WithholdsLauncher(const v1::Decision& decision, const v1::ContaminationPolicy& policy);

// A fate as ledgers and counters spell it: "kept", "rejected", "duplicate", "contaminated",
// "holdout".
absl::string_view FateName(v1::Fate fate);

// Whether what is rejected for a reason of this kind must not get out with the file around it
// either: for its licence, for a secret in it, at somebody's wish.
bool WithholdsFile(absl::string_view kind);

// The part of a decision's reason that sums go by: "license" of "license:GPL-3.0-only".
std::string ReasonKind(absl::string_view reason);

// A bound that a job sets its dataset, and whether it is met.
struct GateResult {
  absl::string_view name;  // as job files have it: "min_kept"
  bool is_share = false;   // of a whole; else a number
  double bound = 0;
  double value = 0;
  bool passed = false;
};

// The gates that the job sets, in the order of job.proto: a dataset with just its bound passes. A
// share of nothing is 0. `sums` are the whole dataset's.
std::vector<GateResult> CheckGates(const v1::DatasetManifest& manifest, const LedgerSums& sums);

// "480, but at least 500 is asked for": of a gate that is not passed.
std::string GateText(const GateResult& gate);

// A split as records, reports and counters spell it: "train", "validation", "test".
absl::string_view SplitName(v1::Split split);

// Whether each kernel that is kept has a split, and no other.
// DATA_LOSS: they have not, or there are not as many splits as decisions.
absl::Status CheckSplits(const v1::Splits& splits, const v1::Clusters& clusters);

// The split of every kernel of a dataset, by its number; none where it is not divided: then every
// row is of train. Errors: those of the store, and as above.
absl::StatusOr<v1::Splits> GetSplits(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters);

// What came of a check, by its name as of Checks ("compiles"): exempt too where the verdict does
// not list it, as of a job that does not ask.
inline v1::RuleResult::Outcome GetOutcome(const v1::Verdict& verdict, absl::string_view rule) {
  for (const v1::RuleResult& result : verdict.rules()) {
    if (result.rule() == rule) return result.outcome();
  }
  return v1::RuleResult::OUTCOME_EXEMPT;
}

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_LEDGER_H_
