#include "common/python/syntax/local_names.h"

#include <algorithm>

namespace kernelmill::python {

// A name has all values that its scope ever gives it, whatever runs first: the basic idea is to
// look a name up by (scope, name), from the innermost scope outwards, and to tell the values apart
// by their places only. Unlike Bindings this knows the values, and only of assignments and
// definitions: loops, imports and `with` give none, nor do targets whose values the text does not
// show.

namespace {

// Deeper scopes and blocks are not searched to their end: CPython itself nests far fewer.
constexpr int kMaxDepth = 256;
// A name that a hostile file binds a million times is not looked at a million times.
constexpr size_t kMaxValues = 16;

// The most targets of one assignment that are read, and the most names in one.
constexpr int kMaxTargets = 8;
constexpr size_t kMaxParts = 32;

constexpr Kind kBindingKinds[] = {Kind::kFunctionDefinition, Kind::kClassDefinition,
                                  Kind::kAssignment};

bool OpensScope(Kind kind) {
  return kind == Kind::kFunctionDefinition || kind == Kind::kLambda ||
         kind == Kind::kClassDefinition;
}

bool IsDefinition(Kind kind) {
  return kind == Kind::kFunctionDefinition || kind == Kind::kClassDefinition;
}

bool IsBranching(Kind kind) {
  return kind == Kind::kIfStatement || kind == Kind::kTryStatement || kind == Kind::kMatchStatement;
}

// Returns the parts of a list of targets or values; nothing for any other node, or if one of them
// is a splat.
std::vector<NodeId> ListParts(const SyntaxTree& tree, NodeId node) {
  std::vector<NodeId> parts;
  switch (tree.GetKind(node)) {
    case Kind::kPatternList:
    case Kind::kTuplePattern:
    case Kind::kListPattern:
    case Kind::kExpressionList:
    case Kind::kTuple:
    case Kind::kList:
      break;
    default:
      return parts;
  }
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    const Kind kind = tree.GetKind(child);
    if (kind == Kind::kListSplat || kind == Kind::kListSplatPattern || parts.size() == kMaxParts) {
      return {};
    }
    if (!IsLayout(kind)) parts.push_back(child);
  }
  return parts;
}

bool IsParameterKind(Kind kind) {
  switch (kind) {
    case Kind::kParameters:
    case Kind::kLambdaParameters:
    case Kind::kDefaultParameter:
    case Kind::kTypedParameter:
    case Kind::kTypedDefaultParameter:
    case Kind::kListSplatPattern:
    case Kind::kDictionarySplatPattern:
      return true;
    default:
      return false;
  }
}

}  // namespace

// One pass in pre-order gives each node its scope and collects what each scope binds.
LocalNames::LocalNames(const SyntaxTree& tree) : tree_(tree), scope_of_(tree.size(), 0) {
  for (NodeId node = 1; node < tree.size(); ++node) {
    const NodeId parent = tree[node].parent;
    scope_of_[node] = OpensScope(tree.GetKind(parent)) ? parent : scope_of_[parent];
  }
  std::vector<NodeId> binding;
  for (const Kind kind : kBindingKinds) {
    const std::span<const NodeId> nodes = tree.Of(kind);
    binding.insert(binding.end(), nodes.begin(), nodes.end());
  }
  std::sort(binding.begin(), binding.end());
  bound_.reserve(2 * binding.size());
  for (const NodeId node : tree.Of(Kind::kGlobalStatement)) Declare(node, true);
  for (const NodeId node : tree.Of(Kind::kNonlocalStatement)) Declare(node, false);
  // In the order of the text, so that the values of a name are sorted.
  for (const NodeId node : binding) {
    for (const auto& [name, value] : ReadBindings(node)) {
      bound_[{FindBindingScope(name, node), name}].values.push_back(value);
    }
  }
  for (const NodeId node : tree.Of(Kind::kIdentifier)) {
    const NodeId parent = tree[node].parent;
    if (parent != kNoNode && IsParameterKind(tree.GetKind(parent))) BindParameter(node, parent);
  }
}

void LocalNames::Declare(NodeId statement, bool global) {
  const NodeId scope = scope_of_[statement];
  for (NodeId child = tree_.FirstChild(statement); child != kNoNode;
       child = tree_.NextSibling(child)) {
    if (tree_.GetKind(child) != Kind::kIdentifier) continue;
    declared_[{scope, tree_.GetText(child)}] = global ? 0 : scope_of_[scope];
  }
}

NodeId LocalNames::FindBindingScope(absl::string_view name, NodeId node) const {
  const NodeId scope = scope_of_[node];
  if (declared_.empty()) return scope;
  const auto declared = declared_.find({scope, name});
  return declared == declared_.end() ? scope : declared->second;
}

LocalNames::Bindings LocalNames::ReadBindings(NodeId node) const {
  if (IsDefinition(tree_.GetKind(node))) {
    const NodeId name = tree_.Child(node, Field::kName);
    if (name == kNoNode) return {};
    return {{tree_.GetText(name), node}};
  }
  const NodeId left = tree_.Child(node, Field::kLeft);
  NodeId right = tree_.Child(node, Field::kRight);
  // In `a = b = value` the right side of the first is the second.
  for (int targets = 1; targets < kMaxTargets && right != kNoNode; ++targets) {
    if (tree_.GetKind(right) != Kind::kAssignment) break;
    right = tree_.Child(right, Field::kRight);
  }
  if (left == kNoNode || right == kNoNode) return {};
  if (tree_.GetKind(left) == Kind::kIdentifier) return {{tree_.GetText(left), right}};
  const std::vector<NodeId> names = ListParts(tree_, left);
  const std::vector<NodeId> values = ListParts(tree_, tree_.StripParentheses(right));
  if (names.size() != values.size()) return {};
  Bindings bindings;
  for (size_t i = 0; i < names.size(); ++i) {
    if (tree_.GetKind(names[i]) != Kind::kIdentifier) continue;
    bindings.emplace_back(tree_.GetText(names[i]), values[i]);
  }
  return bindings;
}

// The name of a parameter is a few levels below the list, as in *args: int. Defaults and
// annotations bind nothing.
void LocalNames::BindParameter(NodeId node, NodeId parent) {
  const Field field = tree_[node].field;
  if (field == Field::kValue || field == Field::kType) return;
  for (int depth = 0; depth < 4 && IsParameterKind(tree_.GetKind(parent)); ++depth) {
    const Kind kind = tree_.GetKind(parent);
    if (kind == Kind::kParameters || kind == Kind::kLambdaParameters) {
      bound_[{scope_of_[node], tree_.GetText(node)}].parameter = true;
      return;
    }
    parent = tree_[parent].parent;
  }
}

// From the innermost scope outwards, as Python looks names up.
const LocalNames::Bound* LocalNames::Find(absl::string_view name, NodeId at) const {
  const NodeId first = scope_of_[at];
  NodeId scope = first;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    // A class's names are seen in its own body alone, not in the functions there.
    if (scope == first || tree_.GetKind(scope) != Kind::kClassDefinition) {
      const auto found = bound_.find({scope, name});
      if (found != bound_.end()) return &found->second;
    }
    if (scope == 0) return nullptr;
    scope = scope_of_[scope];
  }
  return nullptr;
}

// Many values of a generated file are cut to those just before `at` and the next one after it.
std::span<const NodeId> LocalNames::GetValues(absl::string_view name, NodeId at) const {
  const Bound* bound = Find(name, at);
  if (bound == nullptr) return {};
  const std::span<const NodeId> all(bound->values.data(), bound->values.size());
  if (all.size() <= kMaxValues) return all;
  const auto below = std::upper_bound(all.begin(), all.end(), at);
  const auto last = all.end() - below < 1 ? all.end() : below + 1;
  return {last - std::min<ptrdiff_t>(kMaxValues, last - all.begin()), last};
}

std::span<const NodeId> LocalNames::GetMembers(absl::string_view name,
                                               NodeId class_definition) const {
  const auto found = bound_.find({class_definition, name});
  if (found == bound_.end()) return {};
  const std::span<const NodeId> all(found->second.values.data(), found->second.values.size());
  return all.last(std::min(all.size(), kMaxValues));
}

std::vector<std::pair<absl::string_view, NodeId>> LocalNames::ListMembers(
    NodeId class_definition) const {
  std::vector<std::pair<absl::string_view, NodeId>> members;
  for (const Kind kind : kBindingKinds) {
    for (const NodeId node : tree_.Of(kind, class_definition)) {
      if (scope_of_[node] != class_definition) continue;
      for (const auto& [name, value] : ReadBindings(node)) members.emplace_back(name, value);
    }
  }
  return members;
}

std::vector<std::pair<absl::string_view, NodeId>> LocalNames::ListModuleValues() const {
  std::vector<std::pair<absl::string_view, NodeId>> names;
  for (const auto& [key, bound] : bound_) {
    if (key.first != 0) continue;
    for (const NodeId value : bound.values) names.emplace_back(key.second, value);
  }
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  return names;
}

bool LocalNames::IsParameter(absl::string_view name, NodeId at) const {
  const Bound* bound = Find(name, at);
  return bound != nullptr && bound->parameter;
}

// Two nodes are alternatives if they are in different branches of the same statement: at most one
// of them runs.
bool LocalNames::InOtherBranch(NodeId a, NodeId b) const {
  NodeId around = tree_[a].parent;
  for (int depth = 0; depth < kMaxDepth && around != kNoNode; ++depth) {
    if (around <= b && b < tree_[around].subtree_end) return IsBranching(tree_.GetKind(around));
    around = tree_[around].parent;
  }
  return false;
}

// The nearest definition above counts, with its alternatives in other branches. If there is no
// definition above, the first one below counts.
std::vector<NodeId> LocalNames::FunctionsNamed(absl::string_view name, NodeId at) const {
  std::vector<NodeId> functions;
  for (const NodeId value : GetValues(name, at)) {
    if (tree_.GetKind(value) == Kind::kFunctionDefinition) functions.push_back(value);
  }
  const auto below = std::upper_bound(functions.begin(), functions.end(), at);
  if (below == functions.begin()) {
    if (functions.size() > 1) functions.resize(1);
    return functions;
  }
  const NodeId nearest = *(below - 1);
  std::vector<NodeId> meant;
  for (auto f = functions.begin(); f != below; ++f) {
    if (*f == nearest || InOtherBranch(*f, nearest)) meant.push_back(*f);
  }
  return meant;
}

}  // namespace kernelmill::python
