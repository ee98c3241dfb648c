#ifndef KERNELMILL_COMMON_DATASET_KERNEL_REFERENCE_H_
#define KERNELMILL_COMMON_DATASET_KERNEL_REFERENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// References to kernels, found again by the kernels that they name. A reference names a kernel if
// all that it gives holds: its id is the kernel's, or "sha256:" and the hash of the kernel's
// source; the repository, path and line are the kernel's; the name is its name or qualified name.
// Keeps pointers to the references. Not thread-safe.
class KernelReferences {
 public:
  // The references are numbered from 0 as they are added.
  void Add(const v1::KernelReference& reference);
  bool empty() const { return references_.empty(); }

  // The numbers of the references that name `kernel`, which has its id, of `repository`; ascending.
  std::vector<uint32_t> Naming(const std::string& repository, const v1::Kernel& kernel) const;

 private:
  std::vector<const v1::KernelReference*> references_;
  // By what they are looked up by: a path, else an id.
  absl::flat_hash_map<std::string, std::vector<uint32_t>> by_key_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_COMMON_DATASET_KERNEL_REFERENCE_H_
