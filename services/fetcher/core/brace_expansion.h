#ifndef KERNELMILL_SERVICES_FETCHER_CORE_BRACE_EXPANSION_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_BRACE_EXPANSION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// The patterns that a glob's {a,b} stand for, in order; the glob itself if it has none. Braces
// inside
// [...] and after a backslash are plain bytes. INVALID_ARGUMENT: unbalanced braces, more than 1024
// patterns, or more than 256 KiB of them.
absl::StatusOr<std::vector<std::string>> ExpandBraces(absl::string_view glob);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_BRACE_EXPANSION_H_
