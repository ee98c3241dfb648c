#ifndef KERNELMILL_COMMON_CODE_LINE_INDEX_H_
#define KERNELMILL_COMMON_CODE_LINE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill {

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

// The offset after the line that begins at `begin`.
size_t AfterLine(absl::string_view text, size_t begin);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_CODE_LINE_INDEX_H_
