#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_QUALIFIER_MACROS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_QUALIFIER_MACROS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/cuda/source.h"

namespace kernelmill::extractor::cuda {

// The macros of a source that stand for a qualifier of CUDA, for the files that do not define them:
// #define DEVICE __device__ in a header, `DEVICE float f() {}` in another file. Immutable.
//
// A macro counts if one of its definitions holds a qualifier, or another such macro, and all others
// are empty or consist of words: `#define DEVICE` and `#define DEVICE inline` are for a compiler of
// the host. The includes of a file are not asked: a build may force one.
class QualifierMacros {
 public:
  explicit QualifierMacros(const Source& source);

  // Adds the functions of the shard's files that only such macros mark, behind its other kernels.
  // Returns how many these are. The shard still has the texts of its files.
  int AddFunctions(v1::KernelShard& shard) const;

 private:
  std::vector<std::string> kernel_;  // sorted
  std::vector<std::string> device_;
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_QUALIFIER_MACROS_H_
