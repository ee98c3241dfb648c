#include "common/python/evaluate/evaluator.h"

namespace kernelmill::python {

namespace {

using Type = Value::Type;

}  // namespace

// Of a list or a dictionary.
Evaluator::Result Evaluator::CallMethod(NodeId call, NodeId attribute) {
  const NodeId object = tree_.Child(attribute, Field::kObject);
  const NodeId method = tree_.Child(attribute, Field::kAttribute);
  if (object == kNoNode || method == kNoNode) return std::nullopt;
  Result of = Expression(object);
  if (!of.has_value() || of->items == nullptr) return std::nullopt;
  const std::optional<CallArguments> arguments = ReadArguments(call);
  if (!arguments.has_value()) return std::nullopt;
  const absl::string_view name = tree_.TextOf(method);
  const bool is_short = name == "append" || name == "get";
  if (!Step(is_short ? 1 : static_cast<int64_t>(of->items->size()))) return std::nullopt;
  if (of->type == Type::kDict) return CallDictMethod(name, *of, *arguments);
  const bool is_list = of->type == Type::kList && arguments->keywords.empty();
  return is_list ? CallListMethod(name, *of, arguments->positional) : std::nullopt;
}

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
