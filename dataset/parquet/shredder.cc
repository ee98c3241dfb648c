#include "dataset/parquet/shredder.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"

namespace kernelmill::dataset {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kShown = 80;  // bytes of a row in an error

template <typename T>
void AppendPlain(T value, std::string* out) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  char bytes[sizeof(T)];
  __builtin_memcpy(bytes, &value, sizeof(T));  // all machines that we run on are little-endian
  out->append(bytes, sizeof(T));
}

class Shredder {
 public:
  explicit Shredder(const Columns& columns) : columns_(columns) {
    rows_.columns.resize(columns.columns().size());
  }

  absl::Status AddRow(dom::element row) {
    ++rows_.rows;
    return AddStruct(columns_.root(), row, 0, 0);
  }

  ShreddedRows Take() { return std::move(rows_); }

 private:
  static absl::Status Wrong(const Field* field, absl::string_view problem) {
    return absl::InvalidArgumentError(
        absl::StrCat(field == nullptr ? "" : "/", field == nullptr ? "" : field->name, problem));
  }

  // The path to what is wrong, from the inside out.
  static absl::Status Within(const Field* field, const absl::Status& status) {
    if (status.ok() || field == nullptr) return status;
    return absl::InvalidArgumentError(absl::StrCat("/", field->name, status.message()));
  }

  void AddLevels(int column, int repetition, int definition) {
    const Column& type = columns_.columns()[column];
    ColumnValues& to = rows_.columns[column];
    if (type.max_repetition > 0) to.repetitions.push_back(static_cast<uint8_t>(repetition));
    if (type.max_definition > 0) to.definitions.push_back(static_cast<uint8_t>(definition));
  }

  void AddAbsence(const ColumnNode& node, int repetition, int definition) {
    for (int i = node.first_column; i < node.end_column; ++i) AddLevels(i, repetition, definition);
  }

  absl::Status AddField(const ColumnNode& node, dom::element value, int repetition,
                        int outer_definition) {
    if (!node.field->list) return AddValue(node, value, repetition);
    dom::array elements;
    if (value.get(elements)) return Wrong(node.field, " is no list");
    if (elements.begin() == elements.end()) AddAbsence(node, repetition, outer_definition);
    for (const dom::element element : elements) {
      RETURN_IF_ERROR(AddValue(node, element, repetition));
      repetition = node.repetition;
    }
    return absl::OkStatus();
  }

  absl::Status AddValue(const ColumnNode& node, dom::element value, int repetition) {
    int definition = node.definition;
    if (node.field->nullable) {
      if (value.is_null()) {
        AddAbsence(node, repetition, definition);
        return absl::OkStatus();
      }
      ++definition;
    }
    if (node.field->type == Field::Type::kStruct) {
      return Within(node.field, AddStruct(node, value, repetition, definition));
    }
    AddLevels(node.first_column, repetition, definition);
    if (!AddLeaf(node.field->type, value, &rows_.columns[node.first_column])) {
      return Wrong(node.field, " is of another type");
    }
    return absl::OkStatus();
  }

  absl::Status AddStruct(const ColumnNode& node, dom::element value, int repetition,
                         int definition) {
    dom::object object;
    if (value.get(object)) return absl::InvalidArgumentError(" is no object");
    if (object.size() != node.nodes.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(" has ", object.size(), " fields instead of ", node.nodes.size()));
    }
    dom::object::iterator next = object.begin();
    for (const int i : node.by_name) {
      const ColumnNode& inner = node.nodes[i];
      dom::element found;
      if (next != object.end() && next.key() == inner.field->name) {
        found = next.value();
        ++next;
      } else if (object.at_key(inner.field->name).get(found)) {
        return Wrong(inner.field, " is not there");
      }
      RETURN_IF_ERROR(AddField(inner, found, repetition, definition));
    }
    return absl::OkStatus();
  }

  // False: the value is of another type.
  static bool AddLeaf(Field::Type type, dom::element value, ColumnValues* to) {
    ++to->value_count;
    switch (type) {
      case Field::Type::kString: {
        std::string_view text;
        if (value.get(text)) return false;
        AppendPlain(static_cast<uint32_t>(text.size()), &to->values);
        to->values.append(text.data(), text.size());
        return true;
      }
      case Field::Type::kInteger: {
        int64_t number;
        if (value.get(number)) return false;
        AppendPlain(number, &to->values);
        return true;
      }
      case Field::Type::kNumber: {
        double number;
        if (value.get(number)) return false;
        AppendPlain(number, &to->values);
        return true;
      }
      case Field::Type::kBoolean: {
        bool truth;
        if (value.get(truth)) return false;
        to->values.push_back(truth ? 1 : 0);
        return true;
      }
      case Field::Type::kStruct:
        break;
    }
    return false;
  }

  const Columns& columns_;
  ShreddedRows rows_;
};

}  // namespace

absl::StatusOr<ShreddedRows> Shred(const Columns& columns, std::string lines) {
  // The parser may read, not use, this much after a row.
  const size_t size = lines.size();
  lines.resize(size + simdjson::SIMDJSON_PADDING);
  Shredder shredder(columns);
  dom::parser parser;
  for (size_t begin = 0; begin < size;) {
    const size_t found = lines.find('\n', begin);
    const size_t end = std::min(found, size);
    dom::element row;
    const simdjson::error_code error =
        parser.parse(lines.data() + begin, end - begin, /*realloc_if_needed=*/false).get(row);
    const absl::Status status =
        error ? absl::InvalidArgumentError(absl::StrCat(" ", simdjson::error_message(error)))
              : shredder.AddRow(row);
    if (!status.ok()) {
      return Annotate(status, lines.substr(begin, std::min(end - begin, kShown)));
    }
    begin = end + 1;
  }
  return shredder.Take();
}

}  // namespace kernelmill::dataset
