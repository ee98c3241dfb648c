#ifndef KERNELMILL_COMMON_SENSITIVE_SENSITIVE_H_
#define KERNELMILL_COMMON_SENSITIVE_SENSITIVE_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::sensitive {

// The most findings that are listed for one kernel. A file with more cannot be redacted and is
// rejected.
inline constexpr size_t kMaxSensitive = 100;

// Returns the secrets and e-mail addresses in the exported texts of a kernel: its source, its
// module and the function that launches it. Sorted by text and place, at most kMaxSensitive.
//
// Secrets are looked for everywhere: by the forms that services give their keys and tokens, and as
// literals assigned to a name such as "password" or "api_key". Addresses are looked for in comments
// and strings only, since a@b.to(c) multiplies matrices; in a whole file of prose or data they are
// looked for everywhere.
std::vector<v1::Sensitive> FindSensitive(const v1::Kernel& kernel);

}  // namespace kernelmill::sensitive

#endif  // KERNELMILL_COMMON_SENSITIVE_SENSITIVE_H_
