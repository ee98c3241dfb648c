#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/match.h"
#include "common/python/evaluate/evaluator.h"

namespace kernelmill::python {

// The calls of an expression: functions of the file, Config(...), methods of lists and
// dictionaries, and the functions that the comment of Evaluator lists.
//
// The basic idea: a callee is looked up in the order in which Python finds it, so that a file that
// defines its own `max` never gets Python's. The functions here take values that are known and give
// a value that is known, or nothing. They give nothing if Python would raise an error, if they do
// not support the form of the call, or if the steps are spent. A function that reads a sequence
// pays a step for each item in Iterate(). Functions that make more items than they read (range,
// zip, itertools.product) pay for these as well. Functions that are lazy in Python return lists.

namespace {

// The function that makes a record, by the last part of its name, and its first parameters.
constexpr absl::string_view kRecordMaker = "Config";
constexpr absl::string_view kRecordParameters[] = {"kwargs", "num_warps", "num_stages"};

using Type = Value::Type;

// int(), math.ceil() or math.floor() of a number. Nothing for NaN and beyond 9e18: the conversion
// to int64_t would overflow.
std::optional<Value> Rounded(absl::string_view how, const Value& value) {
  if (!value.IsNumber()) return std::nullopt;
  if (value.type != Type::kFloat) return Value::Int(value.integer);
  const double real = how == "math.ceil"    ? std::ceil(value.real)
                      : how == "math.floor" ? std::floor(value.real)
                                            : std::trunc(value.real);
  if (!(std::fabs(real) < 9e18)) return std::nullopt;
  return Value::Int(static_cast<int64_t>(real));
}

// A string's length is counted in bytes. A dictionary holds keys and values in turn, so that it has
// half as many elements as items.
std::optional<Value> GetLength(const Value& value) {
  if (value.type == Type::kString) return Value::Int(static_cast<int64_t>(value.text.size()));
  if (value.items == nullptr) return std::nullopt;
  const size_t size = value.items->size() / (value.type == Type::kDict ? 2 : 1);
  return Value::Int(static_cast<int64_t>(size));
}

// float(), math.sqrt() or math.log2(). Nothing if Python raises ValueError: the root of a negative
// number, the logarithm of zero or less.
std::optional<Value> Real(absl::string_view how, const Value& value) {
  if (!value.IsNumber()) return std::nullopt;
  const double x = value.AsReal();
  if (how == "float") return Value::Float(x);
  if (how == "math.sqrt") return x < 0 ? std::nullopt : std::optional(Value::Float(std::sqrt(x)));
  return x <= 0 ? std::nullopt : std::optional(Value::Float(std::log2(x)));
}

// triton.next_power_of_2(n) and triton.cdiv(a, b) of positive integers. The power ends at 2^61,
// which still fits. cdiv is (a - 1) / b + 1, because a + b - 1 could overflow.
std::optional<Value> OfInts(absl::string_view name, const Value::Items& given) {
  for (const Value& value : given) {
    if (value.type != Type::kInt || value.integer <= 0) return std::nullopt;
  }
  if (name == "triton.next_power_of_2" && given.size() == 1) {
    int64_t power = 1;
    while (power < given[0].integer && power < (int64_t{1} << 61)) power *= 2;
    return Value::Int(power);
  }
  if (name != "triton.cdiv" || given.size() != 2) return std::nullopt;
  return Value::Int((given[0].integer - 1) / given[1].integer + 1);
}

}  // namespace

// Functions and lambdas of the file first, then records, methods of values, and built-in functions
// by their resolved names.
Evaluator::Result Evaluator::Call(NodeId node) {
  const NodeId function = tree_.Child(node, Field::kFunction);
  if (function == kNoNode) return std::nullopt;
  const std::string name = DottedExpression(tree_, function);
  const bool is_plain = tree_.GetKind(tree_.StripParentheses(function)) == Kind::kIdentifier;
  // A name that is bound to something other than a function makes the call unknown.
  const Result own = is_plain ? Name(name) : std::nullopt;
  if (own.has_value()) {
    const std::optional<CallArguments> arguments = ReadArguments(node);
    return arguments.has_value() ? CallFunction(*own, *arguments) : std::nullopt;
  }
  // A name of the file's own that is not known hides Python's.
  if (is_plain && file_.statements.Find(name, at_).has_value()) return std::nullopt;
  const std::string resolved = file_.imports.Resolve(name);
  const size_t dot = resolved.rfind('.');
  if (absl::string_view(resolved).substr(dot == std::string::npos ? 0 : dot + 1) == kRecordMaker) {
    return MakeRecord(node);
  }
  // The object may be a module (math.ceil): then the method is unknown, and the resolved name is
  // tried.
  if (!is_plain && tree_.GetKind(function) == Kind::kAttribute) {
    Result value = CallMethod(node, function);
    if (value.has_value()) return value;
  }
  if (name.empty()) return std::nullopt;
  std::optional<CallArguments> arguments = ReadArguments(node);
  return arguments.has_value() ? CallBuiltin(resolved, *arguments) : std::nullopt;
}

// *x and **x are unpacked; one that is unknown makes the call unknown.
std::optional<Evaluator::CallArguments> Evaluator::ReadArguments(NodeId call) {
  CallArguments read;
  const NodeId list = tree_.Child(call, Field::kArguments);
  if (list == kNoNode) return std::nullopt;
  // f(x for x in y): the generator is the only argument.
  if (tree_.GetKind(list) == Kind::kGeneratorExpression) {
    const Result items = Expression(list);
    if (!items.has_value()) return std::nullopt;
    read.positional.push_back(*items);
    return read;
  }
  for (const Argument& argument : GetArguments(tree_, call)) {
    const absl::string_view text = tree_.GetText(argument.value);
    const bool splat = argument.keyword.empty() && absl::StartsWith(text, "*");
    const Result value = Expression(splat ? FirstOperand(argument.value) : argument.value);
    if (!value.has_value()) return std::nullopt;
    if (!argument.keyword.empty()) {
      read.keywords.emplace_back(argument.keyword, *value);
    } else if (!splat) {
      read.positional.push_back(*value);
    } else if (absl::StartsWith(text, "**")) {
      if (value->type != Type::kDict) return std::nullopt;
      for (size_t i = 0; i + 1 < value->items->size(); i += 2) {
        const Value& key = (*value->items)[i];
        if (key.type != Type::kString || !Step()) return std::nullopt;
        read.keywords.emplace_back(key.text, (*value->items)[i + 1]);
      }
    } else {
      const std::optional<Value::Items> more = Iterate(*value);
      if (!more.has_value()) return std::nullopt;
      read.positional.insert(read.positional.end(), more->begin(), more->end());
    }
  }
  return read;
}

// A record keeps an unknown argument as its text, so that a configuration is still known by its
// others.
Evaluator::Result Evaluator::MakeRecord(NodeId call) {
  Value made;
  made.type = Type::kRecord;
  made.record = std::make_shared<Record>();
  auto& given = made.record->arguments;
  size_t position = 0;
  for (const Argument& argument : GetArguments(tree_, call)) {
    const absl::string_view text = tree_.GetText(argument.value);
    if (argument.keyword.empty() && absl::StartsWith(text, "*")) {
      const Result more =
          absl::StartsWith(text, "**") ? Expression(FirstOperand(argument.value)) : std::nullopt;
      if (!more.has_value() || more->type != Type::kDict) return std::nullopt;
      for (size_t i = 0; i + 1 < more->items->size(); i += 2) {
        if ((*more->items)[i].type != Type::kString || !Step()) return std::nullopt;
        given.emplace_back((*more->items)[i].text, (*more->items)[i + 1]);
      }
      continue;
    }
    // A positional argument has the name of the parameter at its place.
    absl::string_view name = argument.keyword;
    if (name.empty()) {
      if (position == std::size(kRecordParameters)) return std::nullopt;
      name = kRecordParameters[position++];
    }
    const NodeId value = tree_.StripParentheses(argument.value);
    const bool is_dict = tree_.GetKind(value) == Kind::kDictionary;
    Result known = is_dict ? Dictionary(value, true) : OrText(value);
    if (!known.has_value()) return std::nullopt;
    given.emplace_back(name, *std::move(known));
  }
  return made;
}

// Calls a function by its resolved name: `product` after `from itertools import product` is
// itertools.product. The functions that take keywords come first. Next are those of several
// arguments, last those of one.
Evaluator::Result Evaluator::CallBuiltin(absl::string_view name, CallArguments& arguments) {
  Value::Items& given = arguments.positional;
  if (name == "itertools.product") return Product(arguments);
  if (name == "dict") return Dict(arguments);
  if (name == "min") return Extreme(arguments, "<");
  if (name == "max") return Extreme(arguments, ">");
  if (!arguments.keywords.empty()) return std::nullopt;
  if (name == "range") return Range(given);
  if (name == "zip") return Zip(given);
  if (name == "itertools.chain") return Chain(given);
  if (name == "list" && given.empty()) return Value::List({});
  if (name == "filter" && given.size() == 2) return Filter(given[0], given[1]);
  if (name == "triton.cdiv" || name == "triton.next_power_of_2") return OfInts(name, given);
  // From here on functions of one argument.
  if (given.size() != 1) return std::nullopt;
  const Value& value = given[0];
  if (name == "int" || name == "math.ceil" || name == "math.floor") return Rounded(name, value);
  if (name == "float" || name == "math.sqrt" || name == "math.log2") return Real(name, value);
  if (name == "len") return GetLength(value);
  if (name == "bool") {
    const std::optional<bool> holds = Truth(value);
    return holds.has_value() ? std::optional(Value::Bool(*holds)) : std::nullopt;
  }
  if (name == "abs" && value.type == Type::kFloat) return Value::Float(std::fabs(value.real));
  if (name == "abs" && value.IsNumber()) {
    return value.integer < 0 ? Arithmetic("-", Value::Int(0), value, steps_) : value;
  }
  std::optional<Value::Items> items = Iterate(value);
  return items.has_value() ? ReduceItems(name, *std::move(items)) : std::nullopt;
}

// Calls a function of one iterable, whose items are given.
Evaluator::Result Evaluator::ReduceItems(absl::string_view name, Value::Items items) {
  if (name == "list") return Value::List(std::move(items));
  if (name == "tuple") return Value::Tuple(std::move(items));
  if (name == "itertools.chain.from_iterable") return Chain(items);
  if (name == "reversed") {
    std::reverse(items.begin(), items.end());
    return Value::List(std::move(items));
  }
  if (name == "enumerate") {
    for (size_t i = 0; i < items.size(); ++i) {
      items[i] = Value::Tuple({Value::Int(static_cast<int64_t>(i)), std::move(items[i])});
    }
    return Value::List(std::move(items));
  }
  if (name == "sum") {
    Result sum = Value::Int(0);
    for (const Value& item : items) {
      if (sum.has_value()) sum = Arithmetic("+", *sum, item, steps_);
    }
    return sum;
  }
  if (name == "any" || name == "all") {
    for (const Value& item : items) {
      const std::optional<bool> holds = Truth(item);
      if (!holds.has_value()) return std::nullopt;
      if (*holds == (name == "any")) return Value::Bool(*holds);
    }
    return Value::Bool(name == "all");
  }
  if (name != "sorted") return std::nullopt;
  // By insertion: no comparison that is not known may reach std::sort.
  for (size_t i = 1; i < items.size(); ++i) {
    for (size_t j = i; j > 0; --j) {
      const std::optional<bool> less = Compare("<", items[j], items[j - 1], steps_);
      if (!less.has_value()) return std::nullopt;
      if (!*less) break;
      std::swap(items[j], items[j - 1]);
    }
  }
  return Value::List(std::move(items));
}

// Returns the items of all sequences, one after another.
Evaluator::Result Evaluator::Chain(const Value::Items& sequences) {
  Value::Items all;
  for (const Value& sequence : sequences) {
    const std::optional<Value::Items> items = Iterate(sequence);
    if (!items.has_value()) return std::nullopt;
    all.insert(all.end(), items->begin(), items->end());
  }
  return Value::List(std::move(all));
}

// Returns tuples of the items at the same place, up to the end of the shortest sequence. A step is
// paid for each item of each tuple.
Evaluator::Result Evaluator::Zip(const Value::Items& sequences) {
  std::vector<Value::Items> all;
  size_t shortest = sequences.empty() ? 0 : kMaxItems;
  for (const Value& sequence : sequences) {
    std::optional<Value::Items> items = Iterate(sequence);
    if (!items.has_value()) return std::nullopt;
    shortest = std::min(shortest, items->size());
    all.push_back(*std::move(items));
  }
  if (!Step(static_cast<int64_t>(shortest * all.size()))) return std::nullopt;
  Value::Items tuples;
  for (size_t i = 0; i < shortest; ++i) {
    Value::Items tuple;
    for (const Value::Items& items : all) tuple.push_back(items[i]);
    tuples.push_back(Value::Tuple(std::move(tuple)));
  }
  return Value::List(std::move(tuples));
}

// Returns at most kMaxItems numbers. If there is one argument, it is the end.
Evaluator::Result Evaluator::Range(const Value::Items& arguments) {
  int64_t bounds[3] = {0, 0, 1};
  if (arguments.empty() || arguments.size() > 3) return std::nullopt;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type != Type::kInt) return std::nullopt;
    bounds[arguments.size() == 1 ? 1 : i] = arguments[i].integer;
  }
  const auto [from, to, by] = bounds;
  if (by == 0) return std::nullopt;
  Value::Items items;
  for (int64_t at = from; by > 0 ? at < to : at > to;) {
    if (items.size() == kMaxItems || !Step()) return std::nullopt;
    items.push_back(Value::Int(at));
    if (__builtin_add_overflow(at, by, &at)) return std::nullopt;
  }
  return Value::List(std::move(items));
}

// itertools.product: the last argument turns fastest.
Evaluator::Result Evaluator::Product(const CallArguments& arguments) {
  std::vector<Value::Items> all;
  for (const Value& value : arguments.positional) {
    std::optional<Value::Items> items = Iterate(value);
    if (!items.has_value()) return std::nullopt;
    all.push_back(*std::move(items));
  }
  for (const auto& [name, value] : arguments.keywords) {
    if (name != "repeat" || value.type != Type::kInt || value.integer < 1 || value.integer > 8) {
      return std::nullopt;
    }
    const std::vector<Value::Items> once = all;
    for (int64_t i = 1; i < value.integer; ++i) all.insert(all.end(), once.begin(), once.end());
  }
  // Each sequence extends every row by each of its items.
  std::vector<Value::Items> rows = {{}};
  for (const Value::Items& items : all) {
    std::vector<Value::Items> longer;
    for (const Value::Items& row : rows) {
      for (const Value& item : items) {
        if (longer.size() == kMaxItems || !Step(static_cast<int64_t>(row.size() + 1)))
          return std::nullopt;
        longer.push_back(row);
        longer.back().push_back(item);
      }
    }
    rows = std::move(longer);
  }
  Value::Items tuples;
  for (Value::Items& row : rows) tuples.push_back(Value::Tuple(std::move(row)));
  return Value::List(std::move(tuples));
}

// min and max: the first of those that no other is before.
Evaluator::Result Evaluator::Extreme(const CallArguments& arguments, absl::string_view sign) {
  if (!arguments.keywords.empty() || arguments.positional.empty()) return std::nullopt;
  std::optional<Value::Items> items = arguments.positional;
  if (items->size() == 1) items = Iterate(arguments.positional[0]);
  if (!items.has_value() || items->empty()) return std::nullopt;
  Value best = items->front();
  for (const Value& item : *items) {
    const std::optional<bool> better = Compare(sign, item, best, steps_);
    if (!better.has_value()) return std::nullopt;
    if (*better) best = item;
  }
  return best;
}

// dict(mapping), dict(pairs) and dict(a=1). Keywords come last and replace equal keys.
Evaluator::Result Evaluator::Dict(CallArguments& arguments) {
  Value dict = Value::Dict({});
  if (arguments.positional.size() > 1) return std::nullopt;
  for (const Value& from : arguments.positional) {
    if (from.items == nullptr) return std::nullopt;
    for (size_t i = 0; i < from.items->size(); ++i) {
      if (from.type == Type::kDict) {
        if (!SetItem(dict, (*from.items)[i], (*from.items)[i + 1])) return std::nullopt;
        ++i;
        continue;
      }
      const Value& pair = (*from.items)[i];
      if (!pair.IsSequence() || pair.items->size() != 2) return std::nullopt;
      if (!SetItem(dict, (*pair.items)[0], (*pair.items)[1])) return std::nullopt;
    }
  }
  for (const auto& [name, value] : arguments.keywords) {
    if (!SetItem(dict, Value::String(name), value)) return std::nullopt;
  }
  return dict;
}

// filter(None, items) keeps the items that are true.
Evaluator::Result Evaluator::Filter(const Value& function, const Value& items) {
  const std::optional<Value::Items> all = Iterate(items);
  if (!all.has_value()) return std::nullopt;
  Value::Items kept;
  for (const Value& item : *all) {
    const Result keeps =
        function.type == Type::kNone ? std::optional(item) : CallFunction(function, {{item}, {}});
    const std::optional<bool> holds = keeps.has_value() ? Truth(*keeps) : std::nullopt;
    if (!holds.has_value()) return std::nullopt;
    if (*holds) kept.push_back(item);
  }
  return Value::List(std::move(kept));
}

namespace {

using Type = Value::Type;

}  // namespace

// Calls a method of a list or a dictionary.
Evaluator::Result Evaluator::CallMethod(NodeId call, NodeId attribute) {
  const NodeId object = tree_.Child(attribute, Field::kObject);
  const NodeId method = tree_.Child(attribute, Field::kAttribute);
  if (object == kNoNode || method == kNoNode) return std::nullopt;
  Result of = Expression(object);
  if (!of.has_value() || of->items == nullptr) return std::nullopt;
  const std::optional<CallArguments> arguments = ReadArguments(call);
  if (!arguments.has_value()) return std::nullopt;
  const absl::string_view name = tree_.GetText(method);
  // `append` touches one item, and FindItem pays for the keys that `get` compares. All other
  // methods may read the whole container.
  const bool is_short = name == "append" || name == "get";
  if (!Step(is_short ? 1 : static_cast<int64_t>(of->items->size()))) return std::nullopt;
  if (of->type == Type::kDict) return CallDictMethod(name, *of, *arguments);
  const bool is_list = of->type == Type::kList && arguments->keywords.empty();
  return is_list ? CallListMethod(name, *of, arguments->positional) : std::nullopt;
}

// get, update, copy, keys, values and items. The last three return copies, not views.
Evaluator::Result Evaluator::CallDictMethod(absl::string_view name, Value& of,
                                            const CallArguments& arguments) {
  const Value::Items& given = arguments.positional;
  if (name == "get" && (given.size() == 1 || given.size() == 2)) {
    const Value* found = FindItem(of, given[0]);
    return found != nullptr ? *found : given.size() == 2 ? given[1] : Value::None();
  }
  if (name == "update" && given.size() <= 1) {
    CallArguments more = arguments;
    const Result with = Dict(more);
    if (!with.has_value()) return std::nullopt;
    for (size_t i = 0; i + 1 < with->items->size(); i += 2) {
      if (!SetItem(of, (*with->items)[i], (*with->items)[i + 1])) return std::nullopt;
    }
    return Value::None();
  }
  if (!given.empty() || !arguments.keywords.empty()) return std::nullopt;
  if (name == "copy") return Value::Dict(*of.items);
  if (name != "keys" && name != "values" && name != "items") return std::nullopt;
  Value::Items all;
  for (size_t i = 0; i + 1 < of.items->size(); i += 2) {
    const Value& key = (*of.items)[i];
    const Value& value = (*of.items)[i + 1];
    all.push_back(name == "keys" ? key : name == "values" ? value : Value::Tuple({key, value}));
  }
  return Value::List(std::move(all));
}

// copy, append, extend and insert(0, x). They change the list for all values that share it. A list
// that would hold itself is refused; see SetItem.
Evaluator::Result Evaluator::CallListMethod(absl::string_view name, Value& of,
                                            const Value::Items& given) {
  if (name == "copy" && given.empty()) return Value::List(*of.items);
  if (given.empty() || of.items->size() > kMaxItems || MayHold(given.back(), of, steps_)) {
    return std::nullopt;
  }
  if (name == "append" && given.size() == 1) {
    of.items->push_back(given[0]);
    return Value::None();
  }
  if (name == "extend" && given.size() == 1) {
    const std::optional<Value::Items> more = Iterate(given[0]);
    if (!more.has_value()) return std::nullopt;
    of.items->insert(of.items->end(), more->begin(), more->end());
    return Value::None();
  }
  const bool in_front = given.size() == 2 && given[0].type == Type::kInt && given[0].integer == 0;
  if (name != "insert" || !in_front) return std::nullopt;
  of.items->insert(of.items->begin(), given[1]);
  return Value::None();
}

}  // namespace kernelmill::python
