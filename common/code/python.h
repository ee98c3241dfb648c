#ifndef KERNELMILL_COMMON_CODE_PYTHON_H_
#define KERNELMILL_COMMON_CODE_PYTHON_H_

// The literals, operators and layout of Python, as CPython 3.14 reads them. All code that cuts up
// Python uses these functions. They accept any bytes, and take time linear in the bytes that they
// pass. An EndOf function returns the offset after the thing at `at`.

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::code {

// Returns true for the ASCII characters that str.split and str.strip treat as white space.
inline bool IsPythonSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

struct PythonPrefix {
  bool raw = false;
  bool bytes = false;
  bool replaces = false;            // fields in braces are code: f-strings and t-strings
  bool is_template_string = false;  // a t-string, which tree-sitter's grammar does not know
};

// Reads the letters before a quote: r, u, b, f, t, br, fr, tr in any order and case, and Python 2's
// ur. Returns nothing if they are not a prefix but a name.
std::optional<PythonPrefix> ReadPythonPrefix(absl::string_view letters);

// Returns the end of the string literal whose opening quotes begin at `quote`. A backslash escapes
// the next byte, in raw strings too. An unclosed string ends with its line, or with the text if its
// quotes are triple. A field of an f-string contains code, which may use the same quotes again (PEP
// 701). A field of a string without triple quotes ends with the line.
size_t EndOfPythonString(absl::string_view text, size_t quote, const PythonPrefix& prefix);

// Returns the end of the number at `at` (see IsNumberAt), the longest that Python's grammar allows:
// "1if" is 1 and a keyword, "1..real" is 1. and an attribute.
size_t EndOfPythonNumber(absl::string_view text, size_t at);

// Returns the end of the longest operator or delimiter at `at`. Any other byte counts as an
// operator of one byte.
size_t EndOfPythonOperator(absl::string_view text, size_t at);

// Returns true if a string literal, given with its prefix, has fields in braces that are code.
bool HasFields(absl::string_view literal);

// Returns the content of a string literal, without prefix and quotes; escapes stay as written.
absl::string_view PythonStringContent(absl::string_view literal);

// The next functions turn a statement that was cut from a file into a text of its own. They never
// change the inside of string literals, except line ends, which CPython reads as \n there too.

// Returns the text with \n for every \r\n and every lone \r.
std::string WithUnixLineEnds(absl::string_view text);

// Removes the first line's indentation from every line. A line that begins inside a string literal
// stays as it is. A comment or the inside of brackets that is indented less loses the indentation
// that it has. Returns nothing if a statement begins with other blanks than the first line does.
std::optional<std::string> DedentPython(absl::string_view text);

// Returns the statement with \n for line ends, one at its end, without a byte order mark and
// without indentation. A method loses its decorators @staticmethod and @classmethod, which have no
// meaning outside of a class. Lines are removed only at the beginning: their number from any place
// to the end stays the same. Returns nothing if DedentPython does.
std::optional<std::string> AtModuleLevel(absl::string_view statement);

// Returns the offset of the last `lines` lines of a text whose lines end with \n.
size_t BeginOfLastLines(absl::string_view text, size_t lines);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_PYTHON_H_
