#include "dataset/parquet/columns.h"

#include <algorithm>
#include <numeric>

namespace kernelmill::dataset {

Columns::Columns(const Fields& fields) : root_{nullptr, 0, 0, 0, 0, {}, {}} {
  AddNodes(fields, 0, 0, {}, &root_);
}

void Columns::AddNodes(const Fields& fields, int definition, int repetition,
                       const std::vector<std::string>& path, ColumnNode* parent) {
  for (const Field& field : fields) {
    ColumnNode node = {&field,
                       definition + (field.list ? 1 : 0),
                       repetition + (field.list ? 1 : 0),
                       static_cast<int>(columns_.size()),
                       0,
                       {},
                       {}};
    std::vector<std::string> at = path;
    at.push_back(field.name);
    if (field.list) at.insert(at.end(), {"list", "element"});
    const int inner = node.definition + (field.nullable ? 1 : 0);
    if (field.type == Field::Type::kStruct) {
      AddNodes(field.fields, inner, node.repetition, at, &node);
    } else {
      columns_.push_back({field.type, inner, node.repetition, std::move(at)});
    }
    node.end_column = static_cast<int>(columns_.size());
    parent->nodes.push_back(std::move(node));
  }
  parent->end_column = static_cast<int>(columns_.size());
  parent->by_name.resize(parent->nodes.size());
  std::iota(parent->by_name.begin(), parent->by_name.end(), 0);
  std::sort(parent->by_name.begin(), parent->by_name.end(), [parent](int a, int b) {
    return parent->nodes[a].field->name < parent->nodes[b].field->name;
  });
}

}  // namespace kernelmill::dataset
