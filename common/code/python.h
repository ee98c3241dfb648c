#ifndef KERNELMILL_COMMON_CODE_PYTHON_H_
#define KERNELMILL_COMMON_CODE_PYTHON_H_

#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"

// Python's literals and operators, as CPython 3.14 reads them: whoever cuts up Python asks here.
// All are total on any bytes and take time linear in what they pass over.
namespace kernelmill::code {

// What str.split and str.strip take for white space, of ASCII.
inline bool IsPythonSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

struct PythonPrefix {
  bool raw = false;
  bool bytes = false;
  bool replaces = false;            // fields in braces are code: f-strings and t-strings
  bool is_template_string = false;  // a t-string, which tree-sitter's grammar does not know
};

// What the letters before a quote say: r, u, b, f, t, br, fr, tr in any order and case, and Python
// 2's ur. Nothing where they are no prefix, so that a name stands before the string.
std::optional<PythonPrefix> ReadPythonPrefix(absl::string_view letters);

// One past the string literal whose opening quotes begin at `quote`. A backslash takes the next
// byte with it, in raw strings too. A string that is not closed ends with its line, or with the
// text if its quotes are triple. In a field of an f-string stands code, so that the same quotes may
// be used there again (PEP 701); a field of a string that is not triple-quoted ends with the line.
size_t EndOfPythonString(absl::string_view text, size_t quote, const PythonPrefix& prefix);

// One past the number that begins at `at` (see IsNumberAt): the longest that Python's grammar has,
// so that "1if" is 1 and a keyword, and "1..real" 1. and an attribute.
size_t EndOfPythonNumber(absl::string_view text, size_t at);

// One past the operator or delimiter at `at`, the longest that fits; any other byte is one by
// itself.
size_t EndOfPythonOperator(absl::string_view text, size_t at);

// Whether a string literal, with its prefix, has fields in braces that are code.
bool HasFields(absl::string_view literal);

// What a string literal holds, without prefix and quotes; escapes are left as written.
absl::string_view PythonStringContent(absl::string_view literal);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_PYTHON_H_
