#include "services/extractor/core/embedded/prose.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/code/brackets.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::extractor {

using documents::Blank;
using documents::BlockLanguage;
using documents::FencedBlock;
using python::CountIndentation;

namespace {

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

std::string InsideFences(absl::string_view text, const std::vector<FencedBlock>& blocks,
                         BlockLanguage language) {
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
