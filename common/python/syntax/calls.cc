#include "common/python/syntax/calls.h"

#include <algorithm>
#include <utility>

namespace kernelmill::python {
namespace {

bool IsBefore(const Call& call, NodeId node) { return call.node < node; }

}  // namespace

// The calls are in pre-order, so that those of a subtree are a range.
Calls::Calls(const SyntaxTree& tree, const ImportMap& imports) : tree_(tree) {
  const std::span<const NodeId> nodes = tree.Of(Kind::kCall);
  calls_.reserve(nodes.size());
  for (const NodeId node : nodes) {
    Call call = {node, tree.Child(node, Field::kFunction), "", ""};
    if (call.function != kNoNode) call.name = ReadName(call.function);
    if (!call.name.empty()) call.resolved = Resolve(call.name, imports);
    calls_.push_back(call);
  }
}

std::span<const Call> Calls::In(NodeId root) const {
  const auto first = std::lower_bound(calls_.begin(), calls_.end(), root, IsBefore);
  return {first, std::lower_bound(first, calls_.end(), tree_[root].subtree_end, IsBefore)};
}

const Call& Calls::At(NodeId call) const {
  return *std::lower_bound(calls_.begin(), calls_.end(), call, IsBefore);
}

// Mostly the name is written as it is meant.
absl::string_view Calls::ReadName(NodeId function) {
  if (IsPlainDottedName(tree_, function)) return tree_.GetText(function);
  std::string name = DottedExpression(tree_, function);
  if (name.empty()) return "";
  return texts_.emplace_back(std::move(name));
}

// Each name is resolved once. `texts_` owns the names that are not written in the text; its
// elements never move.
absl::string_view Calls::Resolve(absl::string_view name, const ImportMap& imports) {
  const auto [entry, inserted] = resolved_.try_emplace(name, name);
  if (inserted) {
    std::string resolved = imports.Resolve(name);
    if (resolved != name) entry->second = texts_.emplace_back(std::move(resolved));
  }
  return entry->second;
}

// f(x for x in y) has no argument list and gives no arguments.
Arguments GetArguments(const SyntaxTree& tree, NodeId call) {
  Arguments arguments;
  const NodeId list = tree.Child(call, Field::kArguments);
  if (list == kNoNode || tree.GetKind(list) != Kind::kArgumentList) return arguments;
  for (NodeId child = tree.FirstChild(list); child != kNoNode; child = tree.NextSibling(child)) {
    const Kind kind = tree.GetKind(child);
    if (IsLayout(kind)) continue;
    if (kind != Kind::kKeywordArgument) {
      arguments.push_back({"", child});
      continue;
    }
    const NodeId name = tree.Child(child, Field::kName);
    const NodeId value = tree.Child(child, Field::kValue);
    if (name != kNoNode && value != kNoNode) arguments.push_back({tree.GetText(name), value});
  }
  return arguments;
}

// The keyword wins over the position.
NodeId FindArgument(const Arguments& arguments, absl::string_view keyword, size_t position) {
  NodeId found = kNoNode;
  size_t seen = 0;
  for (const Argument& argument : arguments) {
    if (!keyword.empty() && argument.keyword == keyword) return argument.value;
    if (argument.keyword.empty() && seen++ == position) found = argument.value;
  }
  return found;
}

}  // namespace kernelmill::python
