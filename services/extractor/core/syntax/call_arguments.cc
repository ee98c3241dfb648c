#include "services/extractor/core/syntax/call_arguments.h"

namespace kernelmill::extractor {

Arguments ArgumentsOf(const SyntaxTree& tree, NodeId call) {
  Arguments arguments;
  const NodeId list = tree.Child(call, Field::kArguments);
  if (list == kNoNode || tree.KindOf(list) != Kind::kArgumentList) return arguments;
  for (NodeId child = tree.FirstChild(list); child != kNoNode; child = tree.NextSibling(child)) {
    const Kind kind = tree.KindOf(child);
    if (IsLayout(kind)) continue;
    if (kind != Kind::kKeywordArgument) {
      arguments.push_back({"", child});
      continue;
    }
    const NodeId name = tree.Child(child, Field::kName);
    const NodeId value = tree.Child(child, Field::kValue);
    if (name != kNoNode && value != kNoNode) arguments.push_back({tree.TextOf(name), value});
  }
  return arguments;
}

NodeId FindArgument(const Arguments& arguments, absl::string_view keyword, size_t position) {
  NodeId found = kNoNode;
  size_t seen = 0;
  for (const Argument& argument : arguments) {
    if (!keyword.empty() && argument.keyword == keyword) return argument.value;
    if (argument.keyword.empty() && seen++ == position) found = argument.value;
  }
  return found;
}

}  // namespace kernelmill::extractor
