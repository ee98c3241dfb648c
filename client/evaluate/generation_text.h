#ifndef KERNELMILL_CLIENT_EVALUATE_GENERATION_TEXT_H_
#define KERNELMILL_CLIENT_EVALUATE_GENERATION_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// What of a model's answer is code.

// The code in an answer:
//   1. What stands before the last </think> is left out.
//   2. An answer that goes on with code ends at its first bare fence. It does so where the prompt
//      leaves a fence open, or its first line that is not blank is indented or begins with import,
//      from, def, class or @.
//   3. Else the text within its first fence that is tagged py, python, python3 or triton; without
//      one within its first fence at all. A fence that is not closed ends with the text.
//   4. An answer without a fence is code as it is.
// A fence is a line that begins, after at most three blanks, with ``` or ~~~.
std::string CodeOf(absl::string_view prompt, absl::string_view answer);

// Whether a line of it defines a function.
bool HasDefinition(absl::string_view code);

// Prompt and code joined, with a line end between, where the code continues the prompt: it has no
// definition, and the code of the prompt has. Else the code.
std::string WholeText(absl::string_view prompt, absl::string_view code);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_GENERATION_TEXT_H_
