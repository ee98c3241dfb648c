#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

enum class FencedLanguage : uint8_t { kPython, kCuda, kUnnamed, kOther };

// The lines between two fences of Markdown, ```python and ```, without these.
struct FencedBlock {
  size_t fence;  // where the opening fence's line begins
  size_t begin;
  size_t end;
  size_t fence_end;  // after the closing fence's line
  FencedLanguage language;
};

// All blocks in order. As in CommonMark, a fence is three or more of ` or ~ and is closed by as
// many, or by the end of the text; unlike there it may be indented by any number of blanks.
std::vector<FencedBlock> FindFencedBlocks(absl::string_view text);

// The text with blanks for all but the blocks of that language; line ends stay. So places in it are
// places in the text, and the blocks are one program, as the cells of a notebook are.
std::string InsideFences(absl::string_view text, const std::vector<FencedBlock>& blocks,
                         FencedLanguage language);

// The text with blanks for the blocks and their fences.
std::string OutsideFences(absl::string_view text, const std::vector<FencedBlock>& blocks);

// A text in which prose and Python stand side by side, with blanks for what looks like prose: all
// but import statements and the definitions of functions and classes, with their decorators. One
// apostrophe of prose can make a parser take all that follows for a string. Line ends stay, so that
// places are places in the text.
std::string WithoutProse(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_
