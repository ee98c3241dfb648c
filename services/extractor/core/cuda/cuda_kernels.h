#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_KERNELS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_KERNELS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Whether the path's extension is one of C++'s, CUDA's or HIP's.
bool IsCudaPath(absl::string_view path);

// Whether a text of C++ can define a kernel or a device function. Cheap: most texts cannot.
bool MayHoldCuda(absl::string_view text);

// Adds the text to the shard's definitions, for the link stage.
void AddCudaText(absl::string_view path, absl::string_view text, v1::KernelShard& shard);

// Adds the __global__ and __device__ functions of a text to the shard, and what is said of the file
// to its entry. RESOURCE_EXHAUSTED, before anything is added: functions within functions repeat
// more than `max_bytes` of text; the message is the reason.
absl::Status AddCudaKernels(absl::string_view path, absl::string_view text, size_t max_bytes,
                            v1::ExtractedFile& entry, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_KERNELS_H_
