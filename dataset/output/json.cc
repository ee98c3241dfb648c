#include "dataset/output/json.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"

namespace kernelmill::dataset {

Json Text(absl::string_view bytes) { return ToUtf8(bytes); }

Json TextOrNull(absl::string_view bytes) { return bytes.empty() ? Json() : Text(bytes); }

std::string EnumWord(absl::string_view name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

std::string WordOrNothing(absl::string_view name, absl::string_view prefix) {
  std::string word = EnumWord(name, prefix);
  return word == "unspecified" ? "" : word;
}

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
