#include "common/dataset/kernel_id.h"

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"

namespace kernelmill::dataset {

std::string KernelId(absl::string_view repository, absl::string_view commit,
                     const v1::Kernel& kernel) {
  const absl::string_view nul("\0", 1);
  std::string place = absl::StrCat(repository, nul, commit, nul, kernel.path(), nul,
                                   kernel.first_line(), nul, kernel.sha256());
  if (kernel.has_json_pointer()) absl::StrAppend(&place, nul, kernel.json_pointer());
  return Sha256Hex(place).substr(0, 32);
}

void SetKernelIds(const v1::SourceTree& tree, v1::KernelShard* shard) {
  for (v1::Kernel& kernel : *shard->mutable_kernels()) {
    if (kernel.id().empty()) kernel.set_id(KernelId(tree.repository(), tree.commit(), kernel));
  }
}

}  // namespace kernelmill::dataset
