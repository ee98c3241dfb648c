#include "common/text/safe_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace kernelmill {
namespace {

// A character at the start of a text: its code point and its number of bytes, which is 0 if the
// text does not begin with UTF-8.
struct Character {
  uint32_t code = 0;
  size_t size = 0;
};

// Decodes one character of UTF-8 (RFC 3629). Overlong forms, surrogates and numbers above 0x10ffff
// are not UTF-8: they could hide another character.
Character Decode(absl::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  uint32_t code = lead & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    code = code << 6 | (byte & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kLeast[size] || surrogate || code > 0x10ffff ? Character{} : Character{code, size};
}

// Returns true if a terminal acts on the character, or shows different text because of it.
bool IsUnsafe(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c ||
         (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
         (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe0fff);
}

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
  const Character character = Decode(*text);
  SafePiece piece{text->substr(0, std::max<size_t>(character.size, 1)), ""};
  text->remove_prefix(piece.bytes.size());
  if (character.size == 0) {
    piece.spelled = absl::StrFormat("\\x%02x", static_cast<uint8_t>(piece.bytes[0]));
  } else if (piece.bytes != "\t" && IsUnsafe(character.code)) {
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

std::string SafeLine(absl::string_view text) {
  std::string line;
  while (!text.empty()) {
    const SafePiece piece = TakeSafePiece(&text);
    if (piece.bytes == "\t") {
      line += ' ';
    } else if (piece.spelled.empty()) {
      absl::StrAppend(&line, piece.bytes);
    } else {
      line += piece.spelled;
    }
  }
  return line;
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
