#include "common/python/evaluate/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::python {

// The values of the evaluator, and Python's operators over them.
//
// The basic idea: an operator gives what CPython gives, or nothing. Nothing means that CPython
// raises an error, that the result is beyond 64 bits or the bounds of value.h, or that an operand
// is not known (kText) or not supported. Work that grows with the operands is charged to `steps`
// before it is done, so that a hostile file cannot make a list of 2^16 items for the price of one
// step. Recursion into containers ends after 16 levels, which bounds the stack.

namespace {

using Type = Value::Type;

// As Python writes a float: the shortest digits that give it back, and always a point or exponent.
std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char digits[64];
  const double size = std::fabs(value);
  // CPython's bounds of the notation without an exponent.
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(digits, digits + sizeof(digits), value, format).ptr;
  std::string text(digits, end);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

// As Python quotes a string: in single quotes, unless it has one and no double quote. Only quotes
// and backslashes are escaped.
std::string StringRepr(absl::string_view value) {
  const bool has_single = value.find('\'') != absl::string_view::npos;
  const char quote = has_single && value.find('"') == absl::string_view::npos ? '"' : '\'';
  std::string text(1, quote);
  for (const char c : value) {
    if (c == quote || c == '\\') text += '\\';
    text += c;
  }
  text += quote;
  return text;
}

// As CPython prints it. False once `out` would be longer than `max_bytes`.
bool AppendRepr(const Value& value, size_t max_bytes, int depth, std::string& out) {
  constexpr int kMaxDepth = 16;
  if (out.size() > max_bytes || depth > kMaxDepth) return false;
  // A dictionary's items are keys and values in turn. A tuple of one item has a comma.
  const auto append_items = [&](const char* open, const char* close) {
    out += open;
    const Value::Items& items = *value.items;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += value.type == Type::kDict && i % 2 == 1 ? ": " : ", ";
      if (!AppendRepr(items[i], max_bytes, depth + 1, out)) return false;
    }
    if (value.type == Type::kTuple && items.size() == 1) out += ',';
    out += close;
    return out.size() <= max_bytes;
  };
  switch (value.type) {
    case Type::kNone:
      out += "None";
      break;
    case Type::kBool:
      out += value.integer != 0 ? "True" : "False";
      break;
    case Type::kInt:
      absl::StrAppend(&out, value.integer);
      break;
    case Type::kFloat:
      out += FloatRepr(value.real);
      break;
    case Type::kString:
      out += StringRepr(value.text);
      break;
    case Type::kText:
      out += value.text;
      break;
    case Type::kList:
      return append_items("[", "]");
    case Type::kTuple:
      return append_items("(", ")");
    case Type::kDict:
      return append_items("{", "}");
    case Type::kRecord:
    case Type::kFunction:
      return false;
  }
  return out.size() <= max_bytes;
}

// Nothing for a division by zero. // rounds down and % has the sign of the divisor, as in Python.
std::optional<Value> FloatArithmetic(absl::string_view sign, double a, double b) {
  if (sign == "+") return Value::Float(a + b);
  if (sign == "-") return Value::Float(a - b);
  if (sign == "*") return Value::Float(a * b);
  if (sign == "**") {
    const double power = std::pow(a, b);
    return std::isfinite(power) ? std::optional(Value::Float(power)) : std::nullopt;
  }
  if (b == 0) return std::nullopt;
  if (sign == "/") return Value::Float(a / b);
  if (sign == "//") return Value::Float(std::floor(a / b));
  if (sign == "%") return Value::Float(a - b * std::floor(a / b));
  return std::nullopt;
}

// A negative exponent gives a float, as in Python.
std::optional<Value> IntPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return FloatArithmetic("**", static_cast<double>(base), static_cast<double>(exponent));
  int64_t result = 1;
  // More than 63 doublings do not fit; 0, 1 and -1 need none.
  if (base >= -1 && base <= 1) exponent = exponent == 0 ? 0 : 2 - exponent % 2;
  if (exponent > 64) return std::nullopt;
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return Value::Int(result);
}

// Python's integers have no bound: a result beyond 64 bits is unknown, not wrong. // and % round
// down, as Python does and C++ does not.
std::optional<Value> IntArithmetic(absl::string_view sign, int64_t a, int64_t b) {
  int64_t result = 0;
  if (sign == "+") {
    if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  } else if (sign == "-") {
    if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  } else if (sign == "*") {
    if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  } else if (sign == "**") {
    return IntPower(a, b);
  } else if (sign == "/") {
    return FloatArithmetic(sign, static_cast<double>(a), static_cast<double>(b));
  } else if (sign == "//" || sign == "%") {
    // C++ does not define INT64_MIN / -1. a // -1 is 0 - a, whose overflow is checked, and a % -1
    // is 0 * a.
    if (b == 0 || b == -1)
      return b == 0 ? std::nullopt : IntArithmetic(sign == "%" ? "*" : "-", 0, a);
    // C++ rounds towards zero.
    const bool inexact = a % b != 0 && (a < 0) != (b < 0);
    result = sign == "//" ? a / b - (inexact ? 1 : 0) : a % b + (inexact ? b : 0);
  } else if (sign == "<<") {
    // int64_t{1} << 63 is negative.
    if (b < 0 || b > 62) return std::nullopt;
    if (__builtin_mul_overflow(a, int64_t{1} << b, &result)) return std::nullopt;
  } else if (sign == ">>") {
    if (b < 0) return std::nullopt;
    result = a >> std::min<int64_t>(b, 63);
  } else if (sign == "&") {
    result = a & b;
  } else if (sign == "|") {
    result = a | b;
  } else if (sign == "^") {
    result = a ^ b;
  } else {
    return std::nullopt;
  }
  return Value::Int(result);
}

// Takes `cost` steps. False if fewer are left, or if the cost is more than kMaxItems.
bool Charge(int64_t& steps, size_t cost) {
  if (cost > kMaxItems || steps < static_cast<int64_t>(cost)) return false;
  steps -= static_cast<int64_t>(cost);
  return true;
}

// a + b of strings, lists or tuples of one type. Neither operand changes.
std::optional<Value> Joined(const Value& a, const Value& b, int64_t& steps) {
  if (a.type == Type::kString) {
    if (a.text.size() + b.text.size() > kMaxString) return std::nullopt;
    return Value::String(absl::StrCat(a.text, b.text));
  }
  if (!Charge(steps, a.items->size() + b.items->size())) return std::nullopt;
  Value::Items items = *a.items;
  items.insert(items.end(), b.items->begin(), b.items->end());
  return Value::Sequence(a.type, std::move(items));
}

// a * times. A negative number repeats nothing, as in Python.
std::optional<Value> Repeated(const Value& a, int64_t times, int64_t& steps) {
  times = std::max<int64_t>(times, 0);
  const bool is_string = a.type == Type::kString;
  const size_t size = is_string ? a.text.size() : a.items->size();
  if (is_string && size > 0 && times > static_cast<int64_t>(kMaxString / size)) return std::nullopt;
  if (times > static_cast<int64_t>(kMaxItems) ||
      !Charge(steps, size * static_cast<size_t>(times))) {
    return std::nullopt;
  }
  Value result = a.type == Type::kString ? Value::String("") : Value::Sequence(a.type, {});
  for (int64_t i = 0; i < times && size > 0; ++i) {
    result.text += a.text;
    if (a.items != nullptr) {
      result.items->insert(result.items->end(), a.items->begin(), a.items->end());
    }
  }
  return result;
}

// Numbers are equal across types, sequences item by item; a function or a record makes it unknown.
std::optional<bool> Equal(const Value& a, const Value& b, int depth, int64_t& steps) {
  constexpr int kMaxDepth = 16;
  if (depth > kMaxDepth || !Charge(steps, 1)) return std::nullopt;
  if (a.IsNumber() && b.IsNumber()) {
    const bool real = a.type == Type::kFloat || b.type == Type::kFloat;
    return real ? a.AsReal() == b.AsReal() : a.integer == b.integer;
  }
  if (a.type == Type::kText || b.type == Type::kText) return std::nullopt;
  if (a.type == Type::kRecord || a.type == Type::kFunction || a.type == Type::kDict) {
    return std::nullopt;
  }
  if (a.type != b.type) return false;
  if (a.type == Type::kNone) return true;
  if (a.type == Type::kString) return a.text == b.text;
  if (a.items->size() != b.items->size()) return false;
  for (size_t i = 0; i < a.items->size(); ++i) {
    const std::optional<bool> same = Equal((*a.items)[i], (*b.items)[i], depth + 1, steps);
    if (!same.has_value() || !*same) return same;
  }
  return true;
}

// Returns whether a < b, for numbers, strings, and tuples or lists of them.
std::optional<bool> Less(const Value& a, const Value& b, int depth, int64_t& steps) {
  constexpr int kMaxDepth = 16;
  if (depth > kMaxDepth || !Charge(steps, 1)) return std::nullopt;
  if (a.IsNumber() && b.IsNumber()) {
    const bool real = a.type == Type::kFloat || b.type == Type::kFloat;
    return real ? a.AsReal() < b.AsReal() : a.integer < b.integer;
  }
  if (a.type == Type::kString && b.type == Type::kString) return a.text < b.text;
  if (a.type != b.type || !a.IsSequence()) return std::nullopt;
  for (size_t i = 0; i < std::min(a.items->size(), b.items->size()); ++i) {
    const std::optional<bool> same = Equal((*a.items)[i], (*b.items)[i], depth + 1, steps);
    if (!same.has_value()) return std::nullopt;
    if (!*same) return Less((*a.items)[i], (*b.items)[i], depth + 1, steps);
  }
  return a.items->size() < b.items->size();
}

// `item in in`: a part of a string, an item of a sequence, a key of a dictionary.
std::optional<bool> Contains(const Value& item, const Value& in, int64_t& steps) {
  if (in.type == Type::kString && item.type == Type::kString) {
    return absl::StrContains(in.text, item.text);
  }
  if (in.items == nullptr) return std::nullopt;
  const size_t stride = in.type == Type::kDict ? 2 : 1;
  for (size_t i = 0; i < in.items->size(); i += stride) {
    const std::optional<bool> same = Equal((*in.items)[i], item, 0, steps);
    if (!same.has_value() || *same) return same;
  }
  return false;
}

}  // namespace

Value Value::Bool(bool value) {
  Value made;
  made.type = Type::kBool;
  made.integer = value ? 1 : 0;
  return made;
}

Value Value::Int(int64_t value) {
  Value made;
  made.type = Type::kInt;
  made.integer = value;
  return made;
}

Value Value::Float(double value) {
  Value made;
  made.type = Type::kFloat;
  made.real = value;
  return made;
}

Value Value::String(absl::string_view value) {
  Value made;
  made.type = Type::kString;
  made.text = std::string(value);
  return made;
}

Value Value::Text(absl::string_view value) {
  Value made = String(value);
  made.type = Type::kText;
  return made;
}

Value Value::Sequence(Type type, Items items) {
  Value made;
  made.type = type;
  made.items = std::make_shared<Items>(std::move(items));
  return made;
}

const Value* Record::Find(absl::string_view name) const {
  for (const auto& [given, value] : arguments) {
    if (given == name) return &value;
  }
  return nullptr;
}

// Strings and containers are false if they are empty. A value that is kept as its text may be
// either.
std::optional<bool> Truth(const Value& value) {
  switch (value.type) {
    case Type::kNone:
      return false;
    case Type::kBool:
    case Type::kInt:
      return value.integer != 0;
    case Type::kFloat:
      return value.real != 0;
    case Type::kString:
      return !value.text.empty();
    case Type::kList:
    case Type::kTuple:
    case Type::kDict:
      return !value.items->empty();
    case Type::kRecord:
    case Type::kFunction:
      return true;
    case Type::kText:
      return std::nullopt;
  }
  return std::nullopt;
}

// True as well if the steps do not suffice to find out.
bool MayHold(const Value& value, const Value& other, int64_t& steps, int depth) {
  constexpr int kMaxDepth = 16;
  if (depth > kMaxDepth || !Charge(steps, 1)) return true;
  if (value.items != nullptr) {
    if (value.items == other.items) return true;
    for (const Value& item : *value.items) {
      if (MayHold(item, other, steps, depth + 1)) return true;
    }
  }
  if (value.record == nullptr) return false;
  for (const auto& [name, argument] : value.record->arguments) {
    if (MayHold(argument, other, steps, depth + 1)) return true;
  }
  return false;
}

std::optional<std::string> Repr(const Value& value, size_t max_bytes) {
  std::string text;
  if (!AppendRepr(value, max_bytes, 0, text)) return std::nullopt;
  return text;
}

// Numbers first: one float makes both operands floats, and bools count as integers. Then + joins
// and * repeats strings and sequences.
std::optional<Value> Arithmetic(absl::string_view sign, const Value& a, const Value& b,
                                int64_t& steps) {
  if (a.IsNumber() && b.IsNumber()) {
    if (a.type == Type::kFloat || b.type == Type::kFloat) {
      return FloatArithmetic(sign, a.AsReal(), b.AsReal());
    }
    std::optional<Value> result = IntArithmetic(sign, a.integer, b.integer);
    // & | ^ of two bools give a bool. All other operators make integers of them.
    const bool is_bool = sign == "&" || sign == "|" || sign == "^";
    if (result.has_value() && is_bool && a.type == Type::kBool && b.type == Type::kBool) {
      result->type = Type::kBool;
    }
    return result;
  }
  const auto repeats = [](const Value& value) {
    return value.type == Type::kString || value.IsSequence();
  };
  if (sign == "+" && a.type == b.type && repeats(a)) return Joined(a, b, steps);
  if (sign == "*" && repeats(a) && b.type == Type::kInt) return Repeated(a, b.integer, steps);
  if (sign == "*" && repeats(b) && a.type == Type::kInt) return Repeated(b, a.integer, steps);
  return std::nullopt;
}

// All orders are made of Less: a <= b is not b < a. A NaN compares otherwise in Python.
std::optional<bool> Compare(absl::string_view sign, const Value& a, const Value& b,
                            int64_t& steps) {
  const auto negated = [](std::optional<bool> value) {
    return value.has_value() ? std::optional(!*value) : std::nullopt;
  };
  if (sign == "==") return Equal(a, b, 0, steps);
  if (sign == "!=") return negated(Equal(a, b, 0, steps));
  if (sign == "<") return Less(a, b, 0, steps);
  if (sign == ">") return Less(b, a, 0, steps);
  if (sign == "<=") return negated(Less(b, a, 0, steps));
  if (sign == ">=") return negated(Less(a, b, 0, steps));
  if (sign == "in") return Contains(a, b, steps);
  if (sign == "not in") return negated(Contains(a, b, steps));
  if (sign == "is" || sign == "is not") {
    // `is` is known of None and of bools. Two equal numbers or strings may be one object or two:
    // that depends on the interpreter.
    const bool known = a.type == Type::kNone || b.type == Type::kNone || a.type == Type::kBool ||
                       b.type == Type::kBool;
    if (!known || a.type == Type::kText || b.type == Type::kText) return std::nullopt;
    const bool same = a.type == b.type && a.integer == b.integer;
    return same == (sign == "is");
  }
  return std::nullopt;
}

}  // namespace kernelmill::python
