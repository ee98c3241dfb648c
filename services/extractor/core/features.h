#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_FEATURES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_FEATURES_H_

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/functions.h"
#include "services/extractor/core/kernels.h"

namespace kernelmill::extractor {

// Sets the kernel's `features`: which parts of Triton's language its definition names, called or
// not, and which options it gives to calls. The words are those of the tables in the source.
void AddFeatures(const ParsedFile& file, const JitFunction& function, v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_FEATURES_H_
