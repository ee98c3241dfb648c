#ifndef KERNELMILL_COMMON_DOCUMENTS_PROSE_CONTEXT_H_
#define KERNELMILL_COMMON_DOCUMENTS_PROSE_CONTEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::documents {

// The prose of Markdown or reStructuredText above a block of code. Give it all text between the
// blocks, in order. Not thread-safe.
//
// A heading is a line after one to six "#", or a line that is underlined: by "=" or "-", in
// reStructuredText by any of its marks. A paragraph is lines without an empty one or an image
// between them. It belongs to the next block alone, and a heading holds for all blocks up to the
// next one.
class ProseContext {
 public:
  // Longer texts are cut there, at a character.
  static constexpr size_t kMaxHeading = 256;
  static constexpr size_t kMaxParagraph = 2048;

  // Reads the text before the next block.
  void Read(absl::string_view text);
  // Begins a new block: what was the paragraph before the last one is not before the next one.
  void EndBlock() { paragraph_.clear(); }

  const std::string& heading() const { return heading_; }
  // Returns the last paragraph that was read, its lines joined by blanks; empty if a heading or a
  // block came after it.
  const std::string& paragraph() const { return paragraph_; }

 private:
  void SetHeading(absl::string_view text);

  std::string heading_;
  std::string paragraph_;
};

// Returns the text with each run of white space as one blank, cut to `max_bytes` at a character.
std::string Collapse(absl::string_view text, size_t max_bytes);

}  // namespace kernelmill::documents

#endif  // KERNELMILL_COMMON_DOCUMENTS_PROSE_CONTEXT_H_
