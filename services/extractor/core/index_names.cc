#include "services/extractor/core/index_names.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"

namespace kernelmill::extractor {
namespace {

std::string Callee(const SyntaxTree& tree, NodeId node) {
  if (tree.KindOf(node) != Kind::kCall) return "";
  const NodeId function = tree.Child(node, Field::kFunction);
  return function == kNoNode ? "" : std::string(LastPart(DottedExpression(tree, function)));
}

bool IsRange(absl::string_view callee) {
  return callee == "range" || absl::EndsWith(callee, "_range");
}

}  // namespace

IndexNames::IndexNames(const SyntaxTree& tree, NodeId root) : tree_(tree), root_(root) {
  const NodeId end = tree[root].subtree_end;
  before_.resize(end - root + 1);
  NodeId loaded_until = root;
  for (NodeId node = root; node < end; ++node) {
    while (!open_.empty() && tree[open_.back().value].subtree_end <= node) {
      Assign(open_.back());
      open_.pop_back();
    }
    before_[node - root].in_load = node < loaded_until;
    if (absl::EndsWith(Callee(tree, node), "load")) {
      loaded_until = std::max(loaded_until, tree[node].subtree_end);
    }
    Counts counts = before_[node - root];
    if (IsSource(node)) {
      ++counts.all;
      if (node >= loaded_until) ++counts.outside_loads;
    }
    before_[node - root + 1] = counts;
    Enter(node);
  }
}

bool IndexNames::IsIndex(NodeId node) const {
  const Counts& begin = before_[node - root_];
  const Counts& end = before_[tree_[node].subtree_end - root_];
  return begin.in_load ? end.all > begin.all : end.outside_loads > begin.outside_loads;
}

bool IndexNames::IsSource(NodeId node) const {
  if (tree_.KindOf(node) == Kind::kIdentifier) return names_.contains(tree_.TextOf(node));
  const std::string callee = Callee(tree_, node);
  return callee == "program_id" || callee == "arange";
}

void IndexNames::Enter(NodeId node) {
  switch (tree_.KindOf(node)) {
    case Kind::kAssignment:
    case Kind::kAugmentedAssignment: {
      const NodeId left = tree_.Child(node, Field::kLeft);
      const NodeId right = tree_.Child(node, Field::kRight);
      if (left != kNoNode && right != kNoNode) open_.push_back({left, right});
      return;
    }
    case Kind::kForStatement: {
      const NodeId left = tree_.Child(node, Field::kLeft);
      const NodeId right = tree_.Child(node, Field::kRight);
      if (left == kNoNode || right == kNoNode) return;
      if (IsRange(Callee(tree_, right))) AddNames(left);
      return;
    }
    default:
      return;
  }
}

void IndexNames::Assign(const Assignment& assignment) {
  if (IsIndex(assignment.value)) AddNames(assignment.target);
}

void IndexNames::AddNames(NodeId target) {
  NodeId node = target;
  while (node < tree_[target].subtree_end) {
    const Kind kind = tree_.KindOf(node);
    if (kind == Kind::kIdentifier) names_.insert(tree_.TextOf(node));
    const bool is_place = kind == Kind::kSubscript || kind == Kind::kAttribute;
    node = is_place ? tree_[node].subtree_end : node + 1;
  }
}

}  // namespace kernelmill::extractor
