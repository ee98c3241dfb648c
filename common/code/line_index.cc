#include "common/code/line_index.h"

#include <algorithm>

namespace kernelmill {

// Returns the beginning of the next line. Lines end with \n, \r\n or a bare \r.
size_t AfterLine(absl::string_view text, size_t begin) {
  const size_t newline = std::min(text.find('\n', begin), text.size());
  const size_t at = text.substr(0, newline).find('\r', begin);
  if (at == absl::string_view::npos) return std::min(newline + 1, text.size());
  return at + 1 == newline && newline < text.size() ? at + 2 : at + 1;
}

LineIndex::LineIndex(absl::string_view text) {
  starts_.reserve(text.size() / 32);
  size_t at = 0;
  while (at < text.size()) {
    starts_.push_back(static_cast<uint32_t>(at));
    at = AfterLine(text, at);
  }
  starts_.push_back(static_cast<uint32_t>(text.size()));
}

// Binary search for the last line that begins at or before the offset. The entry after the last
// line is not searched, so that an offset at the text's end is on the last line.
int LineIndex::LineAt(size_t offset) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end() - 1, offset);
  return static_cast<int>(after - starts_.begin());
}

// Counts each \n, then each \r without a \n after it, then a last line without an end.
int64_t CountLines(absl::string_view text) {
  if (text.empty()) return 0;
  int64_t lines = std::count(text.begin(), text.end(), '\n');
  for (size_t at = text.find('\r'); at != absl::string_view::npos; at = text.find('\r', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] != '\n') ++lines;
  }
  const bool ended = text.back() == '\n' || text.back() == '\r';
  return lines + (ended ? 0 : 1);
}

}  // namespace kernelmill
