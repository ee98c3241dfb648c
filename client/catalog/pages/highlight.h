#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_HIGHLIGHT_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_HIGHLIGHT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

namespace kernelmill::client {

// Code as HTML, a <span class="l"> for each line with its number and, with `anchors`, the id that
// links to lines name ("L12"). Its text, numbers aside, is the very text, up to where `max_bytes`
// of HTML are reached: whole lines, `lines` says how many.
//
// Classes: k keyword, s string, c comment, n1 number, f what is called, d decorator, b constant.
struct HighlightedCode {
  std::string html;
  int lines = 0;
  bool cut = false;
};
HighlightedCode HighlightCode(absl::string_view text, code::Language language, int first_line,
                              bool anchors, size_t max_bytes);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_HIGHLIGHT_H_
