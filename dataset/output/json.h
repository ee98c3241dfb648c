#ifndef KERNELMILL_DATASET_OUTPUT_JSON_H_
#define KERNELMILL_DATASET_OUTPUT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

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

// Null where there is nothing.
Json TextOrNull(absl::string_view bytes);

// Sets what the RFC 6901 pointer names to the text; where that had to be repaired, the row's
// `not_utf8`, a list of {field, base64}, gets the pointer and the exact bytes. For JSON that is
// made by hand; FillNotUtf8 (dataset/rows/row_json.h) finds such fields in the message of a row.
void SetText(Json& row, const std::string& pointer, absl::string_view bytes);

// Always with a point or an exponent, so that a column of such numbers is of one type: 1.0.
Json Number(double value);

// Canonical form: sorted keys, no blanks, UTF-8 as it is, only what must be is escaped. No newline.
std::string Canonical(const Json& json);

// Appends to canonical JSON: bytes as Text has them, in quotes; a number as Number has it.
void AppendJsonText(absl::string_view bytes, std::string* out);
void AppendNumber(double value, std::string* out);

// Indented by two, with a newline at the end: for the files that people read.
std::string Pretty(const Json& json);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_OUTPUT_JSON_H_
