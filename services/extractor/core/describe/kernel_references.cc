#include "services/extractor/core/describe/kernel_references.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "absl/strings/match.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
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

// Returns for each node the innermost function or class around it; kNoNode outside any.
std::vector<NodeId> FindOwners(const SyntaxTree& tree) {
  std::vector<NodeId> owners(tree.size(), kNoNode);
  for (NodeId node = 1; node < tree.size(); ++node) {
    const NodeId parent = tree[node].parent;
    const Kind kind = tree.GetKind(parent);
    const bool owns = kind == Kind::kFunctionDefinition || kind == Kind::kClassDefinition;
    owners[node] = owns ? parent : owners[parent];
  }
  return owners;
}

bool IsClass(const SyntaxTree& tree, NodeId node) {
  return node != kNoNode && tree.GetKind(node) == Kind::kClassDefinition;
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

}  // namespace

// The state of one Follow().
struct KernelReferences::Search {
  KernelReference found;
  // Kernels hidden by a nearer value of their name. They count if nothing else is found.
  std::vector<KernelKey> hidden;
  std::vector<NodeId> pending;
  absl::flat_hash_set<NodeId> seen;

  // Puts the values that are expressions on the list.
  void AddValues(const SyntaxTree& tree, const std::vector<NodeId>& values) {
    for (const NodeId value : values) {
      const Kind kind = tree.GetKind(value);
      if (kind != Kind::kFunctionDefinition && kind != Kind::kClassDefinition) {
        pending.push_back(value);
      }
    }
  }
};

KernelReferences::KernelReferences(const SyntaxTree& tree,
                                   const std::vector<JitFunction>& functions)
    : tree_(tree), names_(tree), around_(FunctionsAround(tree)), owners_(FindOwners(tree)) {
  for (const NodeId node : tree.Of(Kind::kClassDefinition)) AddAncestors(node);
  for (const NodeId node : tree.Of(Kind::kAssignment)) AddAttribute(node);
  for (const NodeId node : tree.Of(Kind::kFunctionDefinition)) AddMethod(node);
  for (const JitFunction& function : functions) {
    const NodeId name = tree.Child(function.definition, Field::kName);
    const KernelKey key = MakeKey(function.definition);
    if (!kernels_.insert(key).second || name == kNoNode || !IsClass(tree, key.second)) continue;
    kernels_of_classes_[tree.GetText(name)].push_back({key.second, key.second});
  }
}

// self.k = f gives a value to the `k` of the class around, and so does an assignment in its body.
// The class of o.k = f is not known.
void KernelReferences::AddAttribute(NodeId assignment) {
  const NodeId left = tree_.Child(assignment, Field::kLeft);
  const NodeId right = tree_.Child(assignment, Field::kRight);
  if (left == kNoNode || right == kNoNode) return;
  const NodeId attribute = tree_.Child(left, Field::kAttribute);
  if (attribute != kNoNode) {
    const NodeId object = tree_.Child(left, Field::kObject);
    const NodeId of = object != kNoNode && IsSelf(object) ? ClassAround(left) : kNoNode;
    attributes_[tree_.GetText(attribute)].push_back({right, of});
  } else if (tree_.GetKind(left) == Kind::kIdentifier && IsClass(tree_, owners_[assignment])) {
    attributes_[tree_.GetText(left)].push_back({right, owners_[assignment]});
  }
}

void KernelReferences::AddMethod(NodeId function) {
  const NodeId name = tree_.Child(function, Field::kName);
  const NodeId owner = owners_[function];
  if (name == kNoNode || !IsClass(tree_, owner)) return;
  methods_[tree_.GetText(name)].push_back({function, owner});
}

// The bases that the text defines, nearest first.
void KernelReferences::AddAncestors(NodeId class_definition) {
  Nodes found = {class_definition};
  for (size_t next = 0; next < found.size() && found.size() < kMaxValues; ++next) {
    const NodeId bases = tree_.Child(found[next], Kind::kArgumentList);
    if (bases == kNoNode) continue;
    for (NodeId base = tree_.FirstChild(bases); base != kNoNode; base = tree_.NextSibling(base)) {
      if (tree_.GetKind(base) != Kind::kIdentifier) continue;
      for (const NodeId value : names_.GetValues(tree_.GetText(base), base)) {
        const bool is_new = std::find(found.begin(), found.end(), value) == found.end();
        if (IsClass(tree_, value) && is_new) found.push_back(value);
      }
    }
  }
  ancestors_.emplace_back(class_definition, std::move(found));
}

NodeId KernelReferences::ClassAround(NodeId node) const {
  NodeId owner = owners_[node];
  for (int depth = 0; depth < kMaxDepth && owner != kNoNode; ++depth) {
    if (IsClass(tree_, owner)) return owner;
    owner = owners_[owner];
  }
  return kNoNode;
}

bool KernelReferences::IsSelf(NodeId object) const {
  if (tree_.GetKind(object) != Kind::kIdentifier) return false;
  const absl::string_view name = tree_.GetText(object);
  return (name == "self" || name == "cls") && names_.IsParameter(name, object);
}

std::vector<NodeId> KernelReferences::FindClasses(NodeId object, int depth) const {
  constexpr int kMaxObjects = 4;  // a value, an attribute that has it, the call that makes it
  const NodeId node = tree_.StripParentheses(object);
  if (IsSelf(node)) return ClassAround(node) == kNoNode ? Nodes() : Nodes{ClassAround(node)};
  if (IsClass(tree_, node)) return {node};
  if (depth >= kMaxObjects) return {};
  Nodes values;
  if (tree_.GetKind(node) == Kind::kIdentifier) {
    const std::span<const NodeId> given = names_.GetValues(tree_.GetText(node), node);
    values.assign(given.begin(), given.end());
  } else if (tree_.GetKind(node) == Kind::kAttribute) {
    values = GetAttributes(node);
  } else if (tree_.GetKind(node) == Kind::kCall) {
    const NodeId function = tree_.Child(node, Field::kFunction);
    if (function != kNoNode && tree_.GetText(function) == "super") return FindBases(node);
    if (function != kNoNode && tree_.GetKind(function) == Kind::kIdentifier) {
      const std::span<const NodeId> called = names_.GetValues(tree_.GetText(function), function);
      std::copy_if(called.begin(), called.end(), std::back_inserter(values),
                   [this](NodeId value) { return IsClass(tree_, value); });
    }
  }
  Nodes classes;
  for (const NodeId value : values) {
    const Nodes found = FindClasses(value, depth + 1);
    classes.insert(classes.end(), found.begin(), found.end());
    if (classes.size() > kMaxValues) return {};
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

// Returns the bases of the class around `super()`.
std::vector<NodeId> KernelReferences::FindBases(NodeId super) const {
  const std::span<const NodeId> all = GetAncestors(ClassAround(super));
  return all.empty() ? Nodes() : Nodes(all.begin() + 1, all.end());
}

std::span<const NodeId> KernelReferences::GetAncestors(NodeId class_definition) const {
  const auto found =
      std::find_if(ancestors_.begin(), ancestors_.end(),
                   [class_definition](const auto& each) { return each.first == class_definition; });
  return found == ancestors_.end() ? std::span<const NodeId>() : found->second;
}

// Returns whether an object may have the members of both classes.
bool KernelReferences::AreInOneObject(NodeId a, NodeId b) const {
  return std::any_of(ancestors_.begin(), ancestors_.end(), [&](const auto& each) {
    const Nodes& all = each.second;
    return std::find(all.begin(), all.end(), a) != all.end() &&
           std::find(all.begin(), all.end(), b) != all.end();
  });
}

// Returns the members of the classes themselves, else those of the nearest base that has one, and
// those whose class is not known.
std::vector<NodeId> KernelReferences::SelectOwn(const std::vector<Member>& members,
                                                const Nodes& classes) const {
  Nodes own;
  const auto add_of = [&](NodeId wanted) {
    const size_t before = own.size();
    for (const Member& member : members) {
      if (member.of == wanted) own.push_back(member.node);
    }
    return own.size() > before;
  };
  for (const NodeId each : classes) {
    for (const NodeId base : GetAncestors(each)) {
      if (add_of(base)) break;
    }
  }
  add_of(kNoNode);
  return own;
}

// Returns the other members that an object of one of the classes may have.
std::vector<NodeId> KernelReferences::SelectOverrides(const std::vector<Member>& members,
                                                      const Nodes& classes) const {
  if (members.size() > kMaxValues) return {};
  const Nodes own = SelectOwn(members, classes);
  Nodes overrides;
  for (const Member& member : members) {
    if (std::find(own.begin(), own.end(), member.node) != own.end()) continue;
    const bool related = std::any_of(classes.begin(), classes.end(),
                                     [&](NodeId each) { return AreInOneObject(each, member.of); });
    if (related) overrides.push_back(member.node);
  }
  return overrides;
}

// Returns the values that an attribute may have. One with too many has none that is certain.
std::vector<NodeId> KernelReferences::GetAttributes(NodeId attribute) const {
  const NodeId name = tree_.Child(attribute, Field::kAttribute);
  const NodeId object = tree_.Child(attribute, Field::kObject);
  if (name == kNoNode || object == kNoNode) return {};
  const auto assigned = attributes_.find(tree_.GetText(name));
  if (assigned == attributes_.end()) return {};
  const std::vector<Member>& members = assigned->second;
  Nodes values;
  if (IsSelf(object) && ClassAround(object) != kNoNode) {
    const Nodes classes = {ClassAround(object)};
    values = SelectOwn(members, classes);
    const Nodes overrides = SelectOverrides(members, classes);
    values.insert(values.end(), overrides.begin(), overrides.end());
  } else {
    for (const Member& member : members) values.push_back(member.node);
  }
  return values.size() > kMaxValues ? Nodes() : values;
}

KernelKey KernelReferences::MakeKey(NodeId definition) const {
  const NodeId name = tree_.Child(definition, Field::kName);
  return {name == kNoNode ? "" : std::string(tree_.GetText(name)), owners_[definition]};
}

std::optional<KernelKey> KernelReferences::FindKernel(absl::string_view name, NodeId at) const {
  // From the innermost function outwards, at last the module (kNoNode); in a class's body that too.
  NodeId scope = owners_[at];
  if (IsClass(tree_, scope)) {
    KernelKey key(name, scope);
    if (kernels_.contains(key)) return key;
  }
  scope = around_[at];
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
  const bool plain = tree_.GetKind(node) == Kind::kIdentifier;
  if (dotted.empty()) {  // A().k
    const NodeId object = tree_.Child(node, Field::kObject);
    if (object != kNoNode && !FindClasses(object).empty() && AddMemberKernels(node, search)) {
      search.AddValues(tree_, GetAttributes(node));
    }
    return;
  }
  const absl::string_view name = LastPart(dotted);
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
  Nodes values;
  if (plain) {
    const std::span<const NodeId> given = names_.GetValues(name, node);
    values.assign(given.begin(), given.end());
  } else {
    values = GetAttributes(node);
    if (AddMemberKernels(node, search)) return search.AddValues(tree_, values);
  }
  std::optional<KernelKey> kernel = FindKernel(name, node);
  bool hidden = !values.empty() && plain;
  bool maybe_import = values.empty();  // or `k = None` beside an import that may fail
  for (const NodeId value : values) {
    const Kind kind = tree_.GetKind(value);
    if (kind == Kind::kFunctionDefinition) {
      if (kernel.has_value() && MakeKey(value) == *kernel) hidden = false;
    } else if (kind == Kind::kNoneLiteral) {
      maybe_import = true;
    }
  }
  search.AddValues(tree_, values);
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

// Adds the kernels that an attribute may be as methods of classes. Returns whether there are any.
bool KernelReferences::AddMemberKernels(NodeId attribute, Search& search) const {
  const NodeId object = tree_.Child(attribute, Field::kObject);
  const absl::string_view name = tree_.GetText(tree_.Child(attribute, Field::kAttribute));
  const auto found = kernels_of_classes_.find(name);
  if (object == kNoNode || found == kernels_of_classes_.end()) return false;
  const std::vector<Member>& members = found->second;
  const auto add = [&](const Nodes& classes, std::vector<KernelKey>& keys) {
    for (const NodeId each : classes) keys.emplace_back(name, each);
  };
  const Nodes classes = FindClasses(object);
  if (!classes.empty()) {
    const Nodes own = SelectOwn(members, classes);
    const Nodes overrides = IsSelf(object) ? SelectOverrides(members, classes) : Nodes();
    add(own, search.found.kernels);
    add(overrides, search.found.overrides);
    return !own.empty() || !overrides.empty();
  }
  if (FindKernel(name, attribute).has_value()) return false;
  Nodes all;
  for (const Member& member : members) all.push_back(member.node);
  add(all, all.size() == 1 ? search.found.kernels : search.found.ambiguous);
  return true;
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
  // k.compile(...); compile(k) of a module is told by its argument.
  if (method != kNoNode && dsl::PreparesKernel(tree_.GetText(method))) {
    const NodeId object = tree_.Child(function, Field::kObject);
    const bool may_be_kernel =
        FindArgument(arguments, "", 0) == kNoNode || (object != kNoNode && IsBound(object));
    if (object != kNoNode && may_be_kernel) {
      search.pending.push_back(object);
    }
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

// Returns whether the text gives a name its value.
bool KernelReferences::IsBound(NodeId name) const {
  if (tree_.GetKind(name) != Kind::kIdentifier) return true;
  const absl::string_view text = tree_.GetText(name);
  return names_.IsParameter(text, name) || !names_.GetValues(text, name).empty();
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
  if (methods == methods_.end()) return {};
  const NodeId object = tree_.Child(function, Field::kObject);
  const Nodes classes = object == kNoNode ? Nodes() : FindClasses(object);
  Nodes called;
  if (classes.empty()) {
    for (const Member& member : methods->second) called.push_back(member.node);
  } else {
    called = SelectOwn(methods->second, classes);
    if (called.empty() && IsSelf(object)) called = SelectOverrides(methods->second, classes);
  }
  return called.size() > kMaxValues ? Nodes() : called;
}

}  // namespace kernelmill::extractor
