#include "common/python/evaluate/evaluator.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/text.h"

namespace kernelmill::python {

namespace {

// Elements of a dictionary: they are looked for one after another.
constexpr size_t kMaxDictItems = 512;
// The bytes of an argument that is not known.
constexpr size_t kMaxText = 1024;

bool IsTargetList(Kind kind) {
  return kind == Kind::kPatternList || kind == Kind::kTuplePattern || kind == Kind::kListPattern ||
         kind == Kind::kExpressionList || kind == Kind::kTuple || kind == Kind::kList;
}

}  // namespace

std::optional<Value> Evaluator::Evaluate(NodeId expression) { return Expression(expression); }

// Takes from the budget; false once it is spent, which makes everything unknown from there on.
bool Evaluator::Step(int64_t cost) {
  if (steps_ < cost) {
    steps_ = 0;
    return false;
  }
  steps_ -= cost;
  return true;
}

// Returns the first child that is neither a token nor a comment; kNoNode if the node has no such
// child.
NodeId Evaluator::FirstOperand(NodeId node) const {
  NodeId child = tree_.FirstChild(node);
  while (child != kNoNode && IsLayout(tree_.GetKind(child))) child = tree_.NextSibling(child);
  return child;
}

NodeId Evaluator::NextOperand(NodeId node) const {
  NodeId child = tree_.NextSibling(node);
  while (child != kNoNode && IsLayout(tree_.GetKind(child))) child = tree_.NextSibling(child);
  return child;
}

// Nothing means unknown: an operand that is unknown makes the whole unknown, so that each function
// below returns as soon as one is.
Evaluator::Result Evaluator::Expression(NodeId node) {
  const Nesting nesting(depth_);
  if (node == kNoNode || nesting.too_deep() || !Step()) return std::nullopt;
  node = tree_.StripParentheses(node);
  switch (tree_.GetKind(node)) {
    case Kind::kIdentifier:
      return Name(tree_.GetText(node));
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
      return Arithmetic(tree_.GetText(sign), *left, *right, steps_);
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
    // A lambda sees the names of the frame that makes it.
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

// Frames first, from the innermost; then the statements of the file, each name once. A name that is
// being evaluated already is unknown.
Evaluator::Result Evaluator::Name(absl::string_view name) {
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->around) {
    const auto found = frame->names.find(name);
    if (found != frame->names.end()) return found->second;
  }
  // Outside the frames a name has one value for the whole evaluation: the one at `at_`.
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  const std::optional<std::vector<NodeId>> statements = file_.statements.Find(name, at_);
  if (!statements.has_value()) return known_[name] = std::nullopt;
  // x = x + 1 leads back to x: the inner one is unknown.
  if (!pending_.insert(name).second) return std::nullopt;
  Result value = RunStatements(name, *statements);
  pending_.erase(name);
  return known_[name] = std::move(value);
}

// a < b < c, as Python chains them: the first that is false ends it.
Evaluator::Result Evaluator::Comparison(NodeId node) {
  const NodeId first = FirstOperand(node);
  Result left = first == kNoNode ? std::nullopt : Expression(first);
  std::string sign;
  for (NodeId child = first == kNoNode ? kNoNode : tree_.NextSibling(first);
       child != kNoNode && left.has_value(); child = tree_.NextSibling(child)) {
    // An operator may be several tokens: `is not`.
    if (tree_.GetKind(child) == Kind::kToken) {
      absl::StrAppend(&sign, sign.empty() ? "" : " ", tree_.GetText(child));
      continue;
    }
    if (IsLayout(tree_.GetKind(child))) continue;
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

// a if c else b. Only the branch that is taken is evaluated, so that the other one may be unknown.
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
    const absl::string_view word = sign == kNoNode ? "" : tree_.GetText(sign);
    const Result first = word == "and" || word == "or" ? Expression(left) : std::nullopt;
    const std::optional<bool> holds = first.has_value() ? Truth(*first) : std::nullopt;
    if (!holds.has_value()) return std::nullopt;
    // `and` and `or` give an operand, not a bool, and evaluate the right one only if the left one
    // does not decide.
    return *holds == (word == "or") ? first : Expression(tree_.Child(node, Field::kRight));
  }
  const NodeId first = tree_.FirstChild(node);
  const absl::string_view word = tree_.GetText(first);
  if (tree_.GetKind(first) != Kind::kToken) return std::nullopt;
  if (word != "not" && word != "-" && word != "+" && word != "~") return std::nullopt;
  const Result value = Expression(FirstOperand(node));
  if (!value.has_value()) return std::nullopt;
  if (word == "not") {
    const std::optional<bool> holds = Truth(*value);
    return holds.has_value() ? std::optional(Value::Bool(!*holds)) : std::nullopt;
  }
  if (!value->IsNumber()) return std::nullopt;
  // ~x is -1 - x.
  if (word == "~") return Arithmetic("-", Value::Int(-1), *value, steps_);
  if (value->type == Value::Type::kFloat)
    return Value::Float(word == "-" ? -value->real : value->real);
  return Arithmetic(word, Value::Int(0), *value, steps_);
}

// x[i] and x[a:b] of lists and tuples, x[key] of dictionaries. A negative place counts from the
// end. A place outside and a missing key are unknown, because Python raises an error. So are
// several indices.
Evaluator::Result Evaluator::Subscript(NodeId node) {
  const NodeId object = tree_.Child(node, Field::kValue);
  const Result of = Expression(object);
  if (!of.has_value() || of->items == nullptr) return std::nullopt;
  const NodeId index = NextOperand(object);
  if (index == kNoNode || NextOperand(index) != kNoNode) return std::nullopt;
  // The tree has no kind for slices: a kOther with a colon is one.
  const NodeId first = tree_.FirstChild(index);
  bool is_slice = false;
  for (NodeId child = first; child != kNoNode && tree_.GetKind(index) == Kind::kOther;
       child = tree_.NextSibling(child)) {
    is_slice = is_slice || (tree_.GetKind(child) == Kind::kToken && tree_.GetText(child) == ":");
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

// Returns of[a:b]; a or b may be missing. A second colon makes the slice unknown. Python clamps
// bounds that are beyond the ends.
Evaluator::Result Evaluator::Slice(const Value& of, NodeId node) {
  const auto size = static_cast<int64_t>(of.items->size());
  int64_t bounds[2] = {0, size};
  size_t colons = 0;
  for (NodeId child = tree_.FirstChild(node); child != kNoNode; child = tree_.NextSibling(child)) {
    if (IsLayout(tree_.GetKind(child))) {
      colons += tree_.GetText(child) == ":" ? 1 : 0;
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

// An argument of a record.
Evaluator::Result Evaluator::Attribute(NodeId node) {
  const NodeId name = tree_.Child(node, Field::kAttribute);
  const NodeId object = tree_.Child(node, Field::kObject);
  if (name == kNoNode || object == kNoNode) return std::nullopt;
  const Result of = Expression(object);
  if (!of.has_value() || of->type != Value::Type::kRecord) return std::nullopt;
  const Value* found = of->record->Find(tree_.GetText(name));
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// Returns the value of an argument of a record, or its text. The text is kept only if no name in it
// is local to a call or a comprehension, where it would mean something else to a reader.
Evaluator::Result Evaluator::OrText(NodeId node) {
  if (node == kNoNode) return std::nullopt;
  Result value = Expression(node);
  if (value.has_value() && value->type != Value::Type::kFunction) return value;
  if (steps_ == 0 || !Step(static_cast<int64_t>(tree_[node].subtree_end - node)))
    return std::nullopt;
  for (const NodeId name : tree_.Of(Kind::kIdentifier, node)) {
    for (const Frame* frame = frame_; frame != nullptr; frame = frame->around) {
      if (frame->names.contains(tree_.GetText(name))) return std::nullopt;
    }
  }
  const size_t size = tree_[node].end - tree_[node].start;
  if (size > kMaxText) return std::nullopt;
  return Value::Text(file_.text.substr(tree_[node].start, size));
}

// Returns what a loop runs over: a dictionary's keys, a sequence's items. They are a copy, so that
// the body of a loop may change the container.
std::optional<Value::Items> Evaluator::Iterate(const Value& value) {
  if (value.items == nullptr || !Step(static_cast<int64_t>(value.items->size())))
    return std::nullopt;
  if (value.type != Value::Type::kDict) return *value.items;
  Value::Items keys;
  for (size_t i = 0; i < value.items->size(); i += 2) keys.push_back((*value.items)[i]);
  return keys;
}

// In the innermost frame, which is there. A target is a name, an element of a container, or a list
// of targets with as many items in the value. False makes the statement unknown.
bool Evaluator::Assign(NodeId target, const Value& value) {
  const Nesting nesting(depth_);
  if (nesting.too_deep() || !Step()) return false;
  target = tree_.StripParentheses(target);
  const Kind kind = tree_.GetKind(target);
  if (kind == Kind::kIdentifier) {
    frame_->names[tree_.GetText(target)] = value;
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
  // A copy, because an assignment to an element may change the list that is unpacked.
  const Value::Items values = *value.items;
  size_t i = 0;
  for (NodeId child = FirstOperand(target); child != kNoNode; child = NextOperand(child)) {
    if (i == values.size() || !Assign(child, values[i])) return false;
    ++i;
  }
  return i == values.size();
}

// Returns the value of the key, compared with all keys in the order of insertion. Null if no key is
// equal, or if a comparison is unknown.
const Value* Evaluator::FindItem(const Value& dict, const Value& key) {
  for (size_t i = 0; i + 1 < dict.items->size(); i += 2) {
    const std::optional<bool> same = Compare("==", (*dict.items)[i], key, steps_);
    if (!same.has_value()) return nullptr;
    if (*same) return &(*dict.items)[i + 1];
  }
  return nullptr;
}

// A container that would hold itself is refused: values are counted references, so that nothing
// would free it. A list takes places that exist and are not negative. A dictionary takes keys that
// Python can hash, up to kMaxDictItems: each assignment compares with all of them.
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

namespace {

// A number of Python: 64, 1_000, 0x40, 1e-6. Nothing for complex numbers and for integers beyond 64
// bits.
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

Evaluator::Result Evaluator::Literal(NodeId node) {
  const absl::string_view text = tree_.GetText(node);
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
    const absl::string_view opening = tree_.GetText(start);
    const size_t from = tree_[start].end;
    const absl::string_view inner = file_.text.substr(from, tree_[end].start - from);
    const bool plain = opening.find_first_of("fFbBtT") == absl::string_view::npos &&
                       inner.find('\\') == absl::string_view::npos;
    if (!plain || content.size() + inner.size() > kMaxString) return std::nullopt;
    absl::StrAppend(&content, inner);
  }
  return Value::String(content);
}

// The items of a list, a tuple or an expression list. *x adds the items of x.
Evaluator::Result Evaluator::Elements(NodeId node, Value::Type type) {
  Value::Items items;
  for (NodeId child = FirstOperand(node); child != kNoNode; child = NextOperand(child)) {
    const bool splat = tree_.GetKind(child) == Kind::kListSplat;
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
    if (tree_.GetKind(child) == Kind::kPair) {
      const Result key = Expression(tree_.Child(child, Field::kKey));
      if (!key.has_value()) return std::nullopt;
      const NodeId given = tree_.Child(child, Field::kValue);
      const Result value = in_record ? OrText(given) : Expression(given);
      if (!value.has_value() || !SetItem(dict, *key, *value)) return std::nullopt;
      continue;
    }
    // **more. The tree has no kind for it.
    const bool splat =
        tree_.GetKind(child) == Kind::kOther && absl::StartsWith(tree_.GetText(child), "**");
    const Result more = splat ? Expression(FirstOperand(child)) : std::nullopt;
    if (!more.has_value() || more->type != Value::Type::kDict) return std::nullopt;
    for (size_t i = 0; i + 1 < more->items->size(); i += 2) {
      if (!SetItem(dict, (*more->items)[i], (*more->items)[i + 1])) return std::nullopt;
    }
  }
  return dict;
}

// A comprehension has a frame of its own, as Python gives it one.
Evaluator::Result Evaluator::Comprehension(NodeId node) {
  const NodeId body = tree_.Child(node, Field::kBody);
  if (body == kNoNode) return std::nullopt;
  NodeId clause = NextOperand(body);
  if (clause == kNoNode || tree_.GetKind(clause) != Kind::kForInClause) return std::nullopt;
  Frame* const around = frame_;
  frames_.push_back({{}, around});
  frame_ = &frames_.back();
  Value::Items items;
  const bool known = RunClauses(clause, body, items);
  frame_ = around;
  if (!known) return std::nullopt;
  if (tree_.GetKind(node) != Kind::kDictionaryComprehension) return Value::List(std::move(items));
  Value dict = Value::Dict({});
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!SetItem(dict, items[i], items[i + 1])) return std::nullopt;
  }
  return dict;
}

// Runs the clauses from `clause` on, each in the loop of the one before, and evaluates `body` in
// the innermost.
bool Evaluator::RunClauses(NodeId clause, NodeId body, Value::Items& items) {
  const Nesting nesting(depth_);
  if (nesting.too_deep() || !Step()) return false;
  if (clause == kNoNode) {
    // A dictionary comprehension adds a key and a value in turn.
    const bool pair = tree_.GetKind(body) == Kind::kPair;
    const Result first = Expression(pair ? tree_.Child(body, Field::kKey) : body);
    if (!first.has_value()) return false;
    items.push_back(*first);
    if (!pair) return true;
    const Result second = Expression(tree_.Child(body, Field::kValue));
    if (second.has_value()) items.push_back(*second);
    return second.has_value();
  }
  const NodeId next = NextOperand(clause);
  const absl::string_view text = tree_.GetText(clause);
  if (tree_.GetKind(clause) != Kind::kForInClause) {
    if (tree_.GetKind(clause) != Kind::kOther || !absl::StartsWith(text, "if")) return false;
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

namespace {

// Decorators that leave what a function returns as it is.
bool IsTransparent(absl::string_view decorator) {
  static constexpr absl::string_view kNames[] = {"cache", "lru_cache"};
  return std::find(std::begin(kNames), std::end(kNames), LastPart(decorator)) != std::end(kNames);
}

}  // namespace

// A call has a frame over the frame that the function was made in. Frames are never freed before
// the evaluator, because a function that is returned still refers to one.
Evaluator::Result Evaluator::CallFunction(const Value& function, const CallArguments& arguments) {
  constexpr int kCost = 8;  // nesting: a call takes more of the stack than an expression
  if (function.type != Value::Type::kFunction || !Step()) return std::nullopt;
  Frame* const around = frame_;
  frames_.push_back({{}, function.closure});
  Frame& frame = frames_.back();
  const NodeId node = function.function;
  const NodeId body = tree_.Child(node, Field::kBody);
  depth_ += kCost;
  Result value;
  const NodeId parameters = tree_.Child(node, Field::kParameters);
  if (body != kNoNode && (parameters == kNoNode || BindParameters(parameters, arguments, frame))) {
    frame_ = &frame;
    if (tree_.GetKind(node) == Kind::kLambda) {
      value = Expression(body);
    } else {
      const Flow flow = RunBlock(body);
      if (flow == Flow::kReturn) value = returned_;
      if (flow == Flow::kNext) value = Value::None();
    }
  }
  depth_ -= kCost;
  frame_ = around;
  return value;
}

// Plain parameters, with or without annotations and defaults; neither *args nor **kwargs. False
// also if a parameter gets no value or an argument no parameter. Unlike Python, a default is
// evaluated at the call, in the caller's frame.
bool Evaluator::BindParameters(NodeId parameters, const CallArguments& arguments, Frame& frame) {
  size_t position = 0;
  size_t used = 0;
  for (NodeId child = FirstOperand(parameters); child != kNoNode; child = NextOperand(child)) {
    const Kind kind = tree_.GetKind(child);
    if (tree_.GetText(child) == "*" || tree_.GetText(child) == "/") continue;
    NodeId name = kind == Kind::kIdentifier ? child : tree_.Child(child, Field::kName);
    if (kind == Kind::kTypedParameter) name = FirstOperand(child);
    if (name == kNoNode || tree_.GetKind(name) != Kind::kIdentifier) return false;
    const absl::string_view text = tree_.GetText(name);
    const auto keyword = std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                                      [&](const auto& given) { return given.first == text; });
    // Positional arguments go to the first parameters. Those that are left over, and keywords
    // without a parameter, fail the call at the end.
    if (position < arguments.positional.size()) {
      frame.names[text] = arguments.positional[position++];
    } else if (keyword != arguments.keywords.end()) {
      frame.names[text] = keyword->second;
      ++used;
    } else {
      const NodeId given = tree_.Child(child, Field::kValue);
      const Result value = given == kNoNode ? std::nullopt : Expression(given);
      if (!value.has_value()) return false;
      frame.names[text] = *value;
    }
  }
  return position == arguments.positional.size() && used == arguments.keywords.size();
}

// Returns the value of the name after these statements ran, outside all functions of the file. All
// of them must be known: one that is not may have changed the name.
Evaluator::Result Evaluator::RunStatements(absl::string_view name,
                                           const std::vector<NodeId>& statements) {
  Frame* const around = frame_;
  frames_.push_back({{}, nullptr});
  Frame& frame = frames_.back();
  frame_ = &frame;
  bool known = true;
  for (const NodeId statement : statements) {
    known = known && Run(statement) == Flow::kNext;
  }
  frame_ = around;
  const auto found = frame.names.find(name);
  if (!known || found == frame.names.end()) return std::nullopt;
  return found->second;
}

// Runs the statements until one of them leaves the block, and returns how the block is left.
Evaluator::Flow Evaluator::RunBlock(NodeId block) {
  Flow flow = Flow::kNext;
  for (NodeId child = FirstOperand(block); child != kNoNode && flow == Flow::kNext;
       child = NextOperand(child)) {
    flow = Run(child);
  }
  return flow;
}

// A statement that is not listed here may do anything: the flow is unknown, and with it the value
// that is being computed.
Evaluator::Flow Evaluator::Run(NodeId statement) {
  const Nesting nesting(depth_);
  if (nesting.too_deep() || !Step()) return Flow::kUnknown;
  switch (tree_.GetKind(statement)) {
    case Kind::kExpressionStatement:
      return RunExpression(statement);
    case Kind::kReturnStatement: {
      const NodeId given = FirstOperand(statement);
      const Result value = given == kNoNode ? std::optional(Value::None()) : Expression(given);
      if (value.has_value()) returned_ = *value;
      return value.has_value() ? Flow::kReturn : Flow::kUnknown;
    }
    case Kind::kIfStatement:
      return RunIf(statement);
    case Kind::kForStatement:
      return RunFor(statement);
    case Kind::kWhileStatement:
      return RunWhile(statement);
    case Kind::kFunctionDefinition:
    case Kind::kDecoratedDefinition:
      return Define(statement);
    case Kind::kImportStatement:
    case Kind::kImportFromStatement:
      return Flow::kNext;  // names are resolved by the file's imports
    case Kind::kOther: {
      const absl::string_view text = tree_.GetText(statement);
      if (text == "pass") return Flow::kNext;
      if (text == "break") return Flow::kBreak;
      return text == "continue" ? Flow::kContinue : Flow::kUnknown;
    }
    default:
      return Flow::kUnknown;
  }
}

Evaluator::Flow Evaluator::RunExpression(NodeId statement) {
  const NodeId inner = FirstOperand(statement);
  if (inner == kNoNode) return Flow::kUnknown;
  const Kind kind = tree_.GetKind(inner);
  if (kind == Kind::kAugmentedAssignment) return RunAugmented(inner);
  // A docstring.
  if (kind == Kind::kString) return Flow::kNext;
  if (kind != Kind::kAssignment) {
    return Expression(inner).has_value() ? Flow::kNext : Flow::kUnknown;
  }
  // a = b = value: all targets get the same.
  std::vector<NodeId> targets;
  NodeId value = inner;
  while (value != kNoNode && tree_.GetKind(value) == Kind::kAssignment && targets.size() < 16) {
    targets.push_back(tree_.Child(value, Field::kLeft));
    value = tree_.Child(value, Field::kRight);
  }
  if (value == kNoNode) return Flow::kNext;  // an annotation alone
  const Result result = Expression(value);
  if (!result.has_value()) return Flow::kUnknown;
  for (const NodeId target : targets) {
    if (target == kNoNode || !Assign(target, *result)) return Flow::kUnknown;
  }
  return Flow::kNext;
}

// a += b; of a list, what it is changes for all who have it.
Evaluator::Flow Evaluator::RunAugmented(NodeId node) {
  const NodeId left = tree_.Child(node, Field::kLeft);
  const NodeId right = tree_.Child(node, Field::kRight);
  const NodeId sign = tree_.Child(node, Field::kOperator);
  if (left == kNoNode || right == kNoNode || sign == kNoNode) return Flow::kUnknown;
  Result old = Expression(left);
  const Result more = Expression(right);
  absl::string_view text = tree_.GetText(sign);
  if (!old.has_value() || !more.has_value() || !absl::EndsWith(text, "=")) return Flow::kUnknown;
  text.remove_suffix(1);
  if (old->type == Value::Type::kList && text == "+") {
    const std::optional<Value::Items> items = Iterate(*more);
    if (!items.has_value() || old->items->size() > kMaxItems) return Flow::kUnknown;
    if (MayHold(*more, *old, steps_)) return Flow::kUnknown;
    old->items->insert(old->items->end(), items->begin(), items->end());
    return Flow::kNext;
  }
  const Result value = Arithmetic(text, *old, *more, steps_);
  return value.has_value() && Assign(left, *value) ? Flow::kNext : Flow::kUnknown;
}

// Also of an elif clause.
Evaluator::Flow Evaluator::RunIf(NodeId node) {
  const NodeId condition = FirstOperand(node);
  const NodeId body = tree_.Child(node, Kind::kBlock);
  if (condition == kNoNode || body == kNoNode) return Flow::kUnknown;
  // if __name__ == "__main__": is not run by who imports the file.
  const bool is_main = absl::StartsWith(tree_.GetText(condition), "__name__");
  const Result value = is_main ? std::optional(Value::Bool(false)) : Expression(condition);
  const std::optional<bool> holds = value.has_value() ? Truth(*value) : std::nullopt;
  if (!holds.has_value()) return Flow::kUnknown;
  if (*holds) return RunBlock(body);
  for (NodeId clause = NextOperand(body); clause != kNoNode; clause = NextOperand(clause)) {
    const NodeId block = tree_.Child(clause, Kind::kBlock);
    if (block == kNoNode) return Flow::kUnknown;
    if (tree_.GetKind(clause) == Kind::kElseClause) return RunBlock(block);
    if (tree_.GetKind(clause) != Kind::kElifClause) return Flow::kUnknown;
    const Result other = Expression(FirstOperand(clause));
    const std::optional<bool> chosen = other.has_value() ? Truth(*other) : std::nullopt;
    if (!chosen.has_value()) return Flow::kUnknown;
    if (*chosen) return RunBlock(block);
  }
  return Flow::kNext;
}

// A loop without else. Each turn costs a step, so that an endless loop ends with the budget.
Evaluator::Flow Evaluator::RunWhile(NodeId node) {
  const NodeId condition = FirstOperand(node);
  const NodeId body = tree_.Child(node, Kind::kBlock);
  if (condition == kNoNode || body == kNoNode || NextOperand(body) != kNoNode)
    return Flow::kUnknown;
  while (Step()) {
    const Result value = Expression(condition);
    const std::optional<bool> holds = value.has_value() ? Truth(*value) : std::nullopt;
    if (!holds.has_value()) return Flow::kUnknown;
    if (!*holds) return Flow::kNext;
    const Flow flow = RunBlock(body);
    if (flow == Flow::kBreak) return Flow::kNext;
    if (flow == Flow::kReturn || flow == Flow::kUnknown) return flow;
  }
  return Flow::kUnknown;
}

// A loop without else, over the items that the container has before the first turn.
Evaluator::Flow Evaluator::RunFor(NodeId node) {
  const NodeId body = tree_.Child(node, Kind::kBlock);
  const NodeId left = tree_.Child(node, Field::kLeft);
  const Result over = Expression(tree_.Child(node, Field::kRight));
  // An else clause would follow the body.
  const bool plain = body != kNoNode && left != kNoNode && NextOperand(body) == kNoNode;
  const std::optional<Value::Items> values =
      plain && over.has_value() ? Iterate(*over) : std::nullopt;
  if (!values.has_value()) return Flow::kUnknown;
  for (const Value& value : *values) {
    if (!Assign(left, value)) return Flow::kUnknown;
    const Flow flow = RunBlock(body);
    if (flow == Flow::kBreak) break;
    if (flow == Flow::kReturn || flow == Flow::kUnknown) return flow;
  }
  return Flow::kNext;
}

// A decorator may replace the function, so that only those that do not are accepted. The function
// sees the names of the frame that it is defined in.
Evaluator::Flow Evaluator::Define(NodeId node) {
  NodeId definition = node;
  if (tree_.GetKind(node) == Kind::kDecoratedDefinition) {
    for (NodeId child = FirstOperand(node); child != kNoNode; child = NextOperand(child)) {
      if (tree_.GetKind(child) != Kind::kDecorator) continue;
      NodeId decorator = FirstOperand(child);
      if (decorator != kNoNode && tree_.GetKind(decorator) == Kind::kCall) {
        decorator = tree_.Child(decorator, Field::kFunction);
      }
      if (decorator == kNoNode || !IsTransparent(DottedExpression(tree_, decorator))) {
        return Flow::kUnknown;
      }
    }
    definition = tree_.Child(node, Field::kDefinition);
    if (definition == kNoNode) return Flow::kUnknown;
  }
  const NodeId name = tree_.Child(definition, Field::kName);
  if (name == kNoNode || tree_.GetKind(definition) != Kind::kFunctionDefinition)
    return Flow::kUnknown;
  if (absl::StartsWith(tree_.GetText(definition), "async")) return Flow::kUnknown;
  Value function;
  function.type = Value::Type::kFunction;
  function.function = definition;
  function.closure = frame_;
  frame_->names[tree_.GetText(name)] = function;
  return Flow::kNext;
}

}  // namespace kernelmill::python
