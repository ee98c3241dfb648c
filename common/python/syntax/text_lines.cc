#include "common/python/syntax/text_lines.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace kernelmill::python {
namespace {

// Rewrites text[begin, end), which is indentation, as form feeds (which stand for nothing) and tabs
// of 8, so that both ways to count agree.
void RewriteIndentation(std::string& text, size_t begin, size_t end) {
  const size_t last_tab = text.rfind('\t', end - 1);
  size_t column = 0;
  for (size_t i = begin; i <= last_tab; ++i) {
    column = text[i] == '\t' ? (column / 8 + 1) * 8 : column + 1;
  }
  const size_t tabs = column / 8;
  const size_t width = last_tab + 1 - begin;
  for (size_t i = 0; i < width; ++i) text[begin + i] = i + tabs < width ? '\f' : '\t';
}

// Returns whether a blank comes before a tab in text[begin, end).
bool MixesBlanksAndTabs(absl::string_view text, size_t begin, size_t end) {
  const size_t tab = text.substr(begin, end - begin).rfind('\t');
  if (tab == absl::string_view::npos) return false;
  return text.substr(begin, tab).find(' ') != absl::string_view::npos;
}

// Returns the encoding that a comment in the first two lines declares (PEP 263), in lower case and
// with '-' between its words; empty if none does.
std::string FindDeclaredEncoding(absl::string_view text) {
  for (int line = 0; line < 2; ++line) {
    const size_t end = AfterLine(text, 0);
    absl::string_view rest = text.substr(0, end);
    text.remove_prefix(end);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\f"), rest.size()));
    if (!absl::StartsWith(rest, "#")) continue;
    for (size_t at = rest.find("coding"); at != absl::string_view::npos;
         at = rest.find("coding", at + 1)) {
      absl::string_view name = rest.substr(at + absl::string_view("coding").size());
      if (!absl::ConsumePrefix(&name, ":") && !absl::ConsumePrefix(&name, "=")) continue;
      name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
      const auto ends = [](char c) { return !absl::ascii_isalnum(c) && c != '-' && c != '_'; };
      const auto last = std::find_if(name.begin(), name.end(), ends);
      std::string found = absl::AsciiStrToLower(name.substr(0, last - name.begin()));
      std::replace(found.begin(), found.end(), '_', '-');
      if (!found.empty()) return found;
    }
  }
  return "";
}

// Returns whether the encoding has characters of two bytes with an ASCII second byte, which reads
// as a backslash, a quote or a bracket but is not. The first byte is never ASCII.
bool HasAsciiSecondBytes(absl::string_view encoding) {
  static constexpr absl::string_view kPrefixes[] = {
      "big5",  "big-5",   "csbig5",    "hkscs",      "gbk",        "gb18030",
      "johab", "uhc",     "shift-jis", "shiftjis",   "csshiftjis", "sjis",
      "s-jis", "mskanji", "ms-kanji",  "windows-31j"};
  for (const absl::string_view prefix : kPrefixes) {
    if (absl::StartsWith(encoding, prefix)) return true;
  }
  absl::string_view page = encoding;
  if (!absl::ConsumePrefix(&page, "cp")) absl::ConsumePrefix(&page, "ms");
  return page == "932" || page == "936" || page == "949" || page == "950" || page == "1361";
}

// Returns whether the byte begins a character of two bytes. In Japanese encodings bytes between the
// two ranges are characters of their own.
bool IsFirstByte(unsigned char byte, bool japanese) {
  if (byte < 0x81 || byte == 0xff) return false;
  return !japanese || byte < 0xa0 || byte >= 0xe0;
}

// Replaces second bytes that are ASCII by letters, which mean nothing within strings and comments.
void HideSecondBytes(absl::string_view encoding, std::string& text) {
  const bool japanese = absl::StrContains(encoding, "jis") || absl::StrContains(encoding, "932") ||
                        absl::StrContains(encoding, "kanji") || absl::StrContains(encoding, "31j");
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    if (!IsFirstByte(static_cast<unsigned char>(text[at]), japanese)) continue;
    char& second = text[++at];
    if (second >= '0' && second <= '~') second = 'x';
  }
}

}  // namespace

// Repairs what tree-sitter reads in another way than CPython: indentation of blanks and tabs, line
// ends of one carriage return, NUL, and characters whose second byte is ASCII. Each repair replaces
// bytes one for one, so that all places stay. There is no copy if nothing is repaired.
std::optional<std::string> TextForParser(absl::string_view text) {
  std::optional<std::string> copy;
  const size_t tab = text.find('\t');
  for (size_t begin = 0; tab < text.size() && begin < text.size(); begin = AfterLine(text, begin)) {
    const size_t end = begin + CountIndentation(text.substr(begin));
    if (MixesBlanksAndTabs(text, begin, end)) {
      if (!copy) copy = std::string(text);
      RewriteIndentation(*copy, begin, end);
    }
  }
  for (size_t at = text.find('\r'); at != absl::string_view::npos; at = text.find('\r', at + 1)) {
    if (at + 1 < text.size() && text[at + 1] == '\n') continue;
    if (!copy) copy = std::string(text);
    (*copy)[at] = '\n';
  }
  for (size_t at = text.find('\0'); at != absl::string_view::npos; at = text.find('\0', at + 1)) {
    if (!copy) copy = std::string(text);
    (*copy)[at] = ' ';
  }
  const std::string encoding = FindDeclaredEncoding(text);
  if (HasAsciiSecondBytes(encoding)) {
    if (!copy) copy = std::string(text);
    HideSecondBytes(encoding, *copy);
  }
  return copy;
}

size_t CountIndentation(absl::string_view text) {
  const size_t end = text.find_first_not_of(" \t");
  return end == absl::string_view::npos ? text.size() : end;
}

}  // namespace kernelmill::python
