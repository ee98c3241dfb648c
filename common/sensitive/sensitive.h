#ifndef KERNELMILL_COMMON_SENSITIVE_SENSITIVE_H_
#define KERNELMILL_COMMON_SENSITIVE_SENSITIVE_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::sensitive {

inline constexpr size_t kMaxSensitive = 100;

// Secrets and e-mail addresses in the texts of a kernel that are exported: its module and its
// source, and the function that launches it. Sorted by text and place; at most kMaxSensitive.
// Secrets are looked for everywhere, by the forms that services give theirs and as literals that
// are assigned to what is called a password or key; addresses in comments and strings alone, since
// a@b.to(c) multiplies matrices, but anywhere in a whole file of prose or data.
std::vector<v1::Sensitive> FindSensitive(const v1::Kernel& kernel);

}  // namespace kernelmill::sensitive

#endif  // KERNELMILL_COMMON_SENSITIVE_SENSITIVE_H_
