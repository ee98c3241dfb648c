#ifndef KERNELMILL_DATASET_ROWS_FIELD_BUILDERS_H_
#define KERNELMILL_DATASET_ROWS_FIELD_BUILDERS_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataset/rows/field.h"

// Fields in one expression each, for the tables.

namespace kernelmill::dataset {

inline Field String(std::string name, std::string description) {
  return {std::move(name), Field::Type::kString, std::move(description)};
}
inline Field Integer(std::string name, std::string description) {
  return {std::move(name), Field::Type::kInteger, std::move(description)};
}
inline Field Number(std::string name, std::string description) {
  return {std::move(name), Field::Type::kNumber, std::move(description)};
}
inline Field Boolean(std::string name, std::string description) {
  return {std::move(name), Field::Type::kBoolean, std::move(description)};
}
// One of these words.
inline Field Word(std::string name, std::vector<std::string> words, std::string description) {
  Field field = String(std::move(name), std::move(description));
  field.words = std::move(words);
  return field;
}
inline Field Struct(std::string name, Fields fields, std::string description) {
  return {std::move(name), Field::Type::kStruct, std::move(description), std::move(fields)};
}
inline Field OrNull(Field field) {
  field.nullable = true;
  return field;
}
inline Field ListOf(Field field) {
  field.list = true;
  return field;
}

// The words of an enum's values but "unspecified", which rows have as null.
std::vector<std::string> WordsOf(const google::protobuf::EnumDescriptor* type,
                                 absl::string_view prefix);

inline void Append(const Fields& more, Fields* fields) {
  fields->insert(fields->end(), more.begin(), more.end());
}

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_FIELD_BUILDERS_H_
