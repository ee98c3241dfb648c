#include "common/python/syntax/docstring.h"

#include "absl/strings/string_view.h"
#include "common/code/python.h"

namespace kernelmill::python {
namespace {

bool IsPlainString(const SyntaxTree& tree, NodeId string) {
  const NodeId start = tree.Child(string, Kind::kStringStart);
  if (tree.GetKind(string) != Kind::kString || start == kNoNode) return false;
  const absl::string_view quotes = tree.GetText(start);
  const auto prefix = code::ReadPythonPrefix(quotes.substr(0, quotes.find_first_of("\"'")));
  return prefix.has_value() && !prefix->bytes && !prefix->replaces;
}

bool IsDocstring(const SyntaxTree& tree, NodeId expression) {
  if (tree.GetKind(expression) != Kind::kConcatenatedString) return IsPlainString(tree, expression);
  for (NodeId part = tree.FirstChild(expression); part != kNoNode; part = tree.NextSibling(part)) {
    if (!IsLayout(tree.GetKind(part)) && !IsPlainString(tree, part)) return false;
  }
  return true;
}

}  // namespace

NodeId FindFirstStatement(const SyntaxTree& tree, NodeId block) {
  for (NodeId child = tree.FirstChild(block); child != kNoNode; child = tree.NextSibling(child)) {
    if (!IsLayout(tree.GetKind(child))) return child;
  }
  return kNoNode;
}

NodeId FindDocstring(const SyntaxTree& tree, NodeId statement) {
  if (tree.GetKind(statement) != Kind::kExpressionStatement) return kNoNode;
  const NodeId first = tree.FirstChild(statement);
  if (first == kNoNode || tree[first].subtree_end != tree[statement].subtree_end) return kNoNode;
  const NodeId expression = tree.StripParentheses(first);
  return IsDocstring(tree, expression) ? expression : kNoNode;
}

}  // namespace kernelmill::python
