#ifndef KERNELMILL_COMMON_DOCUMENTS_FENCES_H_
#define KERNELMILL_COMMON_DOCUMENTS_FENCES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::documents {

enum class BlockLanguage : uint8_t { kPython, kCuda, kUnnamed, kOther };

inline bool IsOneOf(absl::string_view word, std::initializer_list<absl::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Reads the language that a fence or a directive names: "python title=x", "{python}", "{.cuda}",
// "{code-cell} ipython3", "c++". Nothing, or only attributes, is kUnnamed.
BlockLanguage ReadLanguage(absl::string_view info);

// The lines between two Markdown fences, ```python and ```.
struct FencedBlock {
  size_t fence;  // the beginning of the opening fence's line
  size_t begin;  // [begin, end) are the lines between the fences
  size_t end;
  size_t fence_end;  // after the closing fence's line
  BlockLanguage language;
};

// Finds all blocks in order. As in CommonMark, a fence is three or more of ` or ~, and is closed by
// at least as many, or by the end of the text. Unlike there, it may be indented by any number of
// blanks. An opening fence may follow a list's mark. The options with which a block of MyST begins
// (":tags: x", or lines between two "---") are left out of [begin, end).
std::vector<FencedBlock> FindFencedBlocks(absl::string_view text);

// Does the same for a text with quotes, and replaces their marks ("> ") by blanks, except within
// fences that were opened outside a quote. Offsets and lines stay.
std::vector<FencedBlock> FindBlocksAndUnquote(std::string& text);

// Finds the indented blocks of Markdown in [begin, end), a part of the text without fences: lines
// that are indented by a tab or four blanks, after an empty line. `fence` and `fence_end` are their
// own begin and end; their language is kUnnamed.
std::vector<FencedBlock> FindIndentedCode(absl::string_view text, size_t begin, size_t end);

// Replaces the prompts of a doctest (">>> ", "... ") in text[begin, end) by blanks, and the lines
// of output altogether. Does nothing if the first line that is not blank has no prompt.
void RemovePrompts(size_t begin, size_t end, std::string& text);

// Replaces text[begin, end) by blanks, except for line ends.
void Blank(size_t begin, size_t end, std::string& text);

}  // namespace kernelmill::documents

#endif  // KERNELMILL_COMMON_DOCUMENTS_FENCES_H_
