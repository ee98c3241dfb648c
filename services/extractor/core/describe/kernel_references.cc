#include "services/extractor/core/describe/kernel_references.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "common/base/text.h"
#include "common/python/syntax/calls.h"

namespace kernelmill::extractor {

// Follow() is a search over expressions with a list of pending ones. Each step replaces an
// expression by those that it may stand for, until kernels, imports and parameters are left. An
// expression is followed once, so that circles end. kMaxSteps bounds the search as a whole,
// kMaxValues how far one name may spread: a generated file may assign one attribute a thousand
// times.

using python::Arguments;
using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

// Bounds the walk outwards through nested functions.
constexpr int kMaxDepth = 256;
// The most expressions that are followed for one.
constexpr size_t kMaxSteps = 256;
// An attribute with more values, or a name with more methods, is not followed.
constexpr size_t kMaxValues = 16;

// Returns for each node the innermost function around it; kNoNode outside any.
std::vector<NodeId> FunctionsAround(const SyntaxTree& tree) {
  std::vector<NodeId> around(tree.size(), kNoNode);
  for (NodeId node = 1; node < tree.size(); ++node) {
    const NodeId parent = tree[node].parent;
    around[node] = tree.GetKind(parent) == Kind::kFunctionDefinition ? parent : around[parent];
  }
  return around;
}

NodeId FirstOperand(const SyntaxTree& tree, NodeId node) {
  NodeId child = tree.FirstChild(node);
  while (child != kNoNode && IsLayout(tree.GetKind(child))) child = tree.NextSibling(child);
  return child;
}

// Returns the text between the quotes of a literal string; empty for anything else.
absl::string_view LiteralKey(const SyntaxTree& tree, NodeId node) {
  if (node == kNoNode || tree.GetKind(node) != Kind::kString) return "";
  const NodeId start = tree.Child(node, Kind::kStringStart);
  const NodeId end = tree.Child(node, Kind::kStringEnd);
  if (start == kNoNode || end == kNoNode || tree.Child(node, Kind::kInterpolation) != kNoNode) {
    return "";
  }
  return tree.text().substr(tree[start].end, tree[end].start - tree[start].end);
}

// Returns the first expression between a subscript's brackets.
NodeId FindIndex(const SyntaxTree& tree, NodeId subscript) {
  const NodeId value = tree.Child(subscript, Field::kValue);
  NodeId index = value == kNoNode ? kNoNode : tree.NextSibling(value);
  while (index != kNoNode && IsLayout(tree.GetKind(index))) index = tree.NextSibling(index);
  return index;
}

// Returns the expression that the loop around a name iterates over, if it is the loop that binds
// the name; else kNoNode.
NodeId LoopedOver(const SyntaxTree& tree, NodeId name) {
  constexpr int kMaxBlocks = 64;
  NodeId node = tree[name].parent;
  for (int depth = 0; depth < kMaxBlocks && node != kNoNode; ++depth, node = tree[node].parent) {
    if (tree.GetKind(node) == Kind::kFunctionDefinition) break;
    if (tree.GetKind(node) != Kind::kForStatement) continue;
    const NodeId left = tree.Child(node, Field::kLeft);
    const NodeId right = tree.Child(node, Field::kRight);
    if (left == kNoNode || right == kNoNode) continue;
    for (const NodeId bound : tree.Of(Kind::kIdentifier, left)) {
      if (tree.GetText(bound) == tree.GetText(name)) return right;
    }
  }
  return kNoNode;
}

// Returns whether an assignment is a statement of a class's body.
bool IsInClassBody(const SyntaxTree& tree, NodeId assignment) {
  const NodeId statement = tree[assignment].parent;
  const NodeId block = statement == kNoNode ? kNoNode : tree[statement].parent;
  const NodeId owner = block == kNoNode ? kNoNode : tree[block].parent;
  return owner != kNoNode && tree.GetKind(owner) == Kind::kClassDefinition;
}

}  // namespace

// The state of one Follow().
struct KernelReferences::Search {
  KernelReference found;
  // Kernels hidden by a nearer value of their name. They count if nothing else is found.
  std::vector<KernelKey> hidden;
  std::vector<NodeId> pending;
  absl::flat_hash_set<NodeId> seen;
};

// Attributes are known by their last part alone: self.k = f and K.k = f give values to one name
// `k`, and so does an assignment in a class's body.
KernelReferences::KernelReferences(const SyntaxTree& tree,
                                   const std::vector<JitFunction>& functions)
    : tree_(tree), names_(tree), around_(FunctionsAround(tree)) {
  for (const JitFunction& function : functions) kernels_.insert(MakeKey(function.definition));
  for (const NodeId node : tree.Of(Kind::kAssignment)) {
    const NodeId left = tree.Child(node, Field::kLeft);
    const NodeId right = tree.Child(node, Field::kRight);
    if (left == kNoNode || right == kNoNode) continue;
    NodeId name = tree.Child(left, Field::kAttribute);
    if (tree.GetKind(left) == Kind::kIdentifier && IsInClassBody(tree, node)) name = left;
    if (name != kNoNode) attributes_[tree.GetText(name)].push_back(right);
  }
  for (const NodeId node : tree.Of(Kind::kFunctionDefinition)) {
    const NodeId name = tree.Child(node, Field::kName);
    NodeId block = tree[node].parent;
    if (block != kNoNode && tree.GetKind(block) == Kind::kDecoratedDefinition) {
      block = tree[block].parent;
    }
    const NodeId owner = block == kNoNode ? kNoNode : tree[block].parent;
    if (name == kNoNode || owner == kNoNode) continue;
    if (tree.GetKind(owner) == Kind::kClassDefinition) methods_[tree.GetText(name)].push_back(node);
  }
}

KernelKey KernelReferences::MakeKey(NodeId definition) const {
  const NodeId name = tree_.Child(definition, Field::kName);
  return {name == kNoNode ? "" : std::string(tree_.GetText(name)), around_[definition]};
}

std::optional<KernelKey> KernelReferences::FindKernel(absl::string_view name, NodeId at) const {
  // From the innermost function outwards, at last the module (kNoNode).
  NodeId scope = around_[at];
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    KernelKey key(name, scope);
    if (kernels_.contains(key)) return key;
    if (scope == kNoNode) break;
    scope = around_[scope];
  }
  return std::nullopt;
}

// Hidden kernels count only if nothing else is found: `k = wrap(k)` hides the kernel k, but leads
// to it.
KernelReference KernelReferences::Follow(NodeId expression) const {
  Search search;
  search.pending.push_back(expression);
  while (!search.pending.empty() && search.seen.size() < kMaxSteps) {
    const NodeId node = tree_.StripParentheses(search.pending.back());
    search.pending.pop_back();
    if (search.seen.insert(node).second) FollowNode(node, search);
  }
  const KernelReference& found = search.found;
  if (found.kernels.empty() && found.imports.empty() && found.parameters.empty()) {
    search.found.kernels = std::move(search.hidden);
  }
  return std::move(search.found);
}

// Puts the expressions that the node may stand for on the list. Forms that are not listed here end
// the search.
void KernelReferences::FollowNode(NodeId node, Search& search) const {
  switch (tree_.GetKind(node)) {
    case Kind::kIdentifier:
    case Kind::kAttribute:
      FollowName(node, search);
      return;
    case Kind::kSubscript:
      FollowSubscript(node, search);
      return;
    case Kind::kCall:
      FollowCall(node, search);
      return;
    case Kind::kDictionary:
    case Kind::kList:
    case Kind::kTuple:
      FollowElements(node, "", search);
      return;
    case Kind::kConditionalExpression: {
      // Push the branches; the condition is between them.
      int part = 0;
      for (NodeId child = tree_.FirstChild(node); child != kNoNode;
           child = tree_.NextSibling(child)) {
        if (!IsLayout(tree_.GetKind(child)) && part++ != 1) search.pending.push_back(child);
      }
      return;
    }
    case Kind::kNamedExpression:
      if (const NodeId value = tree_.Child(node, Field::kValue); value != kNoNode) {
        search.pending.push_back(value);
      }
      return;
    case Kind::kOther:  // a or b
      for (const Field side : {Field::kLeft, Field::kRight}) {
        const NodeId operand = tree_.Child(node, side);
        if (operand != kNoNode) search.pending.push_back(operand);
      }
      return;
    default:
      return;
  }
}

// A parameter is kept for the caller to follow. Any other name leads to a kernel of the text, to
// its values, or to an import; a name that a loop binds leads to the elements that the loop
// iterates over.
void KernelReferences::FollowName(NodeId node, Search& search) const {
  const std::string dotted = DottedExpression(tree_, node);
  if (dotted.empty()) return;
  const absl::string_view name = LastPart(dotted);
  const bool plain = tree_.GetKind(node) == Kind::kIdentifier;
  // The scopes around are searched for the function that has the parameter.
  if (plain && names_.IsParameter(name, node) && names_.GetValues(name, node).empty()) {
    NodeId function = around_[node];
    for (int depth = 0; depth < kMaxDepth && function != kNoNode; ++depth) {
      const NodeId parameters = tree_.Child(function, Field::kParameters);
      const auto all = parameters == kNoNode ? std::span<const NodeId>()
                                             : tree_.Of(Kind::kIdentifier, parameters);
      const auto has =
          std::any_of(all.begin(), all.end(), [&](NodeId at) { return tree_.GetText(at) == name; });
      if (has) {
        search.found.parameters.emplace_back(function, tree_.GetText(node));
        return;
      }
      function = around_[function];
    }
    return;
  }
  std::optional<KernelKey> kernel = FindKernel(name, node);
  std::span<const NodeId> values;
  if (plain) {
    values = names_.GetValues(name, node);
  } else if (const auto assigned = attributes_.find(name);
             assigned != attributes_.end() && assigned->second.size() <= kMaxValues) {
    values = assigned->second;
  }
  bool hidden = !values.empty() && plain;
  bool maybe_import = values.empty();  // or `k = None` beside an import that may fail
  for (const NodeId value : values) {
    const Kind kind = tree_.GetKind(value);
    if (kind == Kind::kFunctionDefinition) {
      if (kernel.has_value() && MakeKey(value) == *kernel) hidden = false;
    } else if (kind == Kind::kNoneLiteral) {
      maybe_import = true;
    } else if (kind != Kind::kClassDefinition) {
      search.pending.push_back(value);
    }
  }
  if (kernel.has_value()) {
    (hidden ? search.hidden : search.found.kernels).push_back(*std::move(kernel));
    return;
  }
  if (!maybe_import) return;
  const NodeId looped = plain ? LoopedOver(tree_, node) : kNoNode;
  if (looped != kNoNode) {
    search.pending.push_back(looped);
  } else {
    search.found.imports.push_back(dotted);
  }
}

// A subscript looks up a table, or gives a kernel its grid.
void KernelReferences::FollowSubscript(NodeId node, Search& search) const {
  search.found.looked_up = true;
  const NodeId value = tree_.Child(node, Field::kValue);
  if (value == kNoNode) return;
  const NodeId table = tree_.StripParentheses(value);
  const absl::string_view key = LiteralKey(tree_, FindIndex(tree_, node));
  if (key.empty() || tree_.GetKind(table) != Kind::kIdentifier) {
    search.pending.push_back(table);
    return;
  }
  const std::span<const NodeId> values = names_.GetValues(tree_.GetText(table), table);
  for (const NodeId given : values) {
    const NodeId display = tree_.StripParentheses(given);
    if (tree_.GetKind(display) == Kind::kDictionary) {
      FollowElements(display, key, search);
    } else {
      search.pending.push_back(display);
    }
  }
  if (values.empty()) search.pending.push_back(table);
}

// Pushes the elements of a display. With `key`, elements of a dictionary under other literal keys
// are left out.
void KernelReferences::FollowElements(NodeId node, absl::string_view key, Search& search) const {
  search.found.looked_up = true;
  for (NodeId child = tree_.FirstChild(node); child != kNoNode; child = tree_.NextSibling(child)) {
    if (search.pending.size() > kMaxSteps) return;
    if (IsLayout(tree_.GetKind(child))) continue;
    if (tree_.GetKind(child) != Kind::kPair) {
      if (tree_.GetKind(node) != Kind::kDictionary) search.pending.push_back(child);
      continue;
    }
    const absl::string_view own = LiteralKey(tree_, tree_.Child(child, Field::kKey));
    const NodeId value = tree_.Child(child, Field::kValue);
    const bool other = !key.empty() && !own.empty() && key != own;
    if (value != kNoNode && !other) search.pending.push_back(value);
  }
}

// A call leads to what table.get() looks up, to the values that a function of the text returns, and
// to its first argument.
void KernelReferences::FollowCall(NodeId node, Search& search) const {
  NodeId function = tree_.Child(node, Field::kFunction);
  if (function == kNoNode) return;
  function = tree_.StripParentheses(function);
  const Arguments arguments = GetArguments(tree_, node);
  // table.get(key, default)
  const NodeId method = tree_.Child(function, Field::kAttribute);
  if (method != kNoNode && tree_.GetText(method) == "get") {
    search.pending.push_back(tree_.Child(function, Field::kObject));
    const NodeId otherwise = FindArgument(arguments, "default", 1);
    if (otherwise != kNoNode) search.pending.push_back(otherwise);
    return;
  }
  // Return statements of functions inside the called one return other values.
  for (const NodeId called : FunctionsCalled(node)) {
    size_t returns = 0;
    for (const NodeId statement : tree_.Of(Kind::kReturnStatement, called)) {
      const NodeId value = FirstOperand(tree_, statement);
      if (++returns > kMaxValues) break;
      if (value == kNoNode || around_[statement] != called) continue;
      search.pending.push_back(value);
    }
  }
  NodeId first = FindArgument(arguments, "", 0);
  if (first == kNoNode && arguments.size() == 1) first = arguments.front().value;
  if (first != kNoNode) search.pending.push_back(first);
}

// A method name with too many definitions may be any of them, so that none counts.
std::vector<NodeId> KernelReferences::FunctionsCalled(NodeId call) const {
  NodeId function = tree_.Child(call, Field::kFunction);
  if (function == kNoNode) return {};
  function = tree_.StripParentheses(function);
  if (tree_.GetKind(function) == Kind::kIdentifier) {
    return names_.FunctionsNamed(tree_.GetText(function), function);
  }
  const NodeId name = tree_.Child(function, Field::kAttribute);
  if (tree_.GetKind(function) != Kind::kAttribute || name == kNoNode) return {};
  const auto methods = methods_.find(tree_.GetText(name));
  if (methods == methods_.end() || methods->second.size() > kMaxValues) return {};
  return methods->second;
}

}  // namespace kernelmill::extractor
