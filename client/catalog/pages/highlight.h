#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_HIGHLIGHT_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_HIGHLIGHT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

namespace kernelmill::client {

// Code as HTML: a <span class="l"> for each line with its number and, with `anchors`, an id
// ("L12"). Its text without the numbers is the original text, in whole lines up to `max_bytes` of
// HTML; `lines` is their number.
//
// Classes: k keyword, s string, c comment, n1 number, f called function, d decorator, b constant.
struct HighlightedCode {
  std::string html;
  int lines = 0;
  bool cut = false;
};
HighlightedCode HighlightCode(absl::string_view text, code::Language language, int first_line,
                              bool anchors, size_t max_bytes);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_HIGHLIGHT_H_
