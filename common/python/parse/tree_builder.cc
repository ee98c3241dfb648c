#include "common/python/parse/tree_builder.h"

namespace kernelmill::python {

// clang-format off
// The nodes are kept in post-order. A subtree is the `size` nodes up to its root, so that it needs
// no links. For a + b:
//
//   place  node             size  its subtree
//   0      a                1     [0, 1)
//   1      +                1     [1, 2)
//   2      b                1     [2, 3)
//   3      binary_operator  4     [0, 4)
// clang-format on

namespace {

constexpr int kMaxPatternDepth = 32;

// Returns the kind of a node that is assigned to; kOther if it cannot be.
Kind GetPattern(Kind kind) {
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

// In post-order a subtree is the `size` nodes up to its root. The last child is just before the
// root, and each child is just before the subtree of the next one.
bool TreeBuilder::MakePattern(Place node, int depth) {
  const Kind kind = GetPattern(nodes_[node].kind);
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

// Walks the children from the last to the first, as MakePattern does.
bool TreeBuilder::HasSplatsInElements() const {
  const Place end = here() - 1;
  const Place first = end + 1 - nodes_[end].size;
  for (Place after = end; after > first; after -= nodes_[after - 1].size) {
    const Node& child = nodes_[after - 1];
    if (child.kind != Kind::kTuple && child.kind != Kind::kList) continue;
    for (Place at = after - child.size; at < after; ++at) {
      if (nodes_[at].kind == Kind::kListSplat) return true;
    }
  }
  return false;
}

// *a.b() from (splat * (call (attribute a b))) to (call (attribute (splat * a) b)): what began at
// the name begins at the star now, and has two nodes more.
bool TreeBuilder::BindSplatToName(Place star) {
  const Place name = star + 1;
  if (nodes_[name].kind != Kind::kIdentifier) return false;
  nodes_.pop_back();
  const uint32_t start = nodes_[star].start;
  const Node splat = {start, nodes_[name].end, 3, Kind::kListSplat, nodes_[name].field};
  nodes_[name].field = Field::kNone;
  nodes_.insert(nodes_.begin() + name + 1, splat);
  for (Place at = name + 2; at < here(); ++at) {
    Node& node = nodes_[at];
    if (at - node.size != name) continue;
    node.start = start;
    node.size += 2;
  }
  return true;
}

// The basic idea: read backwards, post-order has a node before its children. The number of nodes
// around it then gives its place in pre-order: that many nodes come before its subtree. No branch
// depends on the tree's form, which no processor could predict.
std::vector<SyntaxNode> TreeBuilder::InPreOrder() const {
  const auto count = static_cast<Place>(nodes_.size());
  std::vector<uint32_t> begun(count + 1);  // by place: nodes with children that begin there
  for (Place at = 0; at < count; ++at) {
    begun[at + 1 - nodes_[at].size] += nodes_[at].size > 1 ? 1 : 0;
  }
  std::vector<SyntaxNode> ordered(count);
  std::vector<NodeId> around(64, kNoNode);  // by depth: the node that the walk is in
  uint32_t depth = 0;
  for (Place at = count; at-- > 0;) {
    const Node& node = nodes_[at];
    depth -= begun[at + 1];
    const NodeId id = at + 1 - node.size + depth;
    ordered[id] = {node.start, node.end,   around[depth], id + node.size,
                   node.kind,  node.field, false};
    if (depth + 1 == around.size()) around.resize(2 * around.size());
    around[depth + 1] = id;
    depth += node.size > 1 ? 1 : 0;
  }
  return ordered;
}

}  // namespace kernelmill::python
