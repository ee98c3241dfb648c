#ifndef KERNELMILL_DATASET_ROWS_TESTING_ROW_CHECK_H_
#define KERNELMILL_DATASET_ROWS_TESTING_ROW_CHECK_H_

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataset/output/json.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {

inline void CheckFields(const std::string& where, const Json& object, const Fields& fields,
                        std::vector<std::string>* problems);

inline bool IsOf(const Json& value, const Field& field) {
  switch (field.type) {
    case Field::Type::kString:
      return value.is_string() &&
             (field.words.empty() || std::find(field.words.begin(), field.words.end(),
                                               value.get<std::string>()) != field.words.end());
    case Field::Type::kInteger:
      return value.is_number_integer();
    case Field::Type::kNumber:  // 1.0 and not 1, which some readers take for another type
      return value.is_number_float();
    case Field::Type::kBoolean:
      return value.is_boolean();
    case Field::Type::kStruct:
      return value.is_object();
  }
  return false;
}

inline void CheckValue(const std::string& where, const Json& value, const Field& field,
                       std::vector<std::string>* problems) {
  if (field.nullable && value.is_null()) return;
  // A JSON pointer alone is a text that may be empty and something.
  if (field.nullable && value == "" && field.name != "json_pointer") {
    problems->push_back(absl::StrCat(where, ": is empty where null says so"));
    return;
  }
  if (!IsOf(value, field)) {
    problems->push_back(absl::StrCat(where, ": ", value.dump(), " is of another type"));
  } else if (field.type == Field::Type::kStruct) {
    CheckFields(where, value, field.fields, problems);
  }
}

inline void CheckFields(const std::string& where, const Json& object, const Fields& fields,
                        std::vector<std::string>* problems) {
  if (object.size() > fields.size())
    problems->push_back(absl::StrCat(where, ": has fields of its own"));
  for (const Field& field : fields) {
    const std::string at = absl::StrCat(where, "/", field.name);
    if (!object.contains(field.name)) {
      problems->push_back(absl::StrCat(at, ": is not there"));
    } else if (!field.list) {
      CheckValue(at, object[field.name], field, problems);
    } else if (!object[field.name].is_array()) {
      problems->push_back(absl::StrCat(at, ": is no list"));
    } else {
      for (const Json& value : object[field.name]) CheckValue(at, value, field, problems);
    }
  }
}

// Returns what differs in a row from its file's schema; empty if nothing does.
inline std::vector<std::string> RowProblems(const Json& row, const RowSchema& schema) {
  std::vector<std::string> problems;
  CheckFields("", row, schema.fields, &problems);
  return problems;
}

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_TESTING_ROW_CHECK_H_
