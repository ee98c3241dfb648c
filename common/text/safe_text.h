#ifndef KERNELMILL_COMMON_TEXT_SAFE_TEXT_H_
#define KERNELMILL_COMMON_TEXT_SAFE_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Untrusted text, made safe for terminals and HTML pages. All code that prints text of
// repositories, or writes it to a page, uses these functions. They accept any bytes and are
// thread-safe.

// Returns the text as lines of at most `width` characters that are safe to print. Longer lines
// continue below, and a tab becomes four blanks. Characters that a terminal would act on or hide
// are spelled out: control characters as \x1b, characters that reorder or hide text as \u202e,
// bytes that are not UTF-8 as \xff.
std::vector<std::string> SafeLines(absl::string_view text, int width);

// Returns the text as one line that is safe to print, as SafeLines: for terminals, logs and
// Markdown. A tab becomes a blank, and a line end is spelled out.
std::string SafeLine(absl::string_view text);
// Returns the text with its lines and tabs, and all else as SafeLine does.
std::string SafeText(absl::string_view text);

// A character of a text, or a byte that is not UTF-8. `spelled` is its safe form if it must not be
// shown as it is, and empty otherwise, also for a tab.
struct SafePiece {
  absl::string_view bytes;
  std::string spelled;
};
// Removes the first piece of a text that is not empty, and returns it.
SafePiece TakeSafePiece(absl::string_view* text);

// Escapes a text for an HTML element or a quoted attribute, without other changes.
std::string EscapeHtml(absl::string_view text);

// Escapes a text as one line for readers. Characters that a browser would act on, or that reorder
// or hide text, are spelled out, as in \u202e.
std::string HtmlLine(absl::string_view text);

// Escapes code for an HTML element. The element's text is the exact text, with its line ends.
// Characters that reorder or hide text are isolated in <bdi class="u" data-u="\u202e">, so that a
// style can show them.
std::string HtmlCode(absl::string_view text);

// Returns "https" and "http" URLs as they are, and "" for other texts: a link to another scheme
// could run scripts or read local files.
absl::string_view WebUrl(absl::string_view url);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_TEXT_SAFE_TEXT_H_
