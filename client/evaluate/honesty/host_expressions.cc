// The expressions of the host program: the objects that they may stand for.

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/evaluate/honesty/host_run.h"
#include "client/evaluate/honesty/torch_effects.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/children.h"

namespace kernelmill::client {

using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

// Returns a string's literal in single quotes, so that equal strings are equal; empty for one with
// escapes, a prefix or several parts.
std::string GetString(absl::string_view text) {
  const bool quoted = text.size() >= 2 && (text[0] == '"' || text[0] == '\'') &&
                      text.back() == text[0] && text.find(text[0], 1) == text.size() - 1;
  if (!quoted || absl::StrContains(text, "\\")) return "";
  return absl::StrCat("'", text.substr(1, text.size() - 2), "'");
}

}  // namespace

std::vector<python::NodeId> HostRun::Parts(NodeId node) const {
  return python::Children(tree_, node);
}

// All memory is bounded by the steps: each makes at most a few objects.
ObjectId HostRun::Add(Object object) {
  object.run = run_;
  objects_.push_back(std::move(object));
  return static_cast<ObjectId>(objects_.size() - 1);
}

Value HostRun::Scalar(std::string literal) {
  Object object;
  object.kind = Object::kScalar;
  object.name = std::move(literal);
  return {Add(std::move(object))};
}

Value HostRun::Tensor(const Value& sources, NodeId computed) {
  Object object;
  Absorb(sources, &object);
  if (computed != kNoNode) object.computed = computed;
  return {Add(std::move(object))};
}

void HostRun::Absorb(const Value& sources, Object* tensor) const {
  for (const ObjectId id : sources) {
    const Object& source = objects_[id];
    tensor->kernel |= source.kernel;
    tensor->made |= source.made;
    tensor->unknown |= source.unknown;
    if (tensor->computed == kNoNode) tensor->computed = source.computed;
    if (tensor->copied == kNoNode) tensor->copied = source.copied;
  }
}

Value HostRun::External(std::string name) {
  Object object;
  object.kind = Object::kExternal;
  object.name = std::move(name);
  return {Add(std::move(object))};
}

Value HostRun::Container(std::vector<Value> items) {
  Object object;
  object.kind = Object::kContainer;
  object.items = std::move(items);
  return {Add(std::move(object))};
}

// Returns the tensors in a value, also those in containers.
Value HostRun::FlattenTensors(const Value& value) const {
  Value tensors;
  Value open = value;
  absl::flat_hash_set<ObjectId> seen;
  for (size_t i = 0; i < open.size() && seen.size() < 4 * kMaxValue; ++i) {
    const ObjectId id = open[i];
    if (!seen.insert(id).second) continue;
    const Object& object = objects_[id];
    if (object.kind == Object::kTensor) AddTo({id}, &tensors);
    if (object.kind != Object::kContainer) continue;
    for (const Value& item : object.items) open.insert(open.end(), item.begin(), item.end());
    open.insert(open.end(), object.rest.begin(), object.rest.end());
    for (const auto& [key, item] : object.attributes)
      open.insert(open.end(), item.begin(), item.end());
  }
  return tensors;
}

// Returns the literal that all objects are; empty if they differ or are unknown.
std::string HostRun::FindLiteral(const Value& value) const {
  std::string literal;
  for (const ObjectId id : value) {
    if (objects_[id].kind != Object::kScalar || objects_[id].name.empty()) return "";
    if (!literal.empty() && literal != objects_[id].name) return "";
    literal = objects_[id].name;
  }
  return literal;
}

bool HostRun::IsZero(const Value& value) const {
  double number = 1;
  return absl::SimpleAtod(FindLiteral(value), &number) && number == 0;
}

const Value* HostRun::FindName(absl::string_view name, size_t scope) const {
  if (scopes_[scope].global.contains(name)) scope = 0;
  for (int depth = 0; depth < kMaxCalls; ++depth) {
    const auto found = scopes_[scope].names.find(name);
    if (found != scopes_[scope].names.end()) return &found->second;
    if (scope == 0) return nullptr;
    scope = scopes_[scope].around;
  }
  return nullptr;
}

Value HostRun::Evaluate(NodeId node) {
  const Nesting nesting(depth_);
  if (node == kNoNode || nesting.too_deep() || !Step()) return {};
  const absl::string_view text = tree_.GetText(node);
  switch (tree_.GetKind(node)) {
    case Kind::kIdentifier:
      return EvaluateName(node);
    case Kind::kParenthesizedExpression: {
      const NodeId inner = tree_.StripParentheses(node);
      return inner == node ? Value() : Evaluate(inner);
    }
    case Kind::kString:
    case Kind::kConcatenatedString:
      for (const NodeId interpolation : tree_.Of(Kind::kInterpolation, node)) {
        for (const NodeId part : Parts(interpolation)) Evaluate(part);
      }
      return Scalar(GetString(text));
    case Kind::kNoneLiteral:
      return Scalar("None");
    case Kind::kAttribute:
      return EvaluateAttribute(node);
    case Kind::kSubscript:
      return EvaluateSubscript(node);
    case Kind::kCall:
      return EvaluateCall(node);
    case Kind::kAssignment:
    case Kind::kAugmentedAssignment:
    case Kind::kNamedExpression:
      return EvaluateAssignment(node);
    case Kind::kConditionalExpression:
      return EvaluateConditional(node);
    case Kind::kBinaryOperator:
    case Kind::kComparisonOperator:
      return EvaluateOperator(node, Parts(node));
    case Kind::kLambda: {
      Object object;
      object.kind = Object::kFunction;
      object.node = node;
      object.scope = scope_;
      return {Add(std::move(object))};
    }
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kExpressionList:
      return EvaluateSequence(node);
    case Kind::kDictionary:
      return EvaluateDictionary(node);
    case Kind::kListComprehension:
    case Kind::kSetComprehension:
    case Kind::kDictionaryComprehension:
    case Kind::kGeneratorExpression:
      return EvaluateComprehension(node);
    default:
      return EvaluateOther(node);
  }
}

// Expressions that the tree has no kinds for: `and`, `or`, `not`, -x, sets, slices, await, yield.
Value HostRun::EvaluateOther(NodeId node) {
  const absl::string_view text = tree_.GetText(node);
  const std::vector<NodeId> parts = Parts(node);
  if (parts.empty()) return Scalar(std::string(text));
  if (text[0] == '{') return EvaluateSequence(node);
  Value all;
  for (const NodeId part : parts) AddTo(Evaluate(part), &all);
  if (parts.size() > 1) return all;
  if (absl::StartsWith(text, "not")) return Scalar();
  if (absl::StartsWith(text, "yield")) AddTo(all, &scopes_[scope_].returned);
  if (text[0] != '-' && text[0] != '~') return all;
  const std::string literal = FindLiteral(all);
  if (!literal.empty() && literal.size() < 32) return Scalar(absl::StrCat("-", literal));
  const Value tensors = FlattenTensors(all);
  return tensors.empty() ? Scalar() : Tensor(tensors, node);
}

// x = y, x += y and (x := y) have the value of x.
Value HostRun::EvaluateAssignment(NodeId node) {
  const bool named = tree_.GetKind(node) == Kind::kNamedExpression;
  const NodeId left = tree_.Child(node, named ? Field::kName : Field::kLeft);
  const NodeId right = tree_.Child(node, named ? Field::kValue : Field::kRight);
  if (left == kNoNode || right == kNoNode) return {};
  const bool augmented = tree_.GetKind(node) == Kind::kAugmentedAssignment;
  const Value value = augmented ? EvaluateOperator(node, {left, right}) : Evaluate(right);
  Assign(left, value);
  return value;
}

Value HostRun::EvaluateName(NodeId node) {
  const absl::string_view name = tree_.GetText(node);
  if (const Value* found = FindName(name, scope_); found != nullptr) return *found;
  if (name == "True" || name == "False") return Scalar(std::string(name));
  if (name == "TYPE_CHECKING") return Scalar("False");
  if (name == "__name__") return Scalar("'answer'");
  return External(std::string(name));
}

Value HostRun::EvaluateConditional(NodeId node) {
  const std::vector<NodeId> parts = Parts(node);
  if (parts.size() != 3) return {};
  const std::optional<bool> truth = Truth(parts[1]);
  if (truth.has_value()) return Evaluate(*truth ? parts[0] : parts[2]);
  ++branches_;
  const Value value = Union(Evaluate(parts[0]), Evaluate(parts[2]));
  --branches_;
  return value;
}

Value HostRun::EvaluateAttribute(NodeId node) {
  const NodeId object = tree_.Child(node, Field::kObject);
  const NodeId attribute = tree_.Child(node, Field::kAttribute);
  if (object == kNoNode || attribute == kNoNode) return {};
  const Value of = Evaluate(object);
  Value value;
  for (const ObjectId id : of) AddTo(GetAttribute(id, tree_.GetText(attribute)), &value);
  return value;
}

// Attributes that a tensor or a module lacks here are made when they are asked for: what is given
// to an entry may hold other tensors.
Value HostRun::GetAttribute(ObjectId of, absl::string_view name) {
  if (!Step()) return {};
  const std::string key(name);
  if (const auto found = objects_[of].attributes.find(key);
      found != objects_[of].attributes.end() && objects_[of].kind != Object::kContainer) {
    return found->second;
  }
  const Object object = objects_[of];
  if (object.kind == Object::kClass && name == "apply" && FindMember(object.node, name).empty()) {
    Object apply;
    apply.kind = Object::kInstance;
    apply.node = object.node;
    apply.name = "apply";
    return {Add(std::move(apply))};
  }
  switch (object.kind) {
    case Object::kExternal:
      return External(absl::StrCat(object.name, ".", name));
    case Object::kInstance:
    case Object::kClass: {
      Value member = GetMember(of, name);
      if (!member.empty()) return member;
      break;
    }
    case Object::kTensor:
      if (name == "T" || name == "mT" || name == "H" || name == "data" || name == "grad_fn")
        return {of};
      if (name == "shape" || name == "ndim" || name == "dtype" || name == "is_cuda" ||
          name == "requires_grad" || name == "layout" || name == "itemsize" || name == "training") {
        return Scalar();
      }
      if (name == "device") {
        const Value device = Scalar();
        objects_[device[0]].attributes["type"] = Scalar("'cuda'");
        return device;
      }
      break;
    case Object::kScalar:
      return Scalar();
    case Object::kContainer:
      return Scalar();
    default:
      return Tensor();
  }
  if (name == "training") return Scalar();
  Object part;
  part.input = object.input || object.kind == Object::kInstance;
  if (object.kind == Object::kTensor) {
    Absorb({of}, &part);
    part.self = {of};
  }
  part.name = object.name;
  const Value made = {Add(std::move(part))};
  objects_[of].attributes[key] = made;
  return made;
}

// Returns what the class of an instance, or a class, has under a name: methods are bound to the
// instance, properties are called.
Value HostRun::GetMember(ObjectId of, absl::string_view name) {
  const Object object = objects_[of];
  Value bound;
  for (const ObjectId member : FindMember(object.node, name)) {
    Object method = objects_[member];
    if (method.kind != Object::kFunction || object.kind == Object::kClass) {
      AddTo({member}, &bound);
      continue;
    }
    const NodeId around = tree_[method.node].parent;
    const bool decorated = tree_.GetKind(around) == Kind::kDecoratedDefinition;
    const absl::string_view decorators =
        decorated ? tree_.text().substr(tree_[around].start,
                                        tree_[method.node].start - tree_[around].start)
                  : "";
    if (!absl::StrContains(decorators, "staticmethod")) method.self = {of};
    const ObjectId id = Add(std::move(method));
    AddTo(absl::StrContains(decorators, "property") ? Call({id}, Given(), around) : Value{id},
          &bound);
  }
  return bound;
}

Value HostRun::GetItems(const Value& value) {
  Value items;
  for (const ObjectId id : value) {
    const Object& object = objects_[id];
    if (object.kind == Object::kContainer) {
      for (const Value& item : object.items) AddTo(item, &items);
      AddTo(object.rest, &items);
      for (const auto& [key, item] : object.attributes) AddTo(item, &items);
    } else if (object.kind == Object::kTensor) {
      AddTo({id}, &items);
    } else if (object.kind == Object::kInstance) {
      AddTo(object.rest, &items);
    }
  }
  return items.empty() ? Scalar() : items;
}

Value HostRun::EvaluateSubscript(NodeId node) {
  const NodeId of = tree_.Child(node, Field::kValue);
  if (of == kNoNode) return {};
  const Value objects = Evaluate(of);
  std::vector<NodeId> index = Parts(node);
  index.erase(index.begin());
  Value key_value;
  for (const NodeId part : index) key_value = Evaluate(part);
  const std::string key = index.size() == 1 ? FindLiteral(key_value) : "";
  Value value;
  Value kernels;
  for (const ObjectId id : objects) {
    const Object& object = objects_[id];
    switch (object.kind) {
      case Object::kKernel:
        AddTo({id}, &kernels);
        break;
      case Object::kContainer: {
        const auto found = object.attributes.find(key);
        size_t place = 0;
        if (found != object.attributes.end() && !key.empty()) {
          AddTo(Union(found->second, object.rest), &value);
        } else if (absl::SimpleAtoi(key, &place) && place < object.items.size()) {
          AddTo(object.items[place], &value);
        } else if (absl::StrContains(tree_.GetText(node), ":") && key.empty()) {
          AddTo(Union({id}, GetItems({id})), &value);  // a slice, or an unknown key
        } else {
          AddTo(GetItems({id}), &value);
        }
        break;
      }
      case Object::kExternal:
        // sys.modules["torch"]
        AddTo(object.name == "sys.modules" && key.size() > 2
                  ? External(key.substr(1, key.size() - 2))
                  : Value{id},
              &value);
        break;
      case Object::kTensor:
        AddTo({id}, &value);
        break;
      default:
        AddTo(object.rest.empty() ? Scalar() : object.rest, &value);
    }
  }
  if (kernels.empty()) return value;
  Object launch;
  launch.kind = Object::kLaunch;
  launch.self = std::move(kernels);
  return Union(value, {Add(std::move(launch))});
}

// An operation on tensors computes. A product with 0 has nothing of them, nor has x - x.
Value HostRun::EvaluateOperator(NodeId node, const std::vector<NodeId>& operands) {
  Value sources;
  bool zero = false;
  for (const NodeId operand : operands) {
    const Value value = Evaluate(operand);
    zero |= IsZero(value);
    AddTo(FlattenTensors(value), &sources);
    for (const ObjectId id : value) {
      if (objects_[id].kind == Object::kContainer) AddTo({id}, &sources);
    }
  }
  if (sources.empty()) return Scalar();
  if (tree_.GetKind(node) == Kind::kComparisonOperator) return Scalar();
  const bool lists =
      absl::c_any_of(sources, [&](ObjectId id) { return objects_[id].kind == Object::kContainer; });
  if (lists) {
    Value joined = Container({});
    objects_[joined[0]].rest = GetItems(sources);
    return joined;
  }
  const NodeId sign = tree_.Child(node, Field::kOperator);
  const absl::string_view by = sign == kNoNode ? "" : tree_.GetText(sign);
  const bool same =
      operands.size() == 2 && tree_.GetText(operands[0]) == tree_.GetText(operands[1]);
  if ((zero && absl::StartsWith(by, "*")) || (same && absl::StartsWith(by, "-"))) return Tensor();
  return Tensor(FlattenTensors(sources), node);
}

Value HostRun::EvaluateSequence(NodeId node) {
  std::vector<Value> items;
  Value rest;
  for (const NodeId part : Parts(node)) {
    if (tree_.GetKind(part) == Kind::kListSplat) {
      for (const NodeId inner : Parts(part)) AddTo(GetItems(Evaluate(inner)), &rest);
    } else {
      items.push_back(Evaluate(part));
    }
  }
  Value value = Container(std::move(items));
  objects_[value[0]].rest = std::move(rest);
  return value;
}

Value HostRun::EvaluateDictionary(NodeId node) {
  const Value made = Container({});
  for (const NodeId part : Parts(node)) {
    if (tree_.GetKind(part) != Kind::kPair) {
      for (const NodeId inner : Parts(part))
        AddTo(GetItems(Evaluate(inner)), &objects_[made[0]].rest);
      continue;
    }
    const NodeId key = tree_.Child(part, Field::kKey);
    const NodeId value = tree_.Child(part, Field::kValue);
    if (key == kNoNode || value == kNoNode) continue;
    const std::string literal = FindLiteral(Evaluate(key));
    const Value entry = Evaluate(value);
    AddTo(entry,
          literal.empty() ? &objects_[made[0]].rest : &objects_[made[0]].attributes[literal]);
  }
  return made;
}

Value HostRun::EvaluateComprehension(NodeId node) {
  const auto before = scopes_[scope_].names;
  for (const NodeId part : Parts(node)) {
    if (tree_.GetKind(part) != Kind::kForInClause) continue;
    const NodeId left = tree_.Child(part, Field::kLeft);
    const NodeId right = tree_.Child(part, Field::kRight);
    if (left != kNoNode && right != kNoNode) Assign(left, GetItems(Evaluate(right)));
  }
  const NodeId body = tree_.Child(node, Field::kBody);
  ++branches_;
  Value items;
  if (body != kNoNode && tree_.GetKind(body) == Kind::kPair) {
    items = Evaluate(tree_.Child(body, Field::kValue));
  } else if (body != kNoNode) {
    items = Evaluate(body);
  }
  --branches_;
  scopes_[scope_].names = before;
  Value value = Container({});
  objects_[value[0]].rest = std::move(items);
  return value;
}

// Returns the classes of the answer that a class is made of; sets the names of others.
std::vector<python::NodeId> HostRun::FindBases(NodeId definition,
                                               std::vector<std::string>* external) {
  std::vector<NodeId> bases;
  const NodeId list = tree_.Child(definition, Kind::kArgumentList);
  if (list == kNoNode) return bases;
  for (const NodeId part : Parts(list)) {
    if (tree_.GetKind(part) == Kind::kKeywordArgument) continue;
    for (const ObjectId id : Evaluate(part)) {
      if (objects_[id].kind == Object::kClass) bases.push_back(objects_[id].node);
      if (objects_[id].kind == Object::kExternal) external->push_back(objects_[id].name);
    }
  }
  return bases;
}

// Returns whether a class or one of its bases derives from a class of that name elsewhere.
bool HostRun::DerivesFrom(NodeId definition, absl::string_view base) {
  std::vector<NodeId> open = {definition};
  for (size_t i = 0; i < open.size() && i < static_cast<size_t>(kMaxCalls); ++i) {
    std::vector<std::string> external;
    for (const NodeId of : FindBases(open[i], &external)) open.push_back(of);
    for (const std::string& name : external) {
      if (name == base || absl::EndsWith(name, absl::StrCat(".", base))) return true;
    }
  }
  return false;
}

// Returns what a class has under a name, also from its bases in the answer.
Value HostRun::FindMember(NodeId definition, absl::string_view name, int depth) {
  if (depth > kMaxCalls || !Step()) return {};
  if (const auto known = classes_.find(definition); known != classes_.end()) {
    const Object& object = objects_[known->second];
    const auto found = object.attributes.find(std::string(name));
    if (found != object.attributes.end()) return found->second;
  }
  std::vector<std::string> external;
  for (const NodeId base : FindBases(definition, &external)) {
    Value found = FindMember(base, name, depth + 1);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace kernelmill::client
