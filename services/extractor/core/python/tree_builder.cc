#include "services/extractor/core/python/tree_builder.h"

namespace kernelmill::extractor::python {
namespace {

constexpr int kMaxPatternDepth = 32;

// What a node is called where it is assigned to; kOther if it cannot be.
Kind PatternOf(Kind kind) {
  switch (kind) {
    case Kind::kExpressionList:
      return Kind::kPatternList;
    case Kind::kTuple:
    case Kind::kParenthesizedExpression:
      return Kind::kTuplePattern;
    case Kind::kList:
      return Kind::kListPattern;
    case Kind::kListSplat:
      return Kind::kListSplatPattern;
    case Kind::kIdentifier:
    case Kind::kAttribute:
    case Kind::kSubscript:
      return kind;
    default:
      return Kind::kOther;
  }
}

}  // namespace

bool TreeBuilder::MakePattern(Place node, int depth) {
  const Kind kind = PatternOf(nodes_[node].kind);
  if (kind == Kind::kOther || depth > kMaxPatternDepth) return false;
  const Place first = node + 1 - nodes_[node].size;
  // *a.b and (a).b: tree-sitter has more than one way to read them.
  if (kind == nodes_[node].kind) return nodes_[first].kind != Kind::kToken;
  if (kind == Kind::kListSplatPattern && nodes_[node].size != 3) return false;
  nodes_[node].kind = kind;
  for (Place child = node; child-- > first; child -= nodes_[child].size - 1) {
    if (!IsLayout(nodes_[child].kind) && !MakePattern(child, depth + 1)) return false;
  }
  return true;
}

// The last of the post-order is the root. A subtree that is known to end at `e` begins at
// e - size, and its children end where the next of them begins, so that one pass from the root
// down finds every place.
std::vector<SyntaxNode> TreeBuilder::InPreOrder() const {
  const auto count = static_cast<Place>(nodes_.size());
  std::vector<SyntaxNode> ordered(count);
  struct Target {
    NodeId end;
    NodeId parent;
  };
  std::vector<Target> targets(count);
  targets[count - 1] = {count, kNoNode};
  for (Place at = count; at-- > 0;) {
    const Node& node = nodes_[at];
    const NodeId end = targets[at].end;
    const NodeId id = end - node.size;
    ordered[id] = {node.start, node.end, targets[at].parent, end, node.kind, node.field, false};
    NodeId child_end = end;
    const Place first = at + 1 - node.size;
    for (Place child = at; child-- > first; child -= nodes_[child].size - 1) {
      targets[child] = {child_end, id};
      child_end -= nodes_[child].size;
    }
  }
  return ordered;
}

}  // namespace kernelmill::extractor::python
