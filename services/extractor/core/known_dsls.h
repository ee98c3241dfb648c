#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_KNOWN_DSLS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_KNOWN_DSLS_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// The DSL whose own name it is for what makes a kernel of a function, as a decorator or a call:
// "triton.jit". DSL_UNSPECIFIED if it is none's. `resolved` is dotted and resolved through imports.
v1::Dsl DslThatMakes(absl::string_view resolved);

// The name of a DSL that is counted and not extracted, if a decorator `resolved` is of it; else
// empty.
absl::string_view OtherDslOf(absl::string_view resolved);

// Whether a text can hold such a decorator at all, and whether it can hold kernels of ours. Cheap.
bool MayUseOtherDsl(absl::string_view text);
bool MayUseKnownDsl(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_KNOWN_DSLS_H_
