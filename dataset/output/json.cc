#include "dataset/output/json.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/text.h"

// Writes JSON in one canonical form: keys sorted, no blanks, shortest numbers, UTF-8 unescaped. It
// gives the same bytes as nlohmann::json's dump(), but faster: almost all of an export is text, in
// which eight bytes at a time are looked at, and runs without escapes are copied whole.
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

// Says whether one of the eight bytes from `at` on must be escaped. A byte that is 0 after an
// exclusive or with c is c; it is below 0x20 if subtracting that borrows. Bytes above 0x7f need no
// escape.
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

// Copies runs without escapes in whole pieces. The last eight bytes are looked at one by one.
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

// The library repairs text that is not UTF-8.
void AppendString(const std::string& text, std::string* out) {
  IsUtf8(text) ? AppendUtf8(text, out) : absl::StrAppend(out, Dump(Json(text)));
}

// The recursion is as deep as the value, which we made ourselves.
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

// Appends a text with quotes; broken UTF-8 is repaired.
void AppendJsonText(absl::string_view bytes, std::string* out) {
  IsUtf8(bytes) ? AppendUtf8(bytes, out) : AppendUtf8(ToUtf8(bytes), out);
}

// Uses the library's own function, so that numbers look the same in rows and in other files. 64
// bytes are more than any double takes.
void AppendNumber(double value, std::string* out) {
  if (!std::isfinite(value)) return absl::StrAppend(out, "null");  // as the library has it
  std::array<char, 64> digits;
  char* const end = nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(),
                                               value == 0 ? 0.0 : value);  // no -0.0
  out->append(digits.data(), end);
}

// Equal values give equal texts.
std::string Canonical(const Json& json) {
  std::string out;
  AppendValue(json, &out);
  return out;
}

Json Text(absl::string_view bytes) { return ToUtf8(bytes); }

Json TextOrNull(absl::string_view bytes) { return bytes.empty() ? Json() : Text(bytes); }

// A text that is not UTF-8 is repaired in its field, and its exact bytes go in base64 under
// `not_utf8`, with the field's pointer.
void SetText(Json& row, const std::string& pointer, absl::string_view bytes) {
  row[Json::json_pointer(pointer)] = Text(bytes);
  if (IsUtf8(bytes)) return;
  row["not_utf8"].push_back({{"field", pointer}, {"base64", absl::Base64Escape(bytes)}});
}

Json Number(double value) { return value == 0 ? 0.0 : value; }  // no -0.0

std::string Pretty(const Json& json) {
  return absl::StrCat(json.dump(2, ' ', false, Json::error_handler_t::replace), "\n");
}

}  // namespace kernelmill::dataset
