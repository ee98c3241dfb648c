#include <algorithm>

#include "absl/strings/match.h"
#include "common/base/text.h"
#include "common/python/evaluate/evaluator.h"

namespace kernelmill::python {
namespace {

// Decorators that leave what a function returns as it is.
bool IsTransparent(absl::string_view decorator) {
  static constexpr absl::string_view kNames[] = {"cache", "lru_cache"};
  return std::find(std::begin(kNames), std::end(kNames), LastPart(decorator)) != std::end(kNames);
}

}  // namespace

Evaluator::Result Evaluator::CallFunction(const Value& function, const CallArguments& arguments) {
  constexpr int kCost = 8;  // of nesting: a call takes more of the stack than an expression
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
    if (tree_.KindOf(node) == Kind::kLambda) {
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

// Plain parameters, with or without annotations and defaults; neither *args nor **kwargs.
bool Evaluator::BindParameters(NodeId parameters, const CallArguments& arguments, Frame& frame) {
  size_t position = 0;
  size_t used = 0;
  for (NodeId child = FirstOperand(parameters); child != kNoNode; child = NextOperand(child)) {
    const Kind kind = tree_.KindOf(child);
    if (tree_.TextOf(child) == "*" || tree_.TextOf(child) == "/") continue;
    NodeId name = kind == Kind::kIdentifier ? child : tree_.Child(child, Field::kName);
    if (kind == Kind::kTypedParameter) name = FirstOperand(child);
    if (name == kNoNode || tree_.KindOf(name) != Kind::kIdentifier) return false;
    const absl::string_view text = tree_.TextOf(name);
    const auto keyword = std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                                      [&](const auto& given) { return given.first == text; });
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

// What the name is once these have run, outside any function of the file.
Evaluator::Result Evaluator::OfStatements(absl::string_view name,
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

Evaluator::Flow Evaluator::RunBlock(NodeId block) {
  Flow flow = Flow::kNext;
  for (NodeId child = FirstOperand(block); child != kNoNode && flow == Flow::kNext;
       child = NextOperand(child)) {
    flow = Run(child);
  }
  return flow;
}

Evaluator::Flow Evaluator::Run(NodeId statement) {
  const Nesting nesting(depth_);
  if (nesting.too_deep() || !Step()) return Flow::kUnknown;
  switch (tree_.KindOf(statement)) {
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
      const absl::string_view text = tree_.TextOf(statement);
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
  const Kind kind = tree_.KindOf(inner);
  if (kind == Kind::kAugmentedAssignment) return RunAugmented(inner);
  if (kind == Kind::kString) return Flow::kNext;
  if (kind != Kind::kAssignment) {
    return Expression(inner).has_value() ? Flow::kNext : Flow::kUnknown;
  }
  // a = b = value: all targets get the same.
  std::vector<NodeId> targets;
  NodeId value = inner;
  while (value != kNoNode && tree_.KindOf(value) == Kind::kAssignment && targets.size() < 16) {
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
  absl::string_view text = tree_.TextOf(sign);
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
  const bool is_main = absl::StartsWith(tree_.TextOf(condition), "__name__");
  const Result value = is_main ? std::optional(Value::Bool(false)) : Expression(condition);
  const std::optional<bool> holds = value.has_value() ? Truth(*value) : std::nullopt;
  if (!holds.has_value()) return Flow::kUnknown;
  if (*holds) return RunBlock(body);
  for (NodeId clause = NextOperand(body); clause != kNoNode; clause = NextOperand(clause)) {
    const NodeId block = tree_.Child(clause, Kind::kBlock);
    if (block == kNoNode) return Flow::kUnknown;
    if (tree_.KindOf(clause) == Kind::kElseClause) return RunBlock(block);
    if (tree_.KindOf(clause) != Kind::kElifClause) return Flow::kUnknown;
    const Result other = Expression(FirstOperand(clause));
    const std::optional<bool> chosen = other.has_value() ? Truth(*other) : std::nullopt;
    if (!chosen.has_value()) return Flow::kUnknown;
    if (*chosen) return RunBlock(block);
  }
  return Flow::kNext;
}

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

Evaluator::Flow Evaluator::Define(NodeId node) {
  NodeId definition = node;
  if (tree_.KindOf(node) == Kind::kDecoratedDefinition) {
    for (NodeId child = FirstOperand(node); child != kNoNode; child = NextOperand(child)) {
      if (tree_.KindOf(child) != Kind::kDecorator) continue;
      NodeId decorator = FirstOperand(child);
      if (decorator != kNoNode && tree_.KindOf(decorator) == Kind::kCall) {
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
  if (name == kNoNode || tree_.KindOf(definition) != Kind::kFunctionDefinition)
    return Flow::kUnknown;
  if (absl::StartsWith(tree_.TextOf(definition), "async")) return Flow::kUnknown;
  Value function;
  function.type = Value::Type::kFunction;
  function.function = definition;
  function.closure = frame_;
  frame_->names[tree_.TextOf(name)] = function;
  return Flow::kNext;
}

}  // namespace kernelmill::python
