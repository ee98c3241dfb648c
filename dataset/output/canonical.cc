// Writes JSON as nlohmann's dump does, to the byte. That decodes and copies each string byte by
// byte, which was most of rendering a kernel's rows: here what needs no escape is copied at once.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/text.h"
#include "dataset/output/json.h"

namespace kernelmill::dataset {
namespace {

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

constexpr std::array<bool, 256> MustBeEscaped() {
  std::array<bool, 256> escaped = {};
  for (size_t c = 0; c < 0x20; ++c) escaped[c] = true;
  escaped['"'] = escaped['\\'] = true;
  return escaped;
}
constexpr std::array<bool, 256> kMustBeEscaped = MustBeEscaped();

void AppendEscape(char c, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
    case '\\':
      out->append({'\\', c});
      return;
    case '\b':
      out->append("\\b");
      return;
    case '\t':
      out->append("\\t");
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\f':
      out->append("\\f");
      return;
    case '\r':
      out->append("\\r");
      return;
    default:
      out->append({'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]});
  }
}

// Whether one of the eight bytes from `at` on must be escaped: a byte that is 0 after an exclusive
// or with c is c; below 0x20 it is where taking that away borrows. Bytes above 0x7f are none.
bool EightNeedEscapes(absl::string_view text, size_t at) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  uint64_t bytes;
  __builtin_memcpy(&bytes, text.data() + at, sizeof(bytes));
  const auto below = [](uint64_t eight, uint64_t bound) {
    return (eight - kOnes * bound) & ~eight;
  };
  return ((below(bytes, 0x20) | below(bytes ^ (kOnes * '"'), 1) |
           below(bytes ^ (kOnes * '\\'), 1)) &
          kHighs) != 0;
}

void AppendUtf8(absl::string_view text, std::string* out) {
  out->push_back('"');
  size_t done = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    while (i + 8 < text.size() && !EightNeedEscapes(text, i)) i += 8;
    if (!kMustBeEscaped[static_cast<unsigned char>(text[i])]) continue;
    out->append(text.data() + done, i - done);
    AppendEscape(text[i], out);
    done = i + 1;
  }
  out->append(text.data() + done, text.size() - done);
  out->push_back('"');
}

void AppendString(const std::string& text, std::string* out) {
  IsUtf8(text) ? AppendUtf8(text, out) : absl::StrAppend(out, Dump(Json(text)));
}

void AppendValue(const Json& json, std::string* out) {
  if (json.is_string()) return AppendString(json.get_ref<const std::string&>(), out);
  if (json.is_object()) {
    char before = '{';
    for (const auto& [key, value] : json.get_ref<const Json::object_t&>()) {
      out->push_back(before);
      AppendString(key, out);
      out->push_back(':');
      AppendValue(value, out);
      before = ',';
    }
    out->append(json.empty() ? "{}" : "}");
    return;
  }
  if (json.is_array()) {
    char before = '[';
    for (const Json& element : json.get_ref<const Json::array_t&>()) {
      out->push_back(before);
      AppendValue(element, out);
      before = ',';
    }
    out->append(json.empty() ? "[]" : "]");
    return;
  }
  absl::StrAppend(out, Dump(json));
}

}  // namespace

void AppendJsonText(absl::string_view bytes, std::string* out) {
  IsUtf8(bytes) ? AppendUtf8(bytes, out) : AppendUtf8(ToUtf8(bytes), out);
}

void AppendNumber(double value, std::string* out) {
  if (!std::isfinite(value)) return absl::StrAppend(out, "null");  // as the library has it
  std::array<char, 64> digits;
  char* const end = nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(),
                                               value == 0 ? 0.0 : value);  // no -0.0
  out->append(digits.data(), end);
}

std::string Canonical(const Json& json) {
  std::string out;
  AppendValue(json, &out);
  return out;
}

}  // namespace kernelmill::dataset
