#include "services/extractor/core/evaluate/evaluator.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace kernelmill::extractor {
namespace {

// Of expressions, statements and calls in one another.
constexpr int kMaxDepth = 200;
// Elements of a dictionary: they are looked for one after another.
constexpr size_t kMaxDictItems = 512;
// Of an argument that is not known.
constexpr size_t kMaxText = 1024;

class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
  ~Nesting() { --depth_; }
  bool too_deep() const { return depth_ > kMaxDepth; }

 private:
  int& depth_;
};

bool IsTargetList(Kind kind) {
  return kind == Kind::kPatternList || kind == Kind::kTuplePattern || kind == Kind::kListPattern ||
         kind == Kind::kExpressionList || kind == Kind::kTuple || kind == Kind::kList;
}

// A number of Python: 64, 1_000, 0x40, 1e-6.
std::optional<Value> Number(absl::string_view text) {
  const std::string digits = absl::StrReplaceAll(text, {{"_", ""}});
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10) begin += 2;
  }
  int64_t integer = 0;
  const auto whole = std::from_chars(begin, end, integer, base);
  if (whole.ec == std::errc() && whole.ptr == end) return Value::Int(integer);
  double real = 0;
  const auto part = std::from_chars(begin, end, real);
  const bool is_real = base == 10 && part.ec == std::errc() && part.ptr == end &&
                       digits.find_first_not_of("0123456789.eE+-") == std::string::npos;
  return is_real && digits.find_first_of(".eE") != std::string::npos
             ? std::optional(Value::Float(real))
             : std::nullopt;
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

Evaluator::Result Evaluator::Literal(NodeId node) {
  const absl::string_view text = tree_.TextOf(node);
  if (text == "True" || text == "False") return Value::Bool(text == "True");
  return Number(text);
}

// Neither bytes, f-strings nor escapes.
Evaluator::Result Evaluator::String(NodeId node) {
  std::string content;
  for (const NodeId part : tree_.Of(Kind::kString, node)) {
    const NodeId start = tree_.Child(part, Kind::kStringStart);
    const NodeId end = tree_.Child(part, Kind::kStringEnd);
    if (start == kNoNode || end == kNoNode) return std::nullopt;
    const absl::string_view opening = tree_.TextOf(start);
    const size_t from = tree_[start].end;
    const absl::string_view inner = file_.text.substr(from, tree_[end].start - from);
    const bool plain = opening.find_first_of("fFbBtT") == absl::string_view::npos &&
                       inner.find('\\') == absl::string_view::npos;
    if (!plain || content.size() + inner.size() > kMaxString) return std::nullopt;
    absl::StrAppend(&content, inner);
  }
  return Value::String(content);
}

Evaluator::Result Evaluator::Elements(NodeId node, Value::Type type) {
  Value::Items items;
  for (NodeId child = FirstOperand(node); child != kNoNode; child = NextOperand(child)) {
    const bool splat = tree_.KindOf(child) == Kind::kListSplat;
    const Result value = Expression(splat ? FirstOperand(child) : child);
    if (!value.has_value()) return std::nullopt;
    if (!splat) {
      items.push_back(*value);
      continue;
    }
    const std::optional<Value::Items> more = Iterate(*value);
    if (!more.has_value()) return std::nullopt;
    items.insert(items.end(), more->begin(), more->end());
  }
  return Value::Sequence(type, std::move(items));
}

// With `in_record` its values may be texts.
Evaluator::Result Evaluator::Dictionary(NodeId node, bool in_record) {
  Value dict = Value::Dict({});
  for (NodeId child = FirstOperand(node); child != kNoNode; child = NextOperand(child)) {
    if (tree_.KindOf(child) == Kind::kPair) {
      const Result key = Expression(tree_.Child(child, Field::kKey));
      if (!key.has_value()) return std::nullopt;
      const NodeId given = tree_.Child(child, Field::kValue);
      const Result value = in_record ? OrText(given) : Expression(given);
      if (!value.has_value() || !SetItem(dict, *key, *value)) return std::nullopt;
      continue;
    }
    const bool splat =
        tree_.KindOf(child) == Kind::kOther && absl::StartsWith(tree_.TextOf(child), "**");
    const Result more = splat ? Expression(FirstOperand(child)) : std::nullopt;
    if (!more.has_value() || more->type != Value::Type::kDict) return std::nullopt;
    for (size_t i = 0; i + 1 < more->items->size(); i += 2) {
      if (!SetItem(dict, (*more->items)[i], (*more->items)[i + 1])) return std::nullopt;
    }
  }
  return dict;
}

Evaluator::Result Evaluator::Comprehension(NodeId node) {
  const NodeId body = tree_.Child(node, Field::kBody);
  if (body == kNoNode) return std::nullopt;
  NodeId clause = NextOperand(body);
  if (clause == kNoNode || tree_.KindOf(clause) != Kind::kForInClause) return std::nullopt;
  Frame* const around = frame_;
  frames_.push_back({{}, around});
  frame_ = &frames_.back();
  Value::Items items;
  const bool known = RunClauses(clause, body, items);
  frame_ = around;
  if (!known) return std::nullopt;
  if (tree_.KindOf(node) != Kind::kDictionaryComprehension) return Value::List(std::move(items));
  Value dict = Value::Dict({});
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!SetItem(dict, items[i], items[i + 1])) return std::nullopt;
  }
  return dict;
}

bool Evaluator::RunClauses(NodeId clause, NodeId body, Value::Items& items) {
  const Nesting nesting(depth_);
  if (nesting.too_deep() || !Step()) return false;
  if (clause == kNoNode) {
    const bool pair = tree_.KindOf(body) == Kind::kPair;
    const Result first = Expression(pair ? tree_.Child(body, Field::kKey) : body);
    if (!first.has_value()) return false;
    items.push_back(*first);
    if (!pair) return true;
    const Result second = Expression(tree_.Child(body, Field::kValue));
    if (second.has_value()) items.push_back(*second);
    return second.has_value();
  }
  const NodeId next = NextOperand(clause);
  const absl::string_view text = tree_.TextOf(clause);
  if (tree_.KindOf(clause) != Kind::kForInClause) {
    if (tree_.KindOf(clause) != Kind::kOther || !absl::StartsWith(text, "if")) return false;
    const Result condition = Expression(FirstOperand(clause));
    const std::optional<bool> holds = condition.has_value() ? Truth(*condition) : std::nullopt;
    if (!holds.has_value()) return false;
    return !*holds || RunClauses(next, body, items);
  }
  const NodeId left = tree_.Child(clause, Field::kLeft);
  const Result over = Expression(tree_.Child(clause, Field::kRight));
  if (left == kNoNode || !over.has_value() || absl::StartsWith(text, "async")) return false;
  const std::optional<Value::Items> values = Iterate(*over);
  if (!values.has_value()) return false;
  for (const Value& value : *values) {
    if (!Assign(left, value) || !RunClauses(next, body, items)) return false;
  }
  return true;
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

}  // namespace kernelmill::extractor
