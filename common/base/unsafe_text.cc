#include "common/base/unsafe_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/text.h"

namespace kernelmill {
namespace {

// Appends a code point as JSON escapes it: above 0xffff as two surrogates.
void AppendJsonEscape(uint32_t code, std::string* to) {
  if (code < 0x10000) {
    absl::StrAppend(to, "\\u", absl::Hex(code, absl::kZeroPad4));
    return;
  }
  code -= 0x10000;
  absl::StrAppend(to, "\\u", absl::Hex(0xd800 + (code >> 10)), "\\u",
                  absl::Hex(0xdc00 + (code & 0x3ff)));
}

bool IsAscii(char c) { return static_cast<signed char>(c) >= 0; }

}  // namespace

Utf8Character DecodeUtf8(absl::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (text.size() < size || !IsUtf8(text.substr(0, size))) return {};
  uint32_t code = lead & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<uint8_t>(text[i]) & 0x3f);
  return {code, size};
}

bool IsUnsafeCodePoint(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c ||
         (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
         (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe0fff);
}

// JSON escapes control characters of ASCII by itself; those that are left are line ends between
// values. Most texts are ASCII and stay as they are.
std::string EscapeUnsafeJson(std::string json) {
  if (std::all_of(json.begin(), json.end(), IsAscii)) return json;
  std::string escaped;
  for (absl::string_view rest = json; !rest.empty();) {
    const Utf8Character character = DecodeUtf8(rest);
    const size_t size = std::max<size_t>(character.size, 1);
    if (size > 1 && IsUnsafeCodePoint(character.code)) {
      AppendJsonEscape(character.code, &escaped);
    } else {
      absl::StrAppend(&escaped, rest.substr(0, size));
    }
    rest.remove_prefix(size);
  }
  return escaped;
}

}  // namespace kernelmill
