#include "common/text/safe_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace kernelmill::client {
namespace {

// A character at the start of a text: its code point, and how many bytes it has; size 0 where
// there is none.
struct Character {
  uint32_t code = 0;
  size_t size = 0;
};

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

// Whether a terminal acts on it, or shows other text than there is.
bool IsUnsafe(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c ||
         (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
         (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe0fff);
}

// A piece as it is shown, which is never parted.
std::string Shown(const SafePiece& piece) {
  if (piece.bytes == "\t") return "    ";
  return piece.spelled.empty() ? std::string(piece.bytes) : piece.spelled;
}

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

}  // namespace kernelmill::client
