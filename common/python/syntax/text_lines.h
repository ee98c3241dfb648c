#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_TEXT_LINES_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_TEXT_LINES_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "common/code/line_index.h"

namespace kernelmill::python {

// A text of the same length in which a lone \r is \n and indentation that mixes blanks and tabs has
// the width that CPython gives it (a tab goes to the next multiple of 8), for a parser that counts
// otherwise. In an encoding that the text declares (PEP 263) and whose characters may end with an
// ASCII byte, such as Big5 and Shift JIS, these bytes are letters. Nothing where `text` serves as
// it is.
std::optional<std::string> TextForParser(absl::string_view text);

// How many blanks and tabs `text` begins with.
size_t CountIndentation(absl::string_view text);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_TEXT_LINES_H_
