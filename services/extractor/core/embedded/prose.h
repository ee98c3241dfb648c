#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/documents/fences.h"

namespace kernelmill::extractor {

// Replaces everything except the blocks of one language by blanks. Line ends stay, so offsets and
// lines are those of the text, and the blocks are one program, like the cells of a notebook.
std::string InsideFences(absl::string_view text, const std::vector<documents::FencedBlock>& blocks,
                         documents::BlockLanguage language);

// Replaces the blocks and their fences by blanks.
std::string OutsideFences(absl::string_view text,
                          const std::vector<documents::FencedBlock>& blocks);

// Replaces prose between Python code by blanks: all lines except import statements and definitions
// of functions and classes, with their decorators. A parser cannot skip prose by itself, because
// one apostrophe can make it take all the rest for a string. Line ends stay, so offsets and lines
// are those of the text.
std::string WithoutProse(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_
