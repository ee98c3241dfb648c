#include "common/text/safe_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/unsafe_text.h"

namespace kernelmill {
namespace {

// Returns a piece as it is shown. A line break never divides it.
std::string Shown(const SafePiece& piece) {
  if (piece.bytes == "\t") return "    ";
  return piece.spelled.empty() ? std::string(piece.bytes) : piece.spelled;
}

// Counts the characters of a piece. Each counts as one column, also wide ones.
int Columns(const std::string& piece) {
  return static_cast<int>(std::count_if(
      piece.begin(), piece.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

}  // namespace

SafePiece TakeSafePiece(absl::string_view* text) {
  const Utf8Character character = DecodeUtf8(*text);
  SafePiece piece{text->substr(0, std::max<size_t>(character.size, 1)), ""};
  text->remove_prefix(piece.bytes.size());
  if (character.size == 0) {
    piece.spelled = absl::StrFormat("\\x%02x", static_cast<uint8_t>(piece.bytes[0]));
  } else if (piece.bytes != "\t" && IsUnsafeCodePoint(character.code)) {
    piece.spelled = character.code < 0x100 ? absl::StrFormat("\\x%02x", character.code)
                                           : absl::StrFormat("\\u%04x", character.code);
  }
  return piece;
}

// Breaks lines by columns. A piece that is spelled out, like \x1b, is never divided.
std::vector<std::string> SafeLines(absl::string_view text, int width) {
  width = std::max(width, 8);
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    std::string shown;
    int columns = 0;
    while (!line.empty()) {
      const std::string piece = Shown(TakeSafePiece(&line));
      const int wide = Columns(piece);
      if (columns + wide > width) {
        lines.push_back(std::move(shown));
        shown.clear();
        columns = 0;
      }
      shown += piece;
      columns += wide;
    }
    lines.push_back(std::move(shown));
  }
  return lines;
}

namespace {

// Copies a text with its unsafe characters spelled out, except line ends if they are kept.
std::string SpellOut(absl::string_view text, bool keep_lines) {
  std::string safe;
  while (!text.empty()) {
    if (keep_lines && absl::ConsumePrefix(&text, "\r\n")) {
      safe += '\n';
      continue;
    }
    const SafePiece piece = TakeSafePiece(&text);
    const bool kept = piece.spelled.empty() || (keep_lines && piece.bytes == "\n");
    absl::StrAppend(&safe, kept ? piece.bytes : piece.spelled);
  }
  return safe;
}

}  // namespace

std::string SafeText(absl::string_view text) { return SpellOut(text, /*keep_lines=*/true); }

std::string SafeLine(absl::string_view text) {
  return absl::StrReplaceAll(SpellOut(text, /*keep_lines=*/false), {{"\t", " "}});
}

namespace {

constexpr int kLineWidth = 1000;  // a page breaks or scrolls shorter lines itself

bool IsPlain(char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; }

// Counts the bytes at the text's start that need no treatment except EscapeHtml().
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

// Copies runs of plain characters. An unsafe character is kept, so that copied code is right, but
// isolated in an element that shows its number.
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
      html += "&#13;";  // HTML would read a bare one as a line end
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

}  // namespace kernelmill
