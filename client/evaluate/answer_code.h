#ifndef KERNELMILL_CLIENT_EVALUATE_ANSWER_CODE_H_
#define KERNELMILL_CLIENT_EVALUATE_ANSWER_CODE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// Returns the code in an answer:
//
//   1. Thinking is dropped: the text before the last mark that ends thinking, and the text after a
//      mark at the beginning of a line that begins thinking and is never ended. answer_code.cc has
//      the marks of the models.
//   2. If the rest begins with code, the code ends at the first bare fence. It begins with code if
//      the prompt leaves a fence open, or if its first line that is not blank is indented or begins
//      with import, from, def, class or @.
//   3. Otherwise fences tagged py, python, python3 or triton count, or all if none has such a tag.
//      The code is the last fence that holds a kernel, with the other fences that are parts of the
//      same file, in the order of the text. A fence is a part if it defines no function or class
//      that the file defines already, and
//        - it binds a name that the file reads and does not bind, or
//        - it reads a name that the file binds, defines a function or class, and runs nothing: it
//          has only definitions, imports and assignments.
//      If no fence holds a kernel, the code is the first fence. An open fence ends with the text.
//   4. Text without a fence is all code.
//
// A fence is a line that begins with ``` or ~~~ after at most three blanks.
std::string ExtractCode(absl::string_view prompt, absl::string_view answer);

// Returns whether a line of the code defines a function.
bool HasDefinition(absl::string_view code);

// Returns the code that a prompt shows: its last fence, which may be open; without a fence all.
std::string ShownCode(absl::string_view prompt);

// Returns prompt and code, with a line end between them, if the code continues the prompt: if the
// code has no definition, and the code in the prompt has one. Otherwise returns the code.
std::string WholeText(absl::string_view prompt, absl::string_view code);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_ANSWER_CODE_H_
