#include "services/extractor/core/detect/jit_wrappers.h"

#include "common/dsl/languages.h"

namespace kernelmill::extractor {

using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

// Definitions that lead from one to the next further than this are not followed to their end.
constexpr int kMaxSteps = 24;

NodeId FirstExpression(const SyntaxTree& tree, NodeId node) {
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (!IsLayout(tree.KindOf(child))) return child;
  }
  return kNoNode;
}

// What the DSLs and their wrappers call the parameter that takes the function.
bool TakesFunction(absl::string_view parameter) {
  return parameter == "fn" || parameter == "kernel" || parameter == "body" || parameter == "f" ||
         parameter == "func";
}

// The first argument by position, or the one of a name that takes a function.
NodeId FirstArgument(const SyntaxTree& tree, NodeId call) {
  const NodeId arguments = tree.Child(call, Field::kArguments);
  if (arguments == kNoNode || tree.KindOf(arguments) != Kind::kArgumentList) return kNoNode;
  for (NodeId child = tree.FirstChild(arguments); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (IsLayout(tree.KindOf(child))) continue;
    if (tree.KindOf(child) != Kind::kKeywordArgument) return tree.StripParentheses(child);
    const NodeId name = tree.Child(child, Field::kName);
    const NodeId value = tree.Child(child, Field::kValue);
    if (name != kNoNode && value != kNoNode && TakesFunction(tree.TextOf(name))) {
      return tree.StripParentheses(value);
    }
  }
  return kNoNode;
}

}  // namespace

std::optional<JitWrapper> JitWrappers::Of(NodeId expression, int depth) {
  if (depth > kMaxSteps) return std::nullopt;
  const NodeId node = tree_.StripParentheses(expression);
  if (tree_.KindOf(node) == Kind::kCall) return OfCall(node, depth + 1);
  const std::string dotted = DottedExpression(tree_, node);
  if (dotted.empty()) return std::nullopt;
  return OfName(dotted, imports_.Resolve(dotted), node, depth + 1);
}

std::optional<JitWrapper> JitWrappers::OfCalled(const Call& call, int depth) {
  if (call.name.empty()) return Of(call.function, depth);
  if (depth > kMaxSteps) return std::nullopt;
  return OfName(call.name, call.resolved, tree_.StripParentheses(call.function), depth + 1);
}

std::optional<JitWrapper> JitWrappers::OfName(absl::string_view dotted, absl::string_view resolved,
                                              NodeId at, int depth) {
  const v1::Dsl dsl = dsl::ExtractedDslOf(resolved);
  if (dsl != v1::DSL_UNSPECIFIED) return JitWrapper{dsl, std::string(resolved), true};
  if (dotted.find('.') != absl::string_view::npos) return std::nullopt;
  for (const NodeId value : names_.ValuesOf(dotted, at)) {
    const std::optional<JitWrapper> wrapper = OfValue(value, depth);
    if (wrapper) return JitWrapper{wrapper->dsl, std::string(dotted), false};
  }
  return std::nullopt;
}

// A wrapper that is called without a function is one still: triton.jit(debug=True). Triton's own
// take nothing else by position; Pallas's may be given a mesh.
std::optional<JitWrapper> JitWrappers::OfCall(NodeId node, int depth) {
  const Call& call = calls_.At(node);
  if (call.function == kNoNode ||
      tree_.KindOf(tree_.StripParentheses(call.function)) == Kind::kCall) {
    return std::nullopt;
  }
  if (IsPartial(call)) {
    const NodeId inner = FirstArgument(tree_, node);
    std::optional<JitWrapper> wrapper = inner == kNoNode ? std::nullopt : Of(inner, depth);
    if (wrapper) wrapper->own = false;
    return wrapper;
  }
  std::optional<JitWrapper> wrapper = OfCalled(call, depth);
  const NodeId argument = FunctionArgument(node);
  if (!wrapper || argument == kNoNode) return wrapper;
  const bool given = (wrapper->own && wrapper->dsl != v1::DSL_PALLAS) || IsFunction(argument);
  return given ? std::nullopt : wrapper;
}

// Whether it is the name of a function of the file, or of a parameter, which may be one.
bool JitWrappers::IsFunction(NodeId expression) const {
  return tree_.KindOf(expression) == Kind::kIdentifier &&
         (names_.IsParameter(tree_.TextOf(expression), expression) ||
          !names_.FunctionsNamed(tree_.TextOf(expression), expression).empty());
}

std::optional<JitWrapper> JitWrappers::OfValue(NodeId value, int depth) {
  const auto known = values_.find(value);
  if (known != values_.end()) return known->second;
  values_[value] = std::nullopt;  // while it is looked for: what leads back to itself leads nowhere
  std::optional<JitWrapper> found = FindInValue(value, depth);
  values_[value] = found;
  return found;
}

std::optional<JitWrapper> JitWrappers::FindInValue(NodeId value, int depth) {
  value = tree_.StripParentheses(value);
  switch (tree_.KindOf(value)) {
    case Kind::kFunctionDefinition:
      return InFunction(value, depth);
    case Kind::kClassDefinition:
      return InClass(value, depth);
    case Kind::kLambda: {
      const NodeId body = tree_.Child(value, Field::kBody);
      return body == kNoNode ? std::nullopt : InResult(body, depth);
    }
    case Kind::kCall: {
      std::optional<JitWrapper> wrapper = Of(value, depth);
      return wrapper ? wrapper : OfFirstArgument(value, depth);
    }
    default:
      return Of(value, depth);
  }
}

// What some function makes of a wrapper, or of a lambda that returns one: attempt(triton.jit).
std::optional<JitWrapper> JitWrappers::OfFirstArgument(NodeId call, int depth) {
  const NodeId argument = FirstArgument(tree_, call);
  if (argument == kNoNode) return std::nullopt;
  if (tree_.KindOf(argument) != Kind::kLambda) return Of(argument, depth);
  const NodeId body = tree_.Child(argument, Field::kBody);
  return body == kNoNode ? std::nullopt : Of(body, depth);
}

std::optional<JitWrapper> JitWrappers::InFunction(NodeId function, int depth) {
  for (const NodeId node : tree_.Of(Kind::kReturnStatement, function)) {
    const NodeId result = FirstExpression(tree_, node);
    if (result == kNoNode) continue;
    std::optional<JitWrapper> wrapper = InResult(result, depth);
    if (wrapper) return wrapper;
  }
  return std::nullopt;
}

std::optional<JitWrapper> JitWrappers::InClass(NodeId definition, int depth) {
  const NodeId bases = tree_.Child(definition, Kind::kArgumentList);
  if (bases != kNoNode) {
    for (NodeId base = tree_.FirstChild(bases); base != kNoNode; base = tree_.NextSibling(base)) {
      if (IsLayout(tree_.KindOf(base)) || tree_.KindOf(base) == Kind::kCall) continue;
      std::optional<JitWrapper> wrapper = Of(base, depth);
      if (wrapper) return wrapper;
    }
  }
  const NodeId body = tree_.Child(definition, Field::kBody);
  return body == kNoNode ? std::nullopt : AppliedWithin(body, depth);
}

// What is returned is a wrapper, what one makes of a parameter, or a name for such a thing.
std::optional<JitWrapper> JitWrappers::InResult(NodeId expression, int depth) {
  if (depth > kMaxSteps) return std::nullopt;
  std::optional<JitWrapper> wrapper = Of(expression, depth + 1);
  if (!wrapper) wrapper = AppliedWithin(expression, depth + 1);
  const NodeId node = tree_.StripParentheses(expression);
  if (wrapper || tree_.KindOf(node) != Kind::kIdentifier) return wrapper;
  for (const NodeId value : names_.ValuesOf(tree_.TextOf(node), node)) {
    if (tree_.KindOf(value) == Kind::kFunctionDefinition) continue;
    wrapper = AppliedWithin(value, depth + 1);
    if (wrapper) return wrapper;
  }
  return std::nullopt;
}

std::optional<JitWrapper> JitWrappers::AppliedWithin(NodeId root, int depth) {
  for (const Call& call : calls_.In(root)) {
    if (call.function == kNoNode || !TakesParameter(call.node)) continue;
    std::optional<JitWrapper> wrapper = OfCalled(call, depth);
    if (wrapper) return wrapper;
  }
  return std::nullopt;
}

// Whether the function that it passes is a parameter of a function around, or all of them.
bool JitWrappers::TakesParameter(NodeId call) const {
  const NodeId argument = FunctionArgument(call);
  if (argument == kNoNode) return false;
  const Kind kind = tree_.KindOf(argument);
  const NodeId name = kind == Kind::kListSplat ? FirstExpression(tree_, argument) : argument;
  return name != kNoNode && tree_.KindOf(name) == Kind::kIdentifier &&
         names_.IsParameter(tree_.TextOf(name), call);
}

NodeId JitWrappers::InsidePartial(NodeId expression) const {
  for (int depth = 0; depth < kMaxSteps && expression != kNoNode; ++depth) {
    if (tree_.KindOf(expression) != Kind::kCall || !IsPartial(calls_.At(expression))) break;
    expression = FirstArgument(tree_, expression);
  }
  return expression;
}

NodeId JitWrappers::FunctionArgument(NodeId call) const {
  return InsidePartial(FirstArgument(tree_, call));
}

std::vector<NodeId> JitWrappers::FunctionsMeant(NodeId expression) const {
  NodeId at = InsidePartial(tree_.StripParentheses(expression));
  for (int steps = 0; steps < kMaxSteps && at != kNoNode; ++steps) {
    if (tree_.KindOf(at) != Kind::kIdentifier) break;
    std::vector<NodeId> functions = names_.FunctionsNamed(tree_.TextOf(at), at);
    if (!functions.empty()) return functions;
    // The last that it was assigned above, or the first of all.
    NodeId value = kNoNode;
    for (const NodeId candidate : names_.ValuesOf(tree_.TextOf(at), at)) {
      if (value == kNoNode || candidate < at) value = candidate;
    }
    if (value == kNoNode) break;
    at = InsidePartial(tree_.StripParentheses(value));
  }
  return {};
}

}  // namespace kernelmill::extractor
