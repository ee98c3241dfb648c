#include "services/extractor/core/describe/index_names.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "common/base/text.h"

namespace kernelmill::extractor {

using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

bool Matters(Kind kind) {
  return kind == Kind::kIdentifier || kind == Kind::kCall || kind == Kind::kAssignment ||
         kind == Kind::kAugmentedAssignment || kind == Kind::kForStatement;
}

}  // namespace

bool IsRange(absl::string_view called) {
  return called == "range" || absl::EndsWith(called, "_range");
}

IndexNames::IndexNames(const SyntaxTree& tree, const Calls& calls, NodeId root)
    : tree_(tree), calls_(calls) {
  auto call = calls.In(root).begin();
  for (NodeId node = root; node < tree[root].subtree_end; ++node) {
    if (!Matters(tree.KindOf(node))) continue;
    while (!open_.empty() && tree[open_.back().value].subtree_end <= node) {
      if (IsIndex(open_.back().value)) AddNames(open_.back().target);
      open_.pop_back();
    }
    if (tree.KindOf(node) == Kind::kCall) {
      EnterCall(*call++);
    } else {
      Enter(node);
    }
  }
}

bool IndexNames::IsIndex(NodeId node) const {
  const auto before = [](const Source& source, NodeId at) { return source.node < at; };
  const auto first = std::lower_bound(sources_.begin(), sources_.end(), node, before);
  const auto last = std::lower_bound(first, sources_.end(), tree_[node].subtree_end, before);
  if (first == last) return false;
  return IsInLoad(node) ||
         OutsideLoads({sources_.begin(), last}) > OutsideLoads({sources_.begin(), first});
}

bool IndexNames::IsInLoad(NodeId node) const {
  const auto below = std::lower_bound(loads_.begin(), loads_.end(), node,
                                      [](const Load& load, NodeId at) { return load.node < at; });
  return below != loads_.begin() && node < std::prev(below)->end;
}

void IndexNames::EnterCall(const Call& call) {
  const absl::string_view called = LastPart(call.name);
  if (called == "program_id" || called == "arange") AddSource(call.node);
  const bool outermost = loads_.empty() || loads_.back().end <= call.node;
  // Random numbers are drawn by an index as well.
  const bool reads = absl::EndsWith(called, "load") || absl::StartsWith(called, "rand");
  if (outermost && reads) {
    loads_.push_back({call.node, tree_[call.node].subtree_end});
  }
}

void IndexNames::AddSource(NodeId node) {
  sources_.push_back({node, OutsideLoads(sources_) + (IsInLoad(node) ? 0 : 1)});
}

void IndexNames::Enter(NodeId node) {
  switch (tree_.KindOf(node)) {
    case Kind::kIdentifier:
      if (names_.contains(tree_.TextOf(node))) AddSource(node);
      return;
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
      if (left == kNoNode || right == kNoNode || tree_.KindOf(right) != Kind::kCall) return;
      if (IsRange(LastPart(calls_.At(right).name))) AddNames(left);
      return;
    }
    default:
      return;
  }
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
