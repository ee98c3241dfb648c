#ifndef KERNELMILL_COMMON_TEXT_HTML_TEXT_H_
#define KERNELMILL_COMMON_TEXT_HTML_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// Texts of strangers as HTML has them, in elements and in quoted attributes. Whoever writes a page
// asks here.

// The very text.
std::string EscapeHtml(absl::string_view text);

// For people, on one line: what a browser would turn, hide or act on is spelled out, as in \u202e.
std::string HtmlLine(absl::string_view text);

// Code, for an element alone. Its text is the very text, line ends included; what would turn or
// hide other text is isolated, in <bdi class="u" data-u="\u202e">, so that a style can show it.
std::string HtmlCode(absl::string_view text);

// "https" and "http" URLs as they are, "" for any other text: a link to it would run or read what
// the page must not.
absl::string_view WebUrl(absl::string_view url);

}  // namespace kernelmill::client

#endif  // KERNELMILL_COMMON_TEXT_HTML_TEXT_H_
