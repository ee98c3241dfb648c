#include <algorithm>
#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/python/evaluate/evaluator.h"

namespace kernelmill::python {
namespace {

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

}  // namespace kernelmill::python
