#include "common/python/syntax/branches.h"

namespace kernelmill::python {
namespace {

// Returns the innermost node around a byte. Children are in the order of the text.
NodeId FindNode(const SyntaxTree& tree, size_t offset) {
  NodeId node = 0;
  for (NodeId child = tree.FirstChild(node); child != kNoNode;) {
    const bool inside = tree[child].start <= offset && offset < tree[child].end;
    if (inside) node = child;
    child = inside ? tree.FirstChild(child) : tree.NextSibling(child);
  }
  return node;
}

// Returns the condition of an if statement or an elif clause: its first child that is code.
NodeId FindCondition(const SyntaxTree& tree, NodeId node) {
  NodeId child = tree.FirstChild(node);
  while (child != kNoNode && IsLayout(tree.GetKind(child))) child = tree.NextSibling(child);
  return child;
}

// Adds what decides that the code is in the child `from` of the if statement.
void AddIfStatement(const SyntaxTree& tree, NodeId statement, NodeId from,
                    std::vector<Branch>& branches) {
  const NodeId condition = FindCondition(tree, statement);
  if (from == condition) return;
  if (tree.GetKind(from) == Kind::kBlock) return branches.push_back({condition, true});
  // The clauses before it were not taken either.
  for (NodeId child = tree.NextSibling(condition); child != from; child = tree.NextSibling(child)) {
    if (tree.GetKind(child) == Kind::kElifClause)
      branches.push_back({FindCondition(tree, child), false});
  }
  branches.push_back({condition, false});
}

}  // namespace

std::vector<Branch> FindBranches(const SyntaxTree& tree, size_t offset) {
  std::vector<Branch> branches;
  NodeId from = FindNode(tree, offset);
  for (NodeId node = tree[from].parent; node != kNoNode; from = node, node = tree[node].parent) {
    switch (tree.GetKind(node)) {
      case Kind::kIfStatement:
        AddIfStatement(tree, node, from, branches);
        break;
      case Kind::kElifClause:
        if (tree.GetKind(from) == Kind::kBlock)
          branches.push_back({FindCondition(tree, node), true});
        break;
      case Kind::kConditionalExpression: {  // a if condition else b
        const NodeId first = FindCondition(tree, node);
        const NodeId keyword = tree.NextSibling(first);
        const NodeId condition = keyword == kNoNode ? kNoNode : tree.NextSibling(keyword);
        if (condition != kNoNode && from != condition)
          branches.push_back({condition, from == first});
        break;
      }
      case Kind::kFunctionDefinition:
        return branches;
      default:
        break;
    }
  }
  return branches;
}

NodeId FindFunctionAround(const SyntaxTree& tree, size_t offset) {
  NodeId node = FindNode(tree, offset);
  while (node != kNoNode && tree.GetKind(node) != Kind::kFunctionDefinition)
    node = tree[node].parent;
  return node;
}

}  // namespace kernelmill::python
