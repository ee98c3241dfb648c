#include "services/extractor/core/detect/file_values.h"

#include <algorithm>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/python/syntax/calls.h"

namespace kernelmill::extractor {

using python::Argument;
using python::Field;
using python::GetArguments;
using python::IsLayout;
using python::Kind;
using python::kNoNode;

namespace {

// Bounds on hostile files: the values that are collected, the nodes around a name that are searched
// for a loop or a class, and the places in a loop's target.
constexpr size_t kMaxValues = 64;
constexpr int kMaxAround = 256;
constexpr size_t kMaxPath = 4;

bool IsComprehension(Kind kind) {
  return kind == Kind::kListComprehension || kind == Kind::kSetComprehension ||
         kind == Kind::kDictionaryComprehension || kind == Kind::kGeneratorExpression;
}

bool IsSequence(Kind kind) {
  return kind == Kind::kTuple || kind == Kind::kList || kind == Kind::kExpressionList ||
         kind == Kind::kPatternList || kind == Kind::kTuplePattern || kind == Kind::kListPattern;
}

// Returns the children that are code.
std::vector<NodeId> Parts(const SyntaxTree& tree, NodeId node) {
  std::vector<NodeId> parts;
  for (NodeId child = tree.FirstChild(node); child != kNoNode && parts.size() < kMaxValues;
       child = tree.NextSibling(child)) {
    if (!IsLayout(tree.GetKind(child))) parts.push_back(child);
  }
  return parts;
}

// Returns whether the node is a set display, which has no kind of its own.
bool IsSet(const SyntaxTree& tree, NodeId node) {
  return tree.GetKind(node) == Kind::kOther && tree.GetText(node).substr(0, 1) == "{";
}

bool IsBelow(const SyntaxTree& tree, NodeId node, NodeId root) {
  return root < node && node < tree[root].subtree_end;
}

// Finds the name in a loop's target, and its places there from the outside in.
bool FindInTarget(const SyntaxTree& tree, NodeId target, absl::string_view name,
                  std::vector<size_t>& path) {
  if (tree.GetKind(target) == Kind::kIdentifier) return tree.GetText(target) == name;
  if (!IsSequence(tree.GetKind(target)) || path.size() == kMaxPath) return false;
  const std::vector<NodeId> parts = Parts(tree, target);
  for (size_t i = 0; i < parts.size(); ++i) {
    path.push_back(i);
    if (FindInTarget(tree, parts[i], name, path)) return true;
    path.pop_back();
  }
  return false;
}

// Returns the name of a call of a function or a method: "items" for x.items().
absl::string_view CalledName(const SyntaxTree& tree, NodeId function) {
  const NodeId attribute = tree.Child(function, Field::kAttribute);
  return tree.GetText(attribute == kNoNode ? function : attribute);
}

// Returns what is between the brackets of a subscript.
NodeId FindIndex(const SyntaxTree& tree, NodeId subscript) {
  const std::vector<NodeId> parts = Parts(tree, subscript);
  return parts.size() == 2 ? parts[1] : kNoNode;
}

}  // namespace

NodeId FirstExpression(const SyntaxTree& tree, NodeId node) {
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (!IsLayout(tree.GetKind(child))) return child;
  }
  return kNoNode;
}

absl::string_view StringIn(const SyntaxTree& tree, NodeId node) {
  const absl::string_view text = tree.GetText(node);
  const bool is_plain = tree.GetKind(node) == Kind::kString && text.size() > 2 &&
                        (text[0] == '\'' || text[0] == '"') && text[1] != text[0];
  return is_plain ? text.substr(1, text.size() - 2) : "";
}

bool IsChoice(const SyntaxTree& tree, NodeId node) {
  if (tree.GetKind(node) == Kind::kConditionalExpression) return true;
  if (tree.GetKind(node) != Kind::kOther) return false;
  const NodeId sign = tree.Child(node, Field::kOperator);
  return sign != kNoNode && (tree.GetText(sign) == "and" || tree.GetText(sign) == "or");
}

FileValues::FileValues(const SyntaxTree& tree, const LocalNames& names)
    : tree_(tree), names_(names) {
  AddAssignments();
}

// Collects `a.f = v`, `d["f"] = v` and setattr(a, "f", v). globals()["f"] is the name f.
void FileValues::AddAssignments() {
  for (const NodeId assignment : tree_.Of(Kind::kAssignment)) {
    const NodeId left = tree_.Child(assignment, Field::kLeft);
    const NodeId right = tree_.Child(assignment, Field::kRight);
    if (left == kNoNode || right == kNoNode) continue;
    const Kind kind = tree_.GetKind(left);
    if (kind != Kind::kAttribute && kind != Kind::kSubscript) continue;
    const NodeId index = kind == Kind::kSubscript ? FindIndex(tree_, left) : kNoNode;
    const absl::string_view key = index == kNoNode ? "" : StringIn(tree_, index);
    const bool is_global = !key.empty() && absl::StartsWith(tree_.GetText(left), "globals()");
    AddAssignment(std::string(is_global ? key : tree_.GetText(left)), right);
  }
  for (const NodeId call : tree_.Of(Kind::kCall)) {
    const NodeId function = tree_.Child(call, Field::kFunction);
    if (function == kNoNode || tree_.GetText(function) != "setattr") continue;
    const python::Arguments arguments = GetArguments(tree_, call);
    if (arguments.size() != 3) continue;
    const absl::string_view name = StringIn(tree_, arguments[1].value);
    if (name.empty()) continue;
    AddAssignment(absl::StrCat(tree_.GetText(arguments[0].value), ".", name), arguments[2].value);
  }
}

void FileValues::AddAssignment(const std::string& target, NodeId value) {
  Values& values = assigned_[target];
  if (values.size() < kMaxValues) values.push_back(value);
}

std::vector<NodeId> FileValues::ListElements(NodeId iterable) const {
  Values found;
  int steps = kMaxSteps;
  AddElements(iterable, {}, 0, steps, found);
  return found;
}

NodeId FileValues::FindIterable(NodeId name) const {
  Path path;
  return FindLoop(name, path);
}

FileValues::Values FileValues::Follow(NodeId expression, int& steps) const {
  if (--steps < 0) return {};
  const NodeId node = tree_.StripParentheses(expression);
  switch (tree_.GetKind(node)) {
    case Kind::kIdentifier: {
      const std::span<const NodeId> own = names_.GetValues(tree_.GetText(node), node);
      Values values(own.begin(), own.end());
      const NodeId given = FindDefault(node);
      if (given != kNoNode) values.insert(values.begin(), given);
      if (values.empty()) values = FollowLoop(node, steps);
      if (!values.empty() || names_.IsParameter(tree_.GetText(node), node)) return values;
      const auto assigned = assigned_.find(std::string(tree_.GetText(node)));
      return assigned == assigned_.end() ? Values() : assigned->second;
    }
    case Kind::kCall:
      return FollowGet(node, steps);
    case Kind::kAttribute:
      return FollowAttribute(node, steps);
    case Kind::kSubscript:
      return FollowSubscript(node, steps);
    case Kind::kNamedExpression: {
      const NodeId value = tree_.Child(node, Field::kValue);
      return value == kNoNode ? Values() : Values{value};
    }
    default:
      return IsChoice(tree_, node) ? Parts(tree_, node) : Values();
  }
}

// Returns the entries that mapping.get(key) may give.
FileValues::Values FileValues::FollowGet(NodeId call, int& steps) const {
  Values found;
  const NodeId function = tree_.Child(call, Field::kFunction);
  const NodeId object = function == kNoNode ? kNoNode : tree_.Child(function, Field::kObject);
  if (object == kNoNode || CalledName(tree_, function) != "get") return found;
  const python::Arguments arguments = GetArguments(tree_, call);
  if (arguments.empty()) return found;
  const NodeId key = arguments[0].value;
  AddEntries(object, tree_.GetKind(key) == Kind::kString ? tree_.GetText(key) : "", steps, found);
  for (size_t i = 1; i < arguments.size(); ++i) found.push_back(arguments[i].value);
  return found;
}

// The function around the name that has the parameter may be an outer one.
NodeId FileValues::FindDefault(NodeId name) const {
  const absl::string_view text = tree_.GetText(name);
  if (!names_.IsParameter(text, name)) return kNoNode;
  NodeId node = tree_[name].parent;
  for (int around = 0; around < kMaxAround && node != kNoNode; ++around) {
    const bool is_function =
        tree_.GetKind(node) == Kind::kFunctionDefinition || tree_.GetKind(node) == Kind::kLambda;
    const NodeId parameters = is_function ? tree_.Child(node, Field::kParameters) : kNoNode;
    if (parameters != kNoNode && !IsBelow(tree_, name, parameters)) {
      for (const NodeId parameter : Parts(tree_, parameters)) {
        const NodeId named = tree_.Child(parameter, Field::kName);
        const NodeId value = tree_.Child(parameter, Field::kValue);
        if (named != kNoNode && tree_.GetText(named) == text) return value;
      }
    }
    node = tree_[node].parent;
  }
  return kNoNode;
}

// A member that the file assigns by the same words counts too, except that words with `self` or
// `cls` may mean another class.
FileValues::Values FileValues::FollowAttribute(NodeId attribute, int& steps) const {
  const NodeId object = tree_.Child(attribute, Field::kObject);
  const NodeId name = tree_.Child(attribute, Field::kAttribute);
  if (object == kNoNode || name == kNoNode) return {};
  Values found;
  for (const NodeId holder : ListHolders(object, steps)) {
    AddMembers(holder, tree_.GetText(name), steps, found);
  }
  const auto assigned = assigned_.find(std::string(tree_.GetText(attribute)));
  if (assigned == assigned_.end()) return found;
  const NodeId of = FindClass(object);
  for (const NodeId value : assigned->second) {
    if (of == kNoNode) found.push_back(value);
  }
  return found;
}

// Returns the classes, and the calls that make namespaces, whose members the object has.
FileValues::Values FileValues::ListHolders(NodeId object, int& steps) const {
  if (--steps < 0) return {};
  const NodeId node = tree_.StripParentheses(object);
  const NodeId own = FindClass(node);
  if (own != kNoNode) return {own};
  if (tree_.GetKind(node) == Kind::kClassDefinition) return {node};
  if (tree_.GetKind(node) == Kind::kCall) {
    const NodeId function = tree_.Child(node, Field::kFunction);
    const bool is_super = function != kNoNode && tree_.GetText(function) == "super";
    const NodeId around = is_super ? FindClassAround(node) : kNoNode;
    const NodeId bases = around == kNoNode ? kNoNode : tree_.Child(around, Kind::kArgumentList);
    Values holders = function == kNoNode ? Values() : ListHolders(function, steps);
    if (bases != kNoNode) {
      for (const NodeId base : Parts(tree_, bases)) {
        for (const NodeId of : ListHolders(base, steps)) holders.push_back(of);
      }
    }
    holders.push_back(node);
    return holders;
  }
  Values holders;
  for (const NodeId value : Follow(node, steps)) {
    for (const NodeId holder : ListHolders(value, steps)) {
      if (holders.size() < kMaxValues) holders.push_back(holder);
    }
  }
  return holders;
}

// Returns the class that the first parameter of a method means: `self`, `cls`. kNoNode for any
// other expression.
NodeId FileValues::FindClass(NodeId object) const {
  if (tree_.GetKind(object) != Kind::kIdentifier) return kNoNode;
  const absl::string_view name = tree_.GetText(object);
  if ((name != "self" && name != "cls") || !names_.IsParameter(name, object)) return kNoNode;
  return FindClassAround(object);
}

NodeId FileValues::FindClassAround(NodeId node) const {
  node = tree_[node].parent;
  for (int around = 0; around < kMaxAround && node != kNoNode; ++around) {
    if (tree_.GetKind(node) == Kind::kClassDefinition) return node;
    node = tree_[node].parent;
  }
  return kNoNode;
}

// Adds the values of a member: those of the class itself, also what it assigns to `self`; else
// those of its bases in this file; for a call the keyword argument of that name, as SimpleNamespace
// has it.
void FileValues::AddMembers(NodeId holder, absl::string_view name, int& steps,
                            Values& found) const {
  if (--steps < 0 || found.size() >= kMaxValues) return;
  if (tree_.GetKind(holder) == Kind::kCall) {
    for (const Argument& argument : GetArguments(tree_, holder)) {
      if (argument.keyword == name) found.push_back(argument.value);
    }
    return;
  }
  const std::span<const NodeId> members = names_.GetMembers(name, holder);
  Values values(members.begin(), members.end());
  const auto assigned = assigned_.find(absl::StrCat("self.", name));
  if (assigned != assigned_.end()) {
    for (const NodeId value : assigned->second) {
      if (IsBelow(tree_, value, holder)) values.push_back(value);
    }
  }
  found.insert(found.end(), values.begin(), values.end());
  const NodeId bases = tree_.Child(holder, Kind::kArgumentList);
  if (!values.empty() || bases == kNoNode) return;
  for (const NodeId base : Parts(tree_, bases)) {
    for (const NodeId of : ListHolders(base, steps)) AddMembers(of, name, steps, found);
  }
}

FileValues::Values FileValues::FollowSubscript(NodeId subscript, int& steps) const {
  const NodeId object = tree_.Child(subscript, Field::kValue);
  const NodeId index = FindIndex(tree_, subscript);
  if (object == kNoNode || index == kNoNode) return {};
  Values found;
  const auto assigned = assigned_.find(std::string(tree_.GetText(subscript)));
  if (assigned != assigned_.end()) found = assigned->second;
  Values displays = Follow(object, steps);
  displays.push_back(tree_.StripParentheses(object));
  size_t number = 0;
  const bool by_place = absl::SimpleAtoi(tree_.GetText(index), &number);
  const bool by_key = tree_.GetKind(index) == Kind::kString || by_place;
  for (const NodeId display : displays) {
    if (!IsSequence(tree_.GetKind(display))) {
      AddEntries(display, by_key ? tree_.GetText(index) : "", steps, found);
      continue;
    }
    const std::vector<NodeId> parts = Parts(tree_, display);
    if (!by_place) found.insert(found.end(), parts.begin(), parts.end());
    if (by_place && number < parts.size()) found.push_back(parts[number]);
  }
  return found;
}

FileValues::Values FileValues::FollowLoop(NodeId name, int& steps) const {
  Path path;
  const NodeId iterable = FindLoop(name, path);
  Values found;
  if (iterable != kNoNode) AddElements(iterable, path, 0, steps, found);
  return found;
}

// Finds the innermost loop around the name that binds it, and the name's place in the target.
// Returns what it goes over, in which the name has another meaning.
NodeId FileValues::FindLoop(NodeId name, Path& path) const {
  const auto goes_over = [&](NodeId loop) {
    const NodeId left = tree_.Child(loop, Field::kLeft);
    const NodeId right = tree_.Child(loop, Field::kRight);
    path.clear();
    if (left == kNoNode || right == kNoNode) return kNoNode;
    const bool inside = right == name || IsBelow(tree_, name, right);
    const bool binds = !inside && FindInTarget(tree_, left, tree_.GetText(name), path);
    return binds ? right : kNoNode;
  };
  NodeId node = tree_[name].parent;
  for (int around = 0; around < kMaxAround && node != kNoNode; ++around) {
    std::vector<NodeId> loops;
    if (tree_.GetKind(node) == Kind::kForStatement) loops = {node};
    if (IsComprehension(tree_.GetKind(node))) loops = Parts(tree_, node);
    for (const NodeId loop : loops) {
      const NodeId found = goes_over(loop);
      if (found != kNoNode) return found;
    }
    node = tree_[node].parent;
  }
  return kNoNode;
}

// Adds what a loop over `iterable` gives the variable at path[at..] of its target.
void FileValues::AddElements(NodeId iterable, const Path& path, size_t at, int& steps,
                             Values& found) const {
  if (--steps < 0 || found.size() >= kMaxValues) return;
  const NodeId node = tree_.StripParentheses(iterable);
  const Kind kind = tree_.GetKind(node);
  if (IsSequence(kind) || IsSet(tree_, node)) {
    for (const NodeId element : Parts(tree_, node)) AddElement(element, path, at, steps, found);
    return;
  }
  if (kind == Kind::kCall) return AddElementsOfCall(node, path, at, steps, found);
  if (IsComprehension(kind)) {
    const NodeId body = tree_.Child(node, Field::kBody);
    if (body != kNoNode) AddElement(body, path, at, steps, found);
    return;
  }
  for (const NodeId value : Follow(node, steps)) {
    AddElements(value, path, at, steps, found);
  }
}

// Knows the calls that loops go over: zip, enumerate, items, values, and those that only copy.
void FileValues::AddElementsOfCall(NodeId call, const Path& path, size_t at, int& steps,
                                   Values& found) const {
  const NodeId function = tree_.Child(call, Field::kFunction);
  if (function == kNoNode) return;
  const absl::string_view name = CalledName(tree_, function);
  const NodeId object = tree_.Child(function, Field::kObject);
  if (object != kNoNode) {
    const bool pairs = name == "items";
    if (!pairs && name != "values") return;
    if (pairs && (at >= path.size() || path[at] != 1)) return;
    Values entries;
    AddEntries(object, "", steps, entries);
    for (const NodeId entry : entries) {
      AddElement(entry, path, pairs ? at + 1 : at, steps, found);
    }
    return;
  }
  const python::Arguments arguments = GetArguments(tree_, call);
  if (arguments.empty()) return;
  if (name == "zip" || name == "enumerate") {
    if (at >= path.size()) return;
    const size_t place = name == "zip" ? path[at] : path[at] - 1;
    const bool known = place < arguments.size() && (name == "zip" || path[at] == 1);
    if (known) AddElements(arguments[place].value, path, at + 1, steps, found);
  } else if (name == "list" || name == "tuple" || name == "set" || name == "sorted" ||
             name == "reversed" || name == "iter") {
    AddElements(arguments[0].value, path, at, steps, found);
  }
}

// Adds the part of an element that the target's variable gets.
void FileValues::AddElement(NodeId element, const Path& path, size_t at, int& steps,
                            Values& found) const {
  NodeId node = tree_.StripParentheses(element);
  for (; at < path.size(); ++at) {
    if (!IsSequence(tree_.GetKind(node))) return;
    const std::vector<NodeId> parts = Parts(tree_, node);
    if (path[at] >= parts.size()) return;
    node = tree_.StripParentheses(parts[path[at]]);
  }
  if (tree_.GetKind(node) == Kind::kListSplat) {
    const NodeId inner = FirstExpression(tree_, node);
    if (inner != kNoNode) AddElements(inner, path, path.size(), steps, found);
  } else if (found.size() < kMaxValues) {
    found.push_back(node);
  }
}

// Adds the values of a mapping at a key, which is compared as written; at all keys if it is empty.
void FileValues::AddEntries(NodeId mapping, absl::string_view key, int& steps,
                            Values& found) const {
  if (--steps < 0 || found.size() >= kMaxValues) return;
  const NodeId node = tree_.StripParentheses(mapping);
  if (tree_.GetKind(node) == Kind::kDictionary) {
    for (const NodeId pair : Parts(tree_, node)) {
      const NodeId name = tree_.Child(pair, Field::kKey);
      const NodeId value = tree_.Child(pair, Field::kValue);
      if (tree_.GetKind(pair) != Kind::kPair || name == kNoNode || value == kNoNode) continue;
      if (key.empty() || tree_.GetText(name) == key) found.push_back(value);
    }
    return;
  }
  if (tree_.GetKind(node) == Kind::kCall) {
    const NodeId function = tree_.Child(node, Field::kFunction);
    if (function == kNoNode || tree_.GetText(function) != "dict") return;
    const absl::string_view bare = key.size() < 2 ? "" : key.substr(1, key.size() - 2);
    for (const Argument& argument : GetArguments(tree_, node)) {
      if (argument.keyword.empty()) continue;
      if (key.empty() || argument.keyword == bare) found.push_back(argument.value);
    }
    return;
  }
  for (const NodeId value : Follow(node, steps)) AddEntries(value, key, steps, found);
}

std::vector<std::pair<absl::string_view, NodeId>> FileValues::ListMembers(NodeId value) const {
  std::vector<std::pair<absl::string_view, NodeId>> members;
  int steps = kMaxSteps;
  for (const NodeId holder : ListHolders(value, steps)) {
    if (tree_.GetKind(holder) == Kind::kClassDefinition) {
      for (const auto& [name, member] : names_.ListMembers(holder)) {
        if (members.size() < kMaxValues) members.emplace_back(name, member);
      }
      continue;
    }
    for (const Argument& argument : GetArguments(tree_, holder)) {
      if (!argument.keyword.empty() && members.size() < kMaxValues) {
        members.emplace_back(argument.keyword, argument.value);
      }
    }
  }
  return members;
}

}  // namespace kernelmill::extractor
