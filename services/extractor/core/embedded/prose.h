#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

enum class FencedLanguage : uint8_t { kPython, kCuda, kUnnamed, kOther };

// The lines between two Markdown fences, ```python and ```.
struct FencedBlock {
  size_t fence;  // the beginning of the opening fence's line
  size_t begin;  // [begin, end) are the lines between the fences
  size_t end;
  size_t fence_end;  // after the closing fence's line
  FencedLanguage language;
};

// Finds all blocks in order. As in CommonMark, a fence is three or more of ` or ~, and is closed by
// at least as many, or by the end of the text. Unlike there, it may be indented by any number of
// blanks.
std::vector<FencedBlock> FindFencedBlocks(absl::string_view text);

// Replaces everything except the blocks of one language by blanks. Line ends stay, so offsets and
// lines are those of the text, and the blocks are one program, like the cells of a notebook.
std::string InsideFences(absl::string_view text, const std::vector<FencedBlock>& blocks,
                         FencedLanguage language);

// Replaces the blocks and their fences by blanks.
std::string OutsideFences(absl::string_view text, const std::vector<FencedBlock>& blocks);

// Replaces prose between Python code by blanks: all lines except import statements and definitions
// of functions and classes, with their decorators. A parser cannot skip prose by itself, because
// one apostrophe can make it take all the rest for a string. Line ends stay, so offsets and lines
// are those of the text.
std::string WithoutProse(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_
