#include "services/extractor/core/embedded/prose.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/code/brackets.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::extractor {

using python::CountIndentation;

namespace {

constexpr size_t kShortestFence = 3;

// A line that opens or closes a block.
struct Fence {
  char mark = '\0';
  size_t size = 0;         // 0 if the line is no fence
  absl::string_view info;  // the text after the marks
};

Fence FenceOn(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return {};
  const size_t size = std::min(line.find_first_not_of(line[0]), line.size());
  const absl::string_view info = absl::StripAsciiWhitespace(line.substr(size));
  const bool is_code_span = line[0] == '`' && info.find('`') != absl::string_view::npos;
  if (size < kShortestFence || is_code_span) return {};
  return {line[0], size, info};
}

bool Closes(const Fence& fence, const Fence& open) {
  return fence.mark == open.mark && fence.size >= open.size && fence.info.empty();
}

bool IsOneOf(absl::string_view word, std::initializer_list<absl::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Reads the language of a fence from its first word.
FencedLanguage ReadLanguage(absl::string_view info) {
  const std::string word =
      absl::AsciiStrToLower(info.substr(0, std::min(info.find_first_of(" \t{,:"), info.size())));
  if (word.empty()) return FencedLanguage::kUnnamed;
  if (IsOneOf(word, {"python", "py", "python3", "ipython", "triton"})) {
    return FencedLanguage::kPython;
  }
  if (IsOneOf(word, {"cuda", "cu", "cuh", "hip", "c++", "cpp", "cc", "c"})) {
    return FencedLanguage::kCuda;
  }
  return FencedLanguage::kOther;
}

void Blank(size_t begin, size_t end, std::string& text) {
  for (size_t at = begin; at < end; ++at) {
    if (text[at] != '\n' && text[at] != '\r') text[at] = ' ';
  }
}

// Returns whether a line is an import statement. English sentences begin with "from" and "import"
// as well, so the number of words must fit.
bool IsImportLine(absl::string_view line) {
  if (!absl::StartsWith(line, "import ") && !absl::StartsWith(line, "from ")) return false;
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words[0] == "from") return words.size() > 3 && words[2] == "import";
  return words.size() == 2 || (words.size() == 4 && words[2] == "as");
}

bool BeginsDefinition(absl::string_view line) {
  if (absl::StartsWith(line, "@")) return line.size() > 1 && absl::ascii_isalpha(line[1]);
  const bool defines = absl::StartsWith(line, "def ") || absl::StartsWith(line, "async def ") ||
                       absl::StartsWith(line, "class ");
  return defines && line.find_first_of("(:") != absl::string_view::npos;
}

// Decides line by line whether a text is code. A definition lasts as long as its lines are indented
// further than its first one.
class LineSorter {
 public:
  bool IsCode(absl::string_view line) {
    const absl::string_view content = absl::StripAsciiWhitespace(line);
    if (content.empty()) return true;
    const size_t column = CountIndentation(line);
    const bool begins = BeginsDefinition(content);
    if (begins && !(in_definition_ && column > column_)) {
      in_definition_ = true;
      column_ = column;
      return true;
    }
    if (in_definition_ &&
        (column > column_ || (column == column_ && code::IsClosingBracket(content[0])))) {
      return true;
    }
    in_definition_ = false;
    return IsImportLine(content);
  }

 private:
  bool in_definition_ = false;
  size_t column_ = 0;  // the definition's indentation
};

}  // namespace

// Outside a block any fence opens one. Within a block only the fence that closes it counts.
std::vector<FencedBlock> FindFencedBlocks(absl::string_view text) {
  std::vector<FencedBlock> blocks;
  const LineIndex lines(text);
  Fence open;
  for (int number = 1; number <= lines.count(); ++number) {
    const size_t begin = lines.Begin(number);
    const size_t end = lines.End(number);
    const Fence fence = FenceOn(text.substr(begin, end - begin));
    if (fence.size == 0) continue;
    if (open.size == 0) {
      open = fence;
      blocks.push_back({begin, end, text.size(), text.size(), ReadLanguage(fence.info)});
    } else if (Closes(fence, open)) {
      open = {};
      blocks.back().end = begin;
      blocks.back().fence_end = end;
    }
  }
  return blocks;
}

std::string InsideFences(absl::string_view text, const std::vector<FencedBlock>& blocks,
                         FencedLanguage language) {
  std::string inside(text);
  size_t at = 0;
  for (const FencedBlock& block : blocks) {
    if (block.language != language) continue;
    Blank(at, block.begin, inside);
    at = block.end;
  }
  Blank(at, text.size(), inside);
  return inside;
}

std::string OutsideFences(absl::string_view text, const std::vector<FencedBlock>& blocks) {
  std::string outside(text);
  for (const FencedBlock& block : blocks) Blank(block.fence, block.fence_end, outside);
  return outside;
}

std::string WithoutProse(absl::string_view text) {
  std::string code(text);
  const LineIndex lines(text);
  LineSorter sorter;
  for (int line = 1; line <= lines.count(); ++line) {
    const size_t begin = lines.Begin(line);
    const size_t end = lines.End(line);
    if (sorter.IsCode(text.substr(begin, end - begin))) continue;
    std::replace_if(
        code.begin() + static_cast<std::ptrdiff_t>(begin),
        code.begin() + static_cast<std::ptrdiff_t>(end),
        [](char c) { return c != '\n' && c != '\r'; }, ' ');
  }
  return code;
}

}  // namespace kernelmill::extractor
