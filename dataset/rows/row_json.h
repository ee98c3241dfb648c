#ifndef KERNELMILL_DATASET_ROWS_ROW_JSON_H_
#define KERNELMILL_DATASET_ROWS_ROW_JSON_H_

#include <google/protobuf/message.h>

#include <string>

#include "dataset/output/json.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {

// Fills `not_utf8` of a row: for each exact field that is not UTF-8 its RFC 6901 pointer and its
// bytes, in the order of the fields' declaration. Does nothing to a row without that field.
void FillNotUtf8(const RowSchema& schema, google::protobuf::Message* row);

// Appends a row as Canonical JSON (dataset/output/json.h) without a newline: every field of its
// message, texts with U+FFFD for bytes that are not UTF-8.
void AppendRowJson(const RowSchema& schema, const google::protobuf::Message& row, std::string* out);

// Returns any row message, or a part of one, as a JSON value.
template <typename Row>
Json ToJson(const Row& row) {
  std::string text;
  AppendRowJson(GetSchema<Row>(), row, &text);
  return Json::parse(text);
}

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_ROW_JSON_H_
