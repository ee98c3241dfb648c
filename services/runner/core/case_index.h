#ifndef KERNELMILL_SERVICES_RUNNER_CORE_CASE_INDEX_H_
#define KERNELMILL_SERVICES_RUNNER_CORE_CASE_INDEX_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::runner {

// A kernel as evidence names it: the SHA-256 of its module's row, and its qualified name.
using KernelName = std::pair<std::string, std::string>;

// A line of evidence that says it is a case.
struct Case {
  std::string id;
  std::string line;
  std::vector<std::string> tensors;  // the SHA-256 of all bytes that it names
};

// Returns the kernel's name in evidence. Rows have U+FFFD for broken bytes, and evidence is made of
// rows.
KernelName NameKernel(const v1::Kernel& kernel);

// Returns the partition that a module is in, by its SHA-256.
int GetPartition(absl::string_view module_sha256, int partitions);

// Returns whether the file of evidence holds a tensor: its name is a SHA-256.
bool IsTensor(absl::string_view path);

// Returns the id of the case if the line is its result on this device, by this toolchain; else an
// empty string.
std::string GetResultCase(absl::string_view line, absl::string_view device,
                          absl::string_view toolchain);

// The cases of a job's evidence, by the kernels that they are of, and the results that are known. A
// line that is neither is left out: the export says what is wrong with it. Not thread-safe.
class CaseIndex {
 public:
  // `device` and `toolchain`, as Runner has them, of the results that are asked for.
  CaseIndex(std::string device, std::string toolchain)
      : device_(std::move(device)), toolchain_(std::move(toolchain)) {}

  // Takes the lines of the shard's files. Its tensors are noted as those of shard `number`.
  void AddShard(size_t number, const v1::FileShard& shard);

  // Returns null if the kernel has no cases. They are in the order of their ids, each once.
  const std::vector<Case>* Find(const KernelName& kernel) const;
  // Returns whether the evidence has a result of the case.
  bool IsKnown(absl::string_view case_id) const { return known_.contains(case_id); }
  bool HasTensor(absl::string_view sha256) const { return tensors_.contains(sha256); }
  // Returns the numbers of the shards that have these tensors, in order.
  std::vector<size_t> FindShards(const absl::flat_hash_set<std::string>& tensors) const;

  // Sorts the cases, once all shards are added.
  void Finish();

 private:
  void AddLine(absl::string_view line);

  const std::string device_;
  const std::string toolchain_;
  absl::flat_hash_map<KernelName, std::vector<Case>> cases_;
  absl::flat_hash_set<std::string> known_;            // ids of cases
  absl::flat_hash_map<std::string, size_t> tensors_;  // the shard of each
};

}  // namespace kernelmill::runner

#endif  // KERNELMILL_SERVICES_RUNNER_CORE_CASE_INDEX_H_
