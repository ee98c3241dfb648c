#ifndef KERNELMILL_CLIENT_DIFF_DATASET_DIFF_H_
#define KERNELMILL_CLIENT_DIFF_DATASET_DIFF_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/diff/exported_dataset.h"

namespace kernelmill::client {

// What became of a kernel from one dataset to the other.
//
//   came, went          it is kept in the second alone, in the first alone
//   text, module        of a kernel that both keep: its text, or only what its module takes in
//   license             likewise
//   compile             likewise, where both jobs compile: what a compiler that both ask made of it
//   moved               likewise: the same text at another path or in another source
//   fate                both ledgers have it and neither dataset keeps it: another fate or reason
//   found, lost         the second ledger alone has it, the first alone; it is not kept there
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

struct KernelChange {
  ChangeKind kind = ChangeKind::kCame;
  uint32_t a = kNoKernel;  // its place in the first dataset's ledger
  uint32_t b = kNoKernel;  // in the second's
  uint32_t reason = 0;     // a text: the same for kernels with which the same happened
};

struct DatasetDiff {
  std::vector<KernelChange> changes;  // by kind, then by repository, path and line
  // How many, by kind and reason; and by repository and kind.
  std::map<std::pair<ChangeKind, std::string>, int64_t> by_reason;
  std::map<std::string, std::map<ChangeKind, int64_t>> by_repository;
  // What is not of a kernel, a line each: "validate 7 -> 8".
  std::vector<std::string> stages;
  std::vector<std::string> sources;   // "+ NAME at COMMIT", "- NAME", "NAME: COMMIT -> COMMIT"
  std::vector<std::string> settings;  // of the lock: "- dedup.threshold: 0.7"
  bool same = false;                  // the same dataset: by digest, and kernel by kernel
};

// Compares what two exports say. Kernels are the same one by repository, path and text; else by
// repository, path, language and qualified name, or, since ledgers tell names of kept kernels
// alone, by their order in the file where there are as many; else by text and language wherever
// they stand. `texts` are both datasets'.
//
// Holds 16 bytes for each kernel of both, and 16 for each change.
DatasetDiff CompareDatasets(const ExportedDataset& a, const ExportedDataset& b, Texts& texts);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_DIFF_DATASET_DIFF_H_
