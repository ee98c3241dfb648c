#include "common/python/syntax/syntax_tree.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"

namespace kernelmill::python {

// The lists that declare the enums also have the grammar's names.
#define KM_ENTRY(name, text) {text, Enum::name},

// The core has kinds for what its rules ask for. All others are kOther.
Kind KindNamed(absl::string_view grammar_name) {
  using Enum = Kind;
  static const auto& kinds = *new absl::flat_hash_map<std::string, Kind>{KM_SYNTAX_KINDS(KM_ENTRY)};
  const auto found = kinds.find(grammar_name);
  return found == kinds.end() ? Kind::kOther : found->second;
}

Field FieldNamed(absl::string_view grammar_name) {
  using Enum = Field;
  static const auto& fields =
      *new absl::flat_hash_map<std::string, Field>{KM_SYNTAX_FIELDS(KM_ENTRY)};
  const auto found = fields.find(grammar_name);
  return found == fields.end() ? Field::kNone : found->second;
}

#undef KM_ENTRY

// The nodes are sorted by counting. The nodes of each kind become a range of `by_kind_`, in the
// order of the text. Tokens and kOther have empty ranges.
SyntaxTree::SyntaxTree(absl::string_view text, std::vector<SyntaxNode> nodes, bool has_errors)
    : text_(text), nodes_(std::move(nodes)), has_errors_(has_errors) {
  const auto place = [](Kind kind) { return static_cast<size_t>(kind); };
  kind_begin_.fill(0);
  for (const SyntaxNode& node : nodes_) ++kind_begin_[place(node.kind) + 1];
  kind_begin_[place(Kind::kToken) + 1] = kind_begin_[place(Kind::kOther) + 1] = 0;
  for (size_t kind = 1; kind <= kKindCount; ++kind) kind_begin_[kind] += kind_begin_[kind - 1];
  by_kind_.resize(kind_begin_[kKindCount]);
  std::array<uint32_t, kKindCount + 1> next = kind_begin_;
  for (NodeId node = 0; node < size(); ++node) {
    const Kind kind = nodes_[node].kind;
    if (kind != Kind::kToken && kind != Kind::kOther) by_kind_[next[place(kind)]++] = node;
  }
}

// A subtree is a range of ids, so that two binary searches cut it out of the range of the kind.
std::span<const NodeId> SyntaxTree::Of(Kind kind, NodeId root) const {
  const auto all = by_kind_.begin();
  const auto begin = all + kind_begin_[static_cast<size_t>(kind)];
  const auto end = all + kind_begin_[static_cast<size_t>(kind) + 1];
  if (root == 0) return {begin, end};
  const auto first = std::lower_bound(begin, end, root);
  return {first, std::lower_bound(first, end, nodes_[root].subtree_end)};
}

// Linear in the children: a sibling begins at the end of the subtree before it.
NodeId SyntaxTree::Child(NodeId node, Field field) const {
  for (NodeId child = FirstChild(node); child != kNoNode; child = NextSibling(child)) {
    if (nodes_[child].field == field) return child;
  }
  return kNoNode;
}

NodeId SyntaxTree::Child(NodeId node, Kind kind) const {
  for (NodeId child = FirstChild(node); child != kNoNode; child = NextSibling(child)) {
    if (nodes_[child].kind == kind) return child;
  }
  return kNoNode;
}

// Looks through ((x)) and through comments in it.
NodeId SyntaxTree::StripParentheses(NodeId node) const {
  while (nodes_[node].kind == Kind::kParenthesizedExpression) {
    NodeId inner = FirstChild(node);
    while (inner != kNoNode &&
           (nodes_[inner].kind == Kind::kToken || nodes_[inner].kind == Kind::kComment ||
            nodes_[inner].kind == Kind::kLineContinuation)) {
      inner = NextSibling(inner);
    }
    if (inner == kNoNode) break;
    node = inner;
  }
  return node;
}

// Comments and tokens without text, such as the end of a block, do not count.
NodeId SyntaxTree::LastToken(NodeId node) const {
  for (NodeId at = nodes_[node].subtree_end; at-- > node;) {
    const SyntaxNode& candidate = nodes_[at];
    if (IsLeaf(at) && candidate.start < candidate.end && candidate.kind != Kind::kComment &&
        candidate.kind != Kind::kLineContinuation) {
      return at;
    }
  }
  return node;
}

bool IsLayout(Kind kind) {
  return kind == Kind::kToken || kind == Kind::kComment || kind == Kind::kLineContinuation;
}

// Returns whether the node is a.b.c with nothing between the parts, so that its text is the name.
// In pre-order the object of an attribute is the next node, and the dot and the name follow its
// subtree.
bool IsPlainDottedName(const SyntaxTree& tree, NodeId node) {
  for (; tree.GetKind(node) == Kind::kAttribute; ++node) {
    if (tree.IsLeaf(node)) return false;
    const SyntaxNode& object = tree[node + 1];
    const NodeId dot = object.subtree_end;
    if (object.field != Field::kObject || dot + 2 != tree[node].subtree_end) return false;
    const SyntaxNode& attribute = tree[dot + 1];
    const bool joined = tree[dot].start == object.end && tree[dot].end == object.end + 1 &&
                        attribute.start == object.end + 1;
    if (!joined || attribute.field != Field::kAttribute) return false;
  }
  return tree.GetKind(node) == Kind::kIdentifier;
}

// A name with blanks, comments or parentheses in it is put together from its parts, the last one
// first. Any other form, such as a call, gives "".
std::string DottedExpression(const SyntaxTree& tree, NodeId node) {
  if (IsPlainDottedName(tree, node)) return std::string(tree.GetText(node));
  std::vector<absl::string_view> parts;
  for (;;) {
    node = tree.StripParentheses(node);
    if (tree.GetKind(node) != Kind::kAttribute) break;
    const NodeId attribute = tree.Child(node, Field::kAttribute);
    const NodeId object = tree.Child(node, Field::kObject);
    if (attribute == kNoNode || object == kNoNode) return "";
    parts.push_back(tree.GetText(attribute));
    node = object;
  }
  if (tree.GetKind(node) != Kind::kIdentifier) return "";
  parts.push_back(tree.GetText(node));
  std::reverse(parts.begin(), parts.end());
  return absl::StrJoin(parts, ".");
}

// A dotted_name of an import, without the blanks and continuations that may be in it.
std::string DottedImportName(const SyntaxTree& tree, NodeId node) {
  const NodeId first = tree.FirstChild(node);
  if (first != kNoNode && tree.GetKind(first) == Kind::kIdentifier &&
      tree[first].subtree_end == tree[node].subtree_end) {
    return std::string(tree.GetText(first));
  }
  std::vector<absl::string_view> parts;
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (tree.GetKind(child) == Kind::kIdentifier) parts.push_back(tree.GetText(child));
  }
  return absl::StrJoin(parts, ".");
}

}  // namespace kernelmill::python
