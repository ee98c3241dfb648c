#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_TAGS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_TAGS_H_

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Sets the kernel's tags: what operation it does, as its qualified name, the resolved names that it
// calls, its parameters' names and what it calls together tell, each with the first rule that gave
// it, in that order. None where nothing tells.
void AddTags(v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_TAGS_H_
