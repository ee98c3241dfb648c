#ifndef KERNELMILL_COMMON_CODE_PYTHON_LAYOUT_H_
#define KERNELMILL_COMMON_CODE_PYTHON_LAYOUT_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// A statement that was cut from a file, as it may stand in a text of its own. What is inside string
// literals is never changed, but for line ends, which CPython reads as \n there too. All are total
// on any bytes and take linear time.
namespace kernelmill::code {

// The text with \n for every \r\n and every lone \r.
std::string WithUnixLineEnds(absl::string_view text);

// Every line without the first line's indentation. A line that begins within a string literal stays
// as it is; a comment or the inside of brackets that is indented less loses what it has. Nothing
// where a statement begins with other blanks than the first line does.
std::optional<std::string> DedentPython(absl::string_view text);

// The statement with \n alone for line ends, one at its end, no byte order mark and no indentation;
// a method without its decorators @staticmethod and @classmethod, which mean nothing outside of a
// class. Lines go at its beginning alone: those after are as many as they were. Nothing where
// DedentPython gives nothing.
std::optional<std::string> AtModuleLevel(absl::string_view statement);

// Where the last `lines` lines of a text begin, whose lines end with \n.
size_t BeginOfLastLines(absl::string_view text, size_t lines);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_PYTHON_LAYOUT_H_
