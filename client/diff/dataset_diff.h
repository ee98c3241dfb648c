#ifndef KERNELMILL_CLIENT_DIFF_DATASET_DIFF_H_
#define KERNELMILL_CLIENT_DIFF_DATASET_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/diff/exported_dataset.h"

namespace kernelmill::client {

// The change of a kernel from one dataset to the other.
//
// clang-format off
//   came, went      kept only in the second dataset, only in the first
//   text, module    kept in both: its text changed, or only its dependencies
//   license         kept in both: another licence
//   compile         kept in both, and both jobs compile: another result of a common compiler
//   moved           kept in both: the same text at another path or in another source
//   fate            in both ledgers and kept in neither: another fate or reason
//   found, lost     only in the second ledger, only in the first; not kept there
// clang-format on
enum class ChangeKind {
  kCame,
  kWent,
  kText,
  kModule,
  kLicense,
  kCompile,
  kMoved,
  kFate,
  kFound,
  kLost
};
inline constexpr int kChangeKinds = 10;
absl::string_view ChangeName(ChangeKind kind);

inline constexpr uint32_t kNoKernel = UINT32_MAX;

// One change of one kernel.
struct KernelChange {
  ChangeKind kind = ChangeKind::kCame;
  uint32_t a = kNoKernel;  // its index in the first dataset's ledger
  uint32_t b = kNoKernel;  // its index in the second's
  uint32_t reason = 0;     // a text that kernels with the same change share
};

// The differences between two datasets.
struct DatasetDiff {
  std::vector<KernelChange> changes;  // by kind, then by repository, path and line
  // The numbers of changes by kind and reason, and by repository and kind.
  std::map<std::pair<ChangeKind, std::string>, int64_t> by_reason;
  std::map<std::string, std::map<ChangeKind, int64_t>> by_repository;
  // Differences of the jobs, one line each: "validate 7 -> 8".
  std::vector<std::string> stages;
  std::vector<std::string> sources;   // "+ NAME at COMMIT", "- NAME", "NAME: COMMIT -> COMMIT"
  std::vector<std::string> settings;  // of the lock: "- dedup.threshold: 0.7"
  bool same = false;                  // equal digests, and no kernel differs
};

// Compares two exports. `texts` holds the texts of both. Two kernels count as the same one if they
// agree in one of these, tried in this order:
//
//   1. repository, path and text
//   2. repository, path, language and qualified name
//   3. repository, path, language and order in the file, if both files have as many kernels:
//      ledgers only have the names of kept kernels
//   4. text and language, at any place
//
// Uses 16 bytes for each kernel and each change.
DatasetDiff CompareDatasets(const ExportedDataset& a, const ExportedDataset& b, Texts& texts);

// Returns a diff for a person: the two datasets, the differences of their jobs, the numbers of
// changed kernels by reason and by repository, and at most `limit` kernels of each kind.
std::string DiffText(const ExportedDataset& a, const ExportedDataset& b, const DatasetDiff& diff,
                     const Texts& texts, size_t limit);

// Writes a diff for a program: one line with everything except the kernels, then one line for each
// change of a kernel.
void WriteDiffJson(const ExportedDataset& a, const ExportedDataset& b, const DatasetDiff& diff,
                   const Texts& texts, const std::function<void(absl::string_view)>& write);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_DIFF_DATASET_DIFF_H_
