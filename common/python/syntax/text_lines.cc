#include "common/python/syntax/text_lines.h"

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

}  // namespace

// Repairs what tree-sitter reads in another way than CPython: indentation of blanks and tabs, line
// ends of one carriage return, NUL. Each repair replaces bytes one for one, so that all places
// stay. There is no copy if nothing is repaired.
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
  return copy;
}

size_t CountIndentation(absl::string_view text) {
  const size_t end = text.find_first_not_of(" \t");
  return end == absl::string_view::npos ? text.size() : end;
}

}  // namespace kernelmill::python
