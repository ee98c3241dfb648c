#include "services/compiler/core/cuda/cpp_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace kernelmill::compiler::cuda {

using absl::string_view;

bool IsWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string OneLine(string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    const string_view rest = text.substr(i);
    if (absl::StartsWith(rest, "//")) {
      i = std::min(text.find('\n', i), text.size());
      c = ' ';
    } else if (absl::StartsWith(rest, "/*")) {
      const size_t end = text.find("*/", i + 2);
      i = end == string_view::npos ? text.size() : end + 1;
      c = ' ';
    } else if (absl::StartsWith(rest, "\\\n")) {
      c = ' ';
    }
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return std::string(absl::StripAsciiWhitespace(out));
}

std::vector<std::string> SplitList(string_view list) {
  std::vector<std::string> entries;
  const std::string text = OneLine(list);
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    const string_view entry =
        absl::StripAsciiWhitespace(string_view(text).substr(begin, i - begin));
    if (!entry.empty()) entries.emplace_back(entry);
    begin = i + 1;
  }
  return entries;
}

std::string TakeLastWord(string_view& text) {
  size_t begin = text.size();
  while (begin > 0 && IsWord(text[begin - 1])) --begin;
  std::string word(text.substr(begin));
  text = absl::StripAsciiWhitespace(text.substr(0, begin));
  return word;
}

size_t FindWord(string_view text, string_view word, size_t begin) {
  if (word.empty()) return string_view::npos;
  for (size_t at = text.find(word, begin); at != string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsWord(text[at - 1])) && (end == text.size() || !IsWord(text[end]))) return at;
  }
  return string_view::npos;
}

bool HasWord(string_view text, string_view word) {
  return FindWord(text, word) != string_view::npos;
}

size_t FindClose(string_view text, size_t open) {
  const char opening = text[open];
  const char closing = opening == '<' ? '>' : opening == '(' ? ')' : '}';
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == opening) ++depth;
    if (text[i] == closing && --depth == 0) return i + 1;
  }
  return string_view::npos;
}

}  // namespace kernelmill::compiler::cuda
