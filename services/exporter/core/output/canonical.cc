// Writes JSON as nlohmann's dump does, to the byte. That decodes and copies each string byte by
// byte, which was most of rendering a kernel's rows: here what needs no escape is copied at once.

#include <array>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/text.h"
#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {
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

void AppendString(const std::string& text, std::string* out) {
  if (!IsUtf8(text)) return absl::StrAppend(out, Dump(Json(text)));
  out->push_back('"');
  size_t done = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!kMustBeEscaped[static_cast<unsigned char>(text[i])]) continue;
    out->append(text, done, i - done);
    AppendEscape(text[i], out);
    done = i + 1;
  }
  out->append(text, done);
  out->push_back('"');
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

std::string Canonical(const Json& json) {
  std::string out;
  AppendValue(json, &out);
  return out;
}

}  // namespace kernelmill::exporter
