#include "common/text/html_text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr int kLineWidth = 1000;  // the page breaks or scrolls shorter lines by itself

bool IsPlain(char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; }

// How many bytes at the text's start can only be shown as they are.
size_t PlainBytes(absl::string_view text) {
  size_t size = 0;
  while (size < text.size() && IsPlain(text[size])) ++size;
  return size;
}

}  // namespace

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string HtmlLine(absl::string_view text) {
  return EscapeHtml(absl::StrJoin(SafeLines(text, kLineWidth), " "));
}

std::string HtmlCode(absl::string_view text) {
  std::string html;
  while (!text.empty()) {
    const size_t plain = PlainBytes(text);
    html += EscapeHtml(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const SafePiece piece = TakeSafePiece(&text);
    if (piece.spelled.empty()) {
      absl::StrAppend(&html, piece.bytes);
    } else if (piece.bytes == "\r") {
      html += "&#13;";  // a bare one would be read as a line end
    } else {
      absl::StrAppend(&html, "<bdi class=\"u\" data-u=\"", piece.spelled, "\">", piece.bytes,
                      "</bdi>");
    }
  }
  return html;
}

absl::string_view WebUrl(absl::string_view url) {
  const bool web = absl::StartsWith(url, "https://") || absl::StartsWith(url, "http://");
  return web ? url : absl::string_view();
}

}  // namespace kernelmill::client
