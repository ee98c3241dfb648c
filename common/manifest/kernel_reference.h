#ifndef KERNELMILL_COMMON_MANIFEST_KERNEL_REFERENCE_H_
#define KERNELMILL_COMMON_MANIFEST_KERNEL_REFERENCE_H_

#include <string>

#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::manifest {

// Whether the reference names the kernel, which has its id, of `repository`: all that it gives
// holds. Its id is the kernel's, or "sha256:" and the hash of the kernel's source; the repository
// and the path are the kernel's, which stands on the line; the name is its name or qualified name.
bool NamesKernel(const v1::KernelReference& reference, const std::string& repository,
                 const v1::Kernel& kernel);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_KERNEL_REFERENCE_H_
