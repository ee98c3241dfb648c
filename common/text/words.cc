#include "common/text/words.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/base/hash.h"

namespace kernelmill {
namespace {

using absl::string_view;

bool IsWordByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Returns true for a line that can be part of a notice: blank, or a comment of any language.
bool IsComment(string_view line) {
  line = absl::StripLeadingAsciiWhitespace(line);
  if (line.empty()) return true;
  for (const string_view mark : {"#", "//", "/*", "*", "--", "<!--", ";"}) {
    if (absl::StartsWith(line, mark)) return true;
  }
  return false;
}

// Returns the text without the comment at its head, if that is a notice.
string_view SkipNotice(string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (!IsComment(text.substr(at, end - at))) break;
    at = end;
  }
  const std::string head = absl::AsciiStrToLower(text.substr(0, at));
  const bool is_notice = absl::StrContains(head, "copyright") ||
                         absl::StrContains(head, "license") || absl::StrContains(head, "licence");
  return is_notice ? text.substr(at) : text;
}

}  // namespace

std::vector<uint64_t> HashWords(string_view text) {
  std::vector<uint64_t> words;
  std::string word;
  text = SkipNotice(text);
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && IsWordByte(text[at])) {
      word += absl::ascii_tolower(static_cast<unsigned char>(text[at]));
    } else if (!word.empty()) {
      words.push_back(StableHash64(word));
      word.clear();
    }
  }
  return words;
}

}  // namespace kernelmill
