#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_OUTPUT_JSON_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_OUTPUT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::exporter {

// An object's keys are kept sorted.
using Json = nlohmann::json;

// Bytes of a repository as text: what is not UTF-8 is replaced by U+FFFD.
Json Text(absl::string_view bytes);

// A list of such texts.
template <typename Range>
Json TextList(const Range& texts) {
  Json list = Json::array();
  for (const auto& text : texts) list.push_back(Text(text));
  return list;
}

// The word of an enum's value: DSL_TRITON with the prefix DSL_ is "triton".
std::string EnumWord(absl::string_view name, absl::string_view prefix);

// Sets object[key] to the text; where that had to be repaired, object[key + "_base64"] to the exact
// bytes.
void SetText(Json& object, const std::string& key, absl::string_view bytes);

// A whole number without a point, any other in its shortest form.
Json Number(double value);

// Canonical form: sorted keys, no blanks, UTF-8 as it is, only what must be is escaped. No newline.
std::string Canonical(const Json& json);

// Indented by two, with a newline at the end: for the files that people read.
std::string Pretty(const Json& json);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_OUTPUT_JSON_H_
