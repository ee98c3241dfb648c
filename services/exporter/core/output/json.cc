#include "services/exporter/core/output/json.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"

namespace kernelmill::exporter {

Json Text(absl::string_view bytes) { return ToUtf8(bytes); }

std::string EnumWord(absl::string_view name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

void SetText(Json& object, const std::string& key, absl::string_view bytes) {
  object[key] = Text(bytes);
  if (!IsUtf8(bytes)) object[key + "_base64"] = absl::Base64Escape(bytes);
}

Json Number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: below it every whole number is exact
  if (std::trunc(value) == value && std::fabs(value) < kExact) return static_cast<int64_t>(value);
  return value;
}

std::string Canonical(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Pretty(const Json& json) {
  return absl::StrCat(json.dump(2, ' ', false, Json::error_handler_t::replace), "\n");
}

}  // namespace kernelmill::exporter
