#ifndef KERNELMILL_COMMON_CODE_LINE_INDEX_H_
#define KERNELMILL_COMMON_CODE_LINE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill {

// An index of a text's lines, as CPython splits them: only at \n, \r\n and a lone \r. A line
// includes its line end. Immutable, so that all threads may use it; it does not refer to the text
// after construction. Texts have fewer than 2^32 bytes.
class LineIndex {
 public:
  explicit LineIndex(absl::string_view text);

  int count() const { return static_cast<int>(starts_.size()) - 1; }
  // Returns the line, counted from 1, that contains the byte at `offset`.
  int LineAt(size_t offset) const;
  // Return the offsets of a line's first byte and of the byte after its line end, for 1 <= line <=
  // count().
  size_t Begin(int line) const { return starts_[static_cast<size_t>(line) - 1]; }
  size_t End(int line) const { return starts_[static_cast<size_t>(line)]; }

 private:
  std::vector<uint32_t> starts_;  // the begin of each line; the last entry is the text's size
};

// Counts the lines that LineIndex would find, without an index.
int64_t CountLines(absl::string_view text);

// Returns the offset after the line that begins at `begin`.
size_t AfterLine(absl::string_view text, size_t begin);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_CODE_LINE_INDEX_H_
