#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_SYNTAX_TEXT_LINES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_SYNTAX_TEXT_LINES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// The lines of a text as CPython splits them: at \n, \r\n and a lone \r, and nowhere else. A line
// owns its line end. Immutable; refers to no text after construction.
class LineIndex {
 public:
  explicit LineIndex(absl::string_view text);

  int count() const { return static_cast<int>(starts_.size()) - 1; }
  // The line, from 1, that holds the byte at `offset`.
  int LineOf(size_t offset) const;
  // Offsets of a line's first byte and of the byte after its line end. 1 <= line <= count().
  size_t Begin(int line) const { return starts_[static_cast<size_t>(line) - 1]; }
  size_t End(int line) const { return starts_[static_cast<size_t>(line)]; }

 private:
  std::vector<uint32_t> starts_;  // and the text's size at the end
};

// How many lines LineIndex would find, without building one.
int64_t CountLines(absl::string_view text);

// A text of the same length in which a lone \r is \n and indentation that mixes blanks and tabs has
// the width that CPython gives it (a tab goes to the next multiple of 8), for a parser that counts
// otherwise. Nothing where `text` serves as it is.
std::optional<std::string> TextForParser(absl::string_view text);

// How many blanks and tabs `text` begins with.
size_t IndentationOf(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_SYNTAX_TEXT_LINES_H_
