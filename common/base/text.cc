#include "common/base/text.h"

#include <string.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

// Texts come from repositories and may be any bytes, while protobuf's strings, JSON and gRPC's
// messages must be UTF-8. ToUtf8 makes such text of any bytes.
namespace kernelmill {
namespace {

// Returns the length of the well-formed sequence at bytes[at], or 0. Bounds: Unicode, table 3-7.
size_t SequenceLength(absl::string_view bytes, size_t at) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[at + i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > bytes.size()) return 0;
  uint8_t low = 0x80, high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

// Returns whether eight bytes follow at bytes[at] and are ASCII, the common case in code.
bool AreAscii(absl::string_view bytes, size_t at) {
  uint64_t word;
  if (bytes.size() - at < sizeof(word)) return false;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return (word & 0x8080808080808080u) == 0;
}

// Returns whether a JSON string needs no escapes for `text`, and no repair.
bool IsPlain(absl::string_view text) {
  for (const char c : text) {
    if (static_cast<signed char>(c) < 0x20 || c == 0x7f || c == '"' || c == '\\')
      return false;  // from 0x80 on it is < 0
  }
  return true;
}

void AppendEscaped(char c, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  const uint8_t byte = static_cast<uint8_t>(c);
  if (c == '"' || c == '\\') {
    *out += '\\';
    *out += c;
  } else if (c == '\n') {
    *out += "\\n";
  } else if (c == '\r') {
    *out += "\\r";
  } else if (c == '\t') {
    *out += "\\t";
  } else if (byte < 0x20 || byte == 0x7f) {
    *out += "\\u00";
    *out += kHex[byte >> 4];
    *out += kHex[byte & 15];
  } else {
    *out += c;
  }
}

}  // namespace

// memmem is vectorized in glibc; absl::StrContains compares from each first letter on.
bool Contains(absl::string_view text, absl::string_view word) {
  return ::memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

absl::string_view FirstPart(absl::string_view dotted) { return dotted.substr(0, dotted.find('.')); }

absl::string_view LastPart(absl::string_view dotted) {
  return dotted.substr(dotted.rfind('.') + 1);  // npos + 1 is 0
}

// Most code is ASCII, so eight bytes are checked at a time, and single sequences only elsewhere.
bool IsUtf8(absl::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    if (AreAscii(bytes, at)) {
      at += sizeof(uint64_t);
      continue;
    }
    const size_t length = SequenceLength(bytes, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

// Replaces each byte that is not part of a well-formed sequence by U+FFFD. It goes on at the next
// byte after a bad one, so that a broken sequence costs as little text as possible.
std::string ToUtf8(absl::string_view bytes) {
  if (IsUtf8(bytes)) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = SequenceLength(bytes, at);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++at;
    } else {
      out.append(bytes.data() + at, length);
      at += length;
    }
  }
  return out;
}

// Most texts need no escapes and are copied whole. DEL is escaped too, since terminals interpret
// it.
std::string JsonString(absl::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  if (IsPlain(text)) {
    out.append(text.data(), text.size());
  } else {
    for (const char c : ToUtf8(text)) AppendEscaped(c, &out);
  }
  out += '"';
  return out;
}

}  // namespace kernelmill
