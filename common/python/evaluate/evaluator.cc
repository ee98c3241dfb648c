#include "common/python/evaluate/evaluator.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::python {
namespace {

// Elements of a dictionary: they are looked for one after another.
constexpr size_t kMaxDictItems = 512;
// Of an argument that is not known.
constexpr size_t kMaxText = 1024;

bool IsTargetList(Kind kind) {
  return kind == Kind::kPatternList || kind == Kind::kTuplePattern || kind == Kind::kListPattern ||
         kind == Kind::kExpressionList || kind == Kind::kTuple || kind == Kind::kList;
}

}  // namespace

std::optional<Value> Evaluator::Evaluate(NodeId expression) { return Expression(expression); }

bool Evaluator::Step(int64_t cost) {
  if (steps_ < cost) {
    steps_ = 0;
    return false;
  }
  steps_ -= cost;
  return true;
}

NodeId Evaluator::FirstOperand(NodeId node) const {
  NodeId child = tree_.FirstChild(node);
  while (child != kNoNode && IsLayout(tree_.KindOf(child))) child = tree_.NextSibling(child);
  return child;
}

NodeId Evaluator::NextOperand(NodeId node) const {
  NodeId child = tree_.NextSibling(node);
  while (child != kNoNode && IsLayout(tree_.KindOf(child))) child = tree_.NextSibling(child);
  return child;
}

Evaluator::Result Evaluator::Expression(NodeId node) {
  const Nesting nesting(depth_);
  if (node == kNoNode || nesting.too_deep() || !Step()) return std::nullopt;
  node = tree_.StripParentheses(node);
  switch (tree_.KindOf(node)) {
    case Kind::kIdentifier:
      return Name(tree_.TextOf(node));
    case Kind::kNoneLiteral:
      return Value::None();
    case Kind::kString:
    case Kind::kConcatenatedString:
      return String(node);
    case Kind::kList:
      return Elements(node, Value::Type::kList);
    case Kind::kTuple:
    case Kind::kExpressionList:
      return Elements(node, Value::Type::kTuple);
    case Kind::kDictionary:
      return Dictionary(node, false);
    case Kind::kListComprehension:
    case Kind::kGeneratorExpression:
    case Kind::kDictionaryComprehension:
      return Comprehension(node);
    case Kind::kBinaryOperator: {
      const NodeId sign = tree_.Child(node, Field::kOperator);
      const Result left = Expression(tree_.Child(node, Field::kLeft));
      if (!left.has_value() || sign == kNoNode) return std::nullopt;
      const Result right = Expression(tree_.Child(node, Field::kRight));
      if (!right.has_value()) return std::nullopt;
      return Arithmetic(tree_.TextOf(sign), *left, *right, steps_);
    }
    case Kind::kComparisonOperator:
      return Comparison(node);
    case Kind::kConditionalExpression:
      return Condition(node);
    case Kind::kCall:
      return Call(node);
    case Kind::kSubscript:
      return Subscript(node);
    case Kind::kAttribute:
      return Attribute(node);
    case Kind::kLambda: {
      Value function;
      function.type = Value::Type::kFunction;
      function.function = node;
      function.closure = frame_;
      return function;
    }
    case Kind::kOther:
      return tree_.IsLeaf(node) ? Literal(node) : OtherOperator(node);
    default:
      return std::nullopt;
  }
}

Evaluator::Result Evaluator::Name(absl::string_view name) {
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->around) {
    const auto found = frame->names.find(name);
    if (found != frame->names.end()) return found->second;
  }
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  const std::optional<std::vector<NodeId>> statements = file_.statements.Find(name, at_);
  if (!statements.has_value()) return known_[name] = std::nullopt;
  if (!pending_.insert(name).second) return std::nullopt;
  Result value = OfStatements(name, *statements);
  pending_.erase(name);
  return known_[name] = std::move(value);
}

Evaluator::Result Evaluator::Comparison(NodeId node) {
  const NodeId first = FirstOperand(node);
  Result left = first == kNoNode ? std::nullopt : Expression(first);
  std::string sign;
  for (NodeId child = first == kNoNode ? kNoNode : tree_.NextSibling(first);
       child != kNoNode && left.has_value(); child = tree_.NextSibling(child)) {
    if (tree_.KindOf(child) == Kind::kToken) {
      absl::StrAppend(&sign, sign.empty() ? "" : " ", tree_.TextOf(child));
      continue;
    }
    if (IsLayout(tree_.KindOf(child))) continue;
    const Result right = Expression(child);
    if (!right.has_value()) return std::nullopt;
    const std::optional<bool> holds = Compare(sign, *left, *right, steps_);
    if (!holds.has_value()) return std::nullopt;
    if (!*holds) return Value::Bool(false);
    left = right;
    sign.clear();
  }
  return left.has_value() ? std::optional(Value::Bool(true)) : std::nullopt;
}

Evaluator::Result Evaluator::Condition(NodeId node) {
  const NodeId then = FirstOperand(node);
  const NodeId condition = then == kNoNode ? kNoNode : NextOperand(then);
  const NodeId otherwise = condition == kNoNode ? kNoNode : NextOperand(condition);
  if (otherwise == kNoNode) return std::nullopt;
  const Result value = Expression(condition);
  const std::optional<bool> holds = value.has_value() ? Truth(*value) : std::nullopt;
  if (!holds.has_value()) return std::nullopt;
  return Expression(*holds ? then : otherwise);
}

// a and b, a or b, not a, -a, +a, ~a.
Evaluator::Result Evaluator::OtherOperator(NodeId node) {
  const NodeId sign = tree_.Child(node, Field::kOperator);
  const NodeId left = tree_.Child(node, Field::kLeft);
  if (left != kNoNode) {
    const absl::string_view word = sign == kNoNode ? "" : tree_.TextOf(sign);
    const Result first = word == "and" || word == "or" ? Expression(left) : std::nullopt;
    const std::optional<bool> holds = first.has_value() ? Truth(*first) : std::nullopt;
    if (!holds.has_value()) return std::nullopt;
    return *holds == (word == "or") ? first : Expression(tree_.Child(node, Field::kRight));
  }
  const NodeId first = tree_.FirstChild(node);
  const absl::string_view word = tree_.TextOf(first);
  if (tree_.KindOf(first) != Kind::kToken) return std::nullopt;
  if (word != "not" && word != "-" && word != "+" && word != "~") return std::nullopt;
  const Result value = Expression(FirstOperand(node));
  if (!value.has_value()) return std::nullopt;
  if (word == "not") {
    const std::optional<bool> holds = Truth(*value);
    return holds.has_value() ? std::optional(Value::Bool(!*holds)) : std::nullopt;
  }
  if (!value->IsNumber()) return std::nullopt;
  if (word == "~") return Arithmetic("-", Value::Int(-1), *value, steps_);
  if (value->type == Value::Type::kFloat)
    return Value::Float(word == "-" ? -value->real : value->real);
  return Arithmetic(word, Value::Int(0), *value, steps_);
}

Evaluator::Result Evaluator::Subscript(NodeId node) {
  const NodeId object = tree_.Child(node, Field::kValue);
  const Result of = Expression(object);
  if (!of.has_value() || of->items == nullptr) return std::nullopt;
  const NodeId index = NextOperand(object);
  if (index == kNoNode || NextOperand(index) != kNoNode) return std::nullopt;
  const NodeId first = tree_.FirstChild(index);
  bool is_slice = false;
  for (NodeId child = first; child != kNoNode && tree_.KindOf(index) == Kind::kOther;
       child = tree_.NextSibling(child)) {
    is_slice = is_slice || (tree_.KindOf(child) == Kind::kToken && tree_.TextOf(child) == ":");
  }
  if (is_slice) return of->IsSequence() ? Slice(*of, index) : std::nullopt;
  const Result key = Expression(index);
  if (!key.has_value()) return std::nullopt;
  if (of->type == Value::Type::kDict) {
    const Value* found = FindItem(*of, *key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  const auto size = static_cast<int64_t>(of->items->size());
  if (key->type != Value::Type::kInt || key->integer < -size || key->integer >= size) {
    return std::nullopt;
  }
  return (*of->items)[static_cast<size_t>(key->integer + (key->integer < 0 ? size : 0))];
}

// of[a:b], either of which may be missing.
Evaluator::Result Evaluator::Slice(const Value& of, NodeId node) {
  const auto size = static_cast<int64_t>(of.items->size());
  int64_t bounds[2] = {0, size};
  size_t colons = 0;
  for (NodeId child = tree_.FirstChild(node); child != kNoNode; child = tree_.NextSibling(child)) {
    if (IsLayout(tree_.KindOf(child))) {
      colons += tree_.TextOf(child) == ":" ? 1 : 0;
      continue;
    }
    const Result bound = Expression(child);
    if (colons > 1 || !bound.has_value() || bound->type != Value::Type::kInt) return std::nullopt;
    bounds[colons] = bound->integer < 0 ? std::max<int64_t>(bound->integer, -size) + size
                                        : std::min(bound->integer, size);
  }
  if (colons != 1 || !Step(size)) return std::nullopt;
  const auto begin = of.items->begin();
  return Value::Sequence(of.type, bounds[0] < bounds[1]
                                      ? Value::Items(begin + bounds[0], begin + bounds[1])
                                      : Value::Items());
}

// What a record was given.
Evaluator::Result Evaluator::Attribute(NodeId node) {
  const NodeId name = tree_.Child(node, Field::kAttribute);
  const NodeId object = tree_.Child(node, Field::kObject);
  if (name == kNoNode || object == kNoNode) return std::nullopt;
  const Result of = Expression(object);
  if (!of.has_value() || of->type != Value::Type::kRecord) return std::nullopt;
  const Value* found = of->record->Find(tree_.TextOf(name));
  return found == nullptr ? std::nullopt : std::optional(*found);
}

Evaluator::Result Evaluator::OrText(NodeId node) {
  if (node == kNoNode) return std::nullopt;
  Result value = Expression(node);
  if (value.has_value() && value->type != Value::Type::kFunction) return value;
  if (steps_ == 0 || !Step(static_cast<int64_t>(tree_[node].subtree_end - node)))
    return std::nullopt;
  for (const NodeId name : tree_.Of(Kind::kIdentifier, node)) {
    for (const Frame* frame = frame_; frame != nullptr; frame = frame->around) {
      if (frame->names.contains(tree_.TextOf(name))) return std::nullopt;
    }
  }
  const size_t size = tree_[node].end - tree_[node].start;
  if (size > kMaxText) return std::nullopt;
  return Value::Text(file_.text.substr(tree_[node].start, size));
}

std::optional<Value::Items> Evaluator::Iterate(const Value& value) {
  if (value.items == nullptr || !Step(static_cast<int64_t>(value.items->size())))
    return std::nullopt;
  if (value.type != Value::Type::kDict) return *value.items;
  Value::Items keys;
  for (size_t i = 0; i < value.items->size(); i += 2) keys.push_back((*value.items)[i]);
  return keys;
}

// In the innermost frame, which is there.
bool Evaluator::Assign(NodeId target, const Value& value) {
  const Nesting nesting(depth_);
  if (nesting.too_deep() || !Step()) return false;
  target = tree_.StripParentheses(target);
  const Kind kind = tree_.KindOf(target);
  if (kind == Kind::kIdentifier) {
    frame_->names[tree_.TextOf(target)] = value;
    return true;
  }
  if (kind == Kind::kSubscript) {
    const NodeId object = tree_.Child(target, Field::kValue);
    Result of = Expression(object);
    const NodeId index = object == kNoNode ? kNoNode : NextOperand(object);
    const Result key = Expression(index);
    return of.has_value() && key.has_value() && SetItem(*of, *key, value);
  }
  if (!IsTargetList(kind) || !value.IsSequence()) return false;
  const Value::Items values = *value.items;
  size_t i = 0;
  for (NodeId child = FirstOperand(target); child != kNoNode; child = NextOperand(child)) {
    if (i == values.size() || !Assign(child, values[i])) return false;
    ++i;
  }
  return i == values.size();
}

const Value* Evaluator::FindItem(const Value& dict, const Value& key) {
  for (size_t i = 0; i + 1 < dict.items->size(); i += 2) {
    const std::optional<bool> same = Compare("==", (*dict.items)[i], key, steps_);
    if (!same.has_value()) return nullptr;
    if (*same) return &(*dict.items)[i + 1];
  }
  return nullptr;
}

bool Evaluator::SetItem(Value& of, const Value& key, const Value& value) {
  if (MayHold(value, of, steps_)) return false;
  if (of.type == Value::Type::kList) {
    const auto size = static_cast<int64_t>(of.items->size());
    if (key.type != Value::Type::kInt || key.integer < 0 || key.integer >= size) return false;
    (*of.items)[static_cast<size_t>(key.integer)] = value;
    return true;
  }
  const bool hashable = key.type == Value::Type::kString || key.IsNumber() ||
                        key.type == Value::Type::kNone || key.type == Value::Type::kTuple;
  if (of.type != Value::Type::kDict || !hashable || of.items->size() > 2 * kMaxDictItems)
    return false;
  for (size_t i = 0; i + 1 < of.items->size(); i += 2) {
    const std::optional<bool> same = Compare("==", (*of.items)[i], key, steps_);
    if (!same.has_value()) return false;
    if (!*same) continue;
    (*of.items)[i + 1] = value;
    return true;
  }
  of.items->push_back(key);
  of.items->push_back(value);
  return Step();
}

}  // namespace kernelmill::python
