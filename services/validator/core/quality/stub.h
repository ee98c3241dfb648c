#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_STUB_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_STUB_H_

#include <cstdint>

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

enum class Stub : uint8_t {
  kNone,     // its body does something
  kEmpty,    // pass, ..., return, raise NotImplementedError and strings alone
  kPrints,   // these, and prints
  kAsserts,  // these, and assertions, perhaps prints
};

// Whether the kernel's body does nothing. An empty device function of CUDA is none: constructors
// are, and so are hooks.
Stub StubOf(const v1::Kernel& kernel);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_STUB_H_
