#include "dataset/parquet/columns.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"

// An example of levels, for the column of a list of texts that is not nullable (tags), whose
// highest definition level is 1 and whose highest repetition level is 1:
//
//   row            repetitions   definitions   values
//   ["a", "b"]     0 1           1 1           a b
//   []             0             0             (none)
//   ["c"]          0             1             c
//
// A repetition of 0 begins a row; a definition of 0 says that the list is empty. A nullable element
// would make the highest definition level 2.
namespace kernelmill::dataset {
namespace {

using google::protobuf::Message;

template <typename T>
void AppendPlain(T value, std::string* out) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  char bytes[sizeof(T)];
  __builtin_memcpy(bytes, &value, sizeof(T));  // all machines that we run on are little-endian
  out->append(bytes, sizeof(T));
}

void AppendText(absl::string_view text, std::string* out) {
  AppendPlain(static_cast<uint32_t>(text.size()), out);
  out->append(text.data(), text.size());
}

// Walks the rows in the order of their fields, with the levels of what it is in.
class Shredder {
 public:
  Shredder(const Columns& columns, ShreddedRows* rows) : columns_(columns), rows_(*rows) {
    rows_.rows = 0;
    rows_.columns.resize(columns.columns().size());
    for (ColumnValues& column : rows_.columns) {
      column.values.clear();
      column.value_count = 0;
      column.definitions.clear();
      column.repetitions.clear();
    }
  }

  void AddRow(const Message& row) {
    ++rows_.rows;
    AddStruct(columns_.nodes(), row, 0, 0);
  }

 private:
  // A level that is always 0 is not stored.
  void AddLevels(int column, int repetition, int definition) {
    const Column& type = columns_.columns()[static_cast<size_t>(column)];
    ColumnValues& to = rows_.columns[static_cast<size_t>(column)];
    if (type.max_repetition > 0) to.repetitions.push_back(static_cast<uint8_t>(repetition));
    if (type.max_definition > 0) to.definitions.push_back(static_cast<uint8_t>(definition));
  }

  // Notes in each column below the node that there is no value, and at which level it ends.
  void AddAbsence(const ColumnNode& node, int repetition, int definition) {
    for (int i = node.first_column; i < node.end_column; ++i) AddLevels(i, repetition, definition);
  }

  // A field that is null ends at the node's own definition level.
  void AddStruct(const std::vector<ColumnNode>& nodes, const Message& message, int repetition,
                 int definition) {
    for (const ColumnNode& node : nodes) {
      if (node.field->list) {
        AddList(node, message, repetition, definition);
      } else if (IsNull(message, *node.field)) {
        AddAbsence(node, repetition, node.definition);
      } else {
        AddValue(node, message, kNoElement, repetition);
      }
    }
  }

  // An empty list is an absence at the level of what holds it. The first element repeats at the
  // level of the list itself, the others at that of its elements.
  void AddList(const ColumnNode& node, const Message& message, int repetition,
               int outer_definition) {
    const int size = node.field->reflection->FieldSize(message, node.field->descriptor);
    if (size == 0) AddAbsence(node, repetition, outer_definition);
    for (int i = 0; i < size; ++i)
      AddValue(node, message, i, i == 0 ? repetition : node.repetition);
  }

  // Adds a value, or the fields of a struct. A value that is there has the column's highest
  // definition level.
  void AddValue(const ColumnNode& node, const Message& message, int index, int repetition) {
    const Field& field = *node.field;
    const int definition = node.definition + (field.nullable ? 1 : 0);
    if (field.type == Field::Type::kStruct) {
      return AddStruct(node.nodes, GetStruct(message, field, index), repetition, definition);
    }
    AddLevels(node.first_column, repetition, definition);
    ColumnValues& to = rows_.columns[static_cast<size_t>(node.first_column)];
    ++to.value_count;
    switch (field.type) {
      case Field::Type::kString: {
        const absl::string_view text = GetText(message, field, index, &scratch_);
        IsUtf8(text) ? AppendText(text, &to.values) : AppendText(ToUtf8(text), &to.values);
        return;
      }
      case Field::Type::kInteger:
        return AppendPlain(GetInteger(message, field, index), &to.values);
      case Field::Type::kNumber: {
        const double number = GetNumber(message, field, index);
        return AppendPlain(number == 0 ? 0.0 : number, &to.values);  // no -0.0
      }
      case Field::Type::kBoolean:
        return to.values.push_back(GetBoolean(message, field, index) ? 1 : 0);
      case Field::Type::kStruct:
        return;
    }
  }

  const Columns& columns_;
  ShreddedRows& rows_;
  std::string scratch_;
};

}  // namespace

Columns::Columns(const RowSchema& schema) : schema_(schema) {
  nodes_ = MakeNodes(schema.fields, 0, 0, {});
}

// Numbers the columns in the order of the fields, depth first. Each list and each nullable field
// adds a definition level; each list adds a repetition level.
std::vector<ColumnNode> Columns::MakeNodes(const Fields& fields, int definition, int repetition,
                                           const std::vector<std::string>& path) {
  std::vector<ColumnNode> nodes;
  for (const Field& field : fields) {
    ColumnNode node = {&field,
                       definition + (field.list ? 1 : 0),
                       repetition + (field.list ? 1 : 0),
                       static_cast<int>(columns_.size()),
                       0,
                       {}};
    std::vector<std::string> at = path;
    at.push_back(field.name);
    if (field.list) at.insert(at.end(), {"list", "element"});
    const int inner = node.definition + (field.nullable ? 1 : 0);
    if (field.type == Field::Type::kStruct) {
      node.nodes = MakeNodes(field.fields, inner, node.repetition, at);
    } else {
      columns_.push_back({field.type, inner, node.repetition, std::move(at)});
    }
    node.end_column = static_cast<int>(columns_.size());
    nodes.push_back(std::move(node));
  }
  return nodes;
}

void AppendFramed(absl::string_view row, std::string* rows) { AppendText(row, rows); }

// One message serves for all rows, so that its memory is reused.
absl::Status Shred(const Columns& columns, absl::string_view rows, ShreddedRows* shredded) {
  Shredder shredder(columns, shredded);
  const std::unique_ptr<Message> row(columns.schema().prototype->New());
  while (!rows.empty()) {
    uint32_t size = 0;
    if (rows.size() >= sizeof(size)) __builtin_memcpy(&size, rows.data(), sizeof(size));
    if (rows.size() < sizeof(size) || rows.size() - sizeof(size) < size ||
        !row->ParseFromArray(rows.data() + sizeof(size), static_cast<int>(size))) {
      return absl::DataLossError(absl::StrCat(columns.schema().file, ": a row cannot be parsed"));
    }
    shredder.AddRow(*row);
    rows.remove_prefix(sizeof(size) + size);
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::dataset
