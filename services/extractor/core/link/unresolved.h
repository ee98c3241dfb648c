#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_UNRESOLVED_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_UNRESOLVED_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/closure.h"

namespace kernelmill::extractor {

// By name: what keeps a module from standing alone, and why (v1::UnresolvedName). That are names
// that nothing in it gives a meaning to, and modules that statements in it import and that are not
// installed with Triton, torch, JAX or Python. `statement` is the kernel's own; null where its
// source is all of it.
using UnresolvedNames = std::map<std::string, absl::string_view>;
UnresolvedNames FindUnresolvedNames(const SourceScope& scope, const Closure& closure,
                                    const v1::Definition* statement);

// Sets the kernel's unresolved_names, free_names and self_contained by it.
void SetUnresolvedNames(const UnresolvedNames& names, const Closure& closure, v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_UNRESOLVED_H_
