#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TEXT_SIGNALS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TEXT_SIGNALS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// Fills in what the kernel's text shows of how it was written: lengths of lines, share of comments.
void ReadLines(const v1::Kernel& kernel, v1::Quality* quality);

// Text that no person formatted: a line of over 1,000 bytes, or lines of over 200 on average.
bool IsMinified(const v1::Quality& quality);

// What says that a program wrote the kernel: "inductor", or the words in a comment or docstring in
// the first 4 KiB of its file, e.g. "do not edit"; empty where nothing does. "auto-generated" and
// the like count where the sentence is about the file: "for auto-generated code" says nothing.
std::string GeneratedSign(const v1::Kernel& kernel, absl::string_view file);

// The lines of comment that end right above the kernel in its file, which is where C has its
// documentation; at most 40. Empty of kernels in a JSON file's strings.
absl::string_view CommentAbove(const v1::Kernel& kernel, absl::string_view file);

// What people say of the kernel: the comment above it, its docstring and its comments.
std::string ProseOf(const v1::Kernel& kernel, absl::string_view comment_above);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TEXT_SIGNALS_H_
