#include "services/extractor/core/syntax_tree.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"

namespace kernelmill::extractor {

#define KM_ENTRY(name, text) {text, Enum::name},

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

absl::string_view LastPart(absl::string_view dotted) {
  const size_t dot = dotted.rfind('.');
  return dot == absl::string_view::npos ? dotted : dotted.substr(dot + 1);
}

std::string DottedExpression(const SyntaxTree& tree, NodeId node) {
  if (tree.KindOf(node) == Kind::kIdentifier) return std::string(tree.TextOf(node));
  std::vector<absl::string_view> parts;
  for (;;) {
    node = tree.StripParentheses(node);
    if (tree.KindOf(node) != Kind::kAttribute) break;
    const NodeId attribute = tree.Child(node, Field::kAttribute);
    const NodeId object = tree.Child(node, Field::kObject);
    if (attribute == kNoNode || object == kNoNode) return "";
    parts.push_back(tree.TextOf(attribute));
    node = object;
  }
  if (tree.KindOf(node) != Kind::kIdentifier) return "";
  parts.push_back(tree.TextOf(node));
  std::reverse(parts.begin(), parts.end());
  return absl::StrJoin(parts, ".");
}

std::string DottedImportName(const SyntaxTree& tree, NodeId node) {
  std::vector<absl::string_view> parts;
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (tree.KindOf(child) == Kind::kIdentifier) parts.push_back(tree.TextOf(child));
  }
  return absl::StrJoin(parts, ".");
}

}  // namespace kernelmill::extractor
