#ifndef KERNELMILL_DATASET_ROWS_ROW_SCHEMA_H_
#define KERNELMILL_DATASET_ROWS_ROW_SCHEMA_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// A field of a row message with its options (kernelmill/v1/rows.proto): what readers that want one
// type a column (Arrow, Parquet, SQL) have to know.
struct Field {
  enum class Type { kString, kInteger, kNumber, kBoolean, kStruct };

  const google::protobuf::FieldDescriptor* descriptor = nullptr;
  // That of the message which has the field. Asking each message for it cost 1 % of an export.
  const google::protobuf::Reflection* reflection = nullptr;
  std::string name;
  std::string json_key;  // "name": with its quotes and colon
  Type type = Type::kString;
  std::string description;
  std::vector<Field> fields;            // the fields of a struct
  std::vector<int> by_name;             // places of `fields`, in the order of their names
  std::vector<std::string> words;       // all that a string can be; empty: any string
  std::vector<std::string> enum_words;  // of an enum: the word of each number
  bool list = false;                    // empty if there is nothing, never null
  bool nullable = false;                // null: does not apply, or not known
  bool exact = false;                   // bytes that are not UTF-8 go into `not_utf8`
  bool has_exact = false;               // this field or one within is exact
  int filled_bit = -1;                  // its bit in FilledFields; -1: never empty
};

using Fields = std::vector<Field>;

// The nullable fields and lists, at any depth, that have something in a row. A reader that guesses
// types learns a field's type from such rows alone.
inline constexpr size_t kMostFilledBits = 256;
using FilledFields = std::bitset<kMostFilledBits>;

// The field `not_utf8`, which FillNotUtf8 fills.
inline constexpr char kNotUtf8[] = "not_utf8";

// The message that every line of a file is, with its fields in the order of their declaration.
struct RowSchema {
  // Reads the schema from the descriptor of a message, which must outlive it; the message needs no
  // `row_file`.
  explicit RowSchema(const google::protobuf::Message& row);

  const google::protobuf::Message* prototype;
  std::string file;  // "kernels.jsonl"
  std::string description;
  Fields fields;
  std::vector<int> by_name;  // places of `fields`, in the order of their names
  const google::protobuf::FieldDescriptor* not_utf8;  // null if the message has no such field
  const google::protobuf::FieldDescriptor* split;     // likewise
  int filled_bits = 0;  // how many bits of FilledFields the fields have
};

// Returns which fields of the row have something.
FilledFields GetFilledFields(const RowSchema& schema, const google::protobuf::Message& row);

// Says whether the row has null for the field.
inline bool IsNull(const google::protobuf::Message& row, const Field& field) {
  return field.nullable && !field.reflection->HasField(row, field.descriptor);
}

// The value of a field that is not null, or of element `index` of a list; `index` is kNoElement for
// a field that is no list. A text is as the message has it, or the word of an enum; it lives as
// long as message and schema do, and `scratch`.
inline constexpr int kNoElement = -1;
absl::string_view GetText(const google::protobuf::Message& row, const Field& field, int index,
                          std::string* scratch);
int64_t GetInteger(const google::protobuf::Message& row, const Field& field, int index);
double GetNumber(const google::protobuf::Message& row, const Field& field, int index);
bool GetBoolean(const google::protobuf::Message& row, const Field& field, int index);
const google::protobuf::Message& GetStruct(const google::protobuf::Message& row, const Field& field,
                                           int index);

// The schema of a generated message, made once. Thread-safe.
template <typename Row>
const RowSchema& GetSchema() {
  static const RowSchema& schema = *new RowSchema(Row::default_instance());
  return schema;
}

// The schemas of all files of rows, in the order of DatasetFiles().
const std::vector<RowSchema>& RowSchemas();

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_ROW_SCHEMA_H_
