#include "services/extractor/core/detect/jit_wrappers.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/dsl/languages.h"

namespace kernelmill::extractor {

using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

// The most definitions that are followed from one to the next.
constexpr int kMaxSteps = 24;

NodeId FirstExpression(const SyntaxTree& tree, NodeId node) {
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (!IsLayout(tree.GetKind(child))) return child;
  }
  return kNoNode;
}

// Returns whether DSLs and their wrappers use this name for the parameter that takes the function.
bool TakesFunction(absl::string_view parameter) {
  return parameter == "fn" || parameter == "kernel" || parameter == "body" || parameter == "f" ||
         parameter == "func";
}

// Returns the first positional argument, or the keyword argument that takes the function.
NodeId FirstArgument(const SyntaxTree& tree, NodeId call) {
  const NodeId arguments = tree.Child(call, Field::kArguments);
  if (arguments == kNoNode || tree.GetKind(arguments) != Kind::kArgumentList) return kNoNode;
  for (NodeId child = tree.FirstChild(arguments); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (IsLayout(tree.GetKind(child)) || absl::StartsWith(tree.GetText(child), "**")) continue;
    if (tree.GetKind(child) != Kind::kKeywordArgument) return tree.StripParentheses(child);
    const NodeId name = tree.Child(child, Field::kName);
    const NodeId value = tree.Child(child, Field::kValue);
    if (name != kNoNode && value != kNoNode && TakesFunction(tree.GetText(name))) {
      return tree.StripParentheses(value);
    }
  }
  return kNoNode;
}

// Returns whether the expression is one of its parts: a if b else c, a or b, a and b.
bool IsChoice(const SyntaxTree& tree, NodeId node) {
  if (tree.GetKind(node) == Kind::kConditionalExpression) return true;
  if (tree.GetKind(node) != Kind::kOther) return false;
  const NodeId sign = tree.Child(node, Field::kOperator);
  return sign != kNoNode && (tree.GetText(sign) == "and" || tree.GetText(sign) == "or");
}

}  // namespace

std::optional<JitWrapper> JitWrappers::Read(NodeId expression, int depth) {
  if (depth > kMaxSteps) return std::nullopt;
  const NodeId node = tree_.StripParentheses(expression);
  if (tree_.GetKind(node) == Kind::kCall) return ReadCall(node, depth + 1);
  if (IsChoice(tree_, node)) return ReadChoice(node, depth + 1);
  const std::string dotted = DottedExpression(tree_, node);
  if (dotted.empty()) return std::nullopt;
  return ReadName(dotted, imports_.Resolve(dotted), node, depth + 1);
}

std::optional<JitWrapper> JitWrappers::ReadCalled(const Call& call, int depth) {
  if (call.name.empty()) return Read(call.function, depth);
  if (depth > kMaxSteps) return std::nullopt;
  return ReadName(call.name, call.resolved, tree_.StripParentheses(call.function), depth + 1);
}

// A DSL's own name decides at once. Only a name without points is followed through the file.
std::optional<JitWrapper> JitWrappers::ReadName(absl::string_view dotted,
                                                absl::string_view resolved, NodeId at, int depth) {
  const v1::Dsl dsl = dsl::FindExtractedDsl(resolved);
  if (dsl != v1::DSL_UNSPECIFIED) return JitWrapper{dsl, std::string(resolved), true};
  if (dotted.find('.') != absl::string_view::npos) return std::nullopt;
  for (const NodeId value : names_.GetValues(dotted, at)) {
    const std::optional<JitWrapper> wrapper = ReadValue(value, depth);
    if (wrapper) return JitWrapper{wrapper->dsl, std::string(dotted), false};
  }
  return std::nullopt;
}

// Reads what is chosen from: the first wrapper among the parts counts.
std::optional<JitWrapper> JitWrappers::ReadChoice(NodeId node, int depth) {
  for (NodeId part = tree_.FirstChild(node); part != kNoNode; part = tree_.NextSibling(part)) {
    if (IsLayout(tree_.GetKind(part))) continue;
    std::optional<JitWrapper> wrapper = Read(part, depth);
    if (!wrapper) continue;
    wrapper->own = false;
    return wrapper;
  }
  return std::nullopt;
}

// Reads getattr(triton, 'jit', ...).
std::optional<JitWrapper> JitWrappers::ReadGetattr(NodeId call) const {
  const python::Arguments arguments = python::GetArguments(tree_, call);
  if (arguments.size() < 2) return std::nullopt;
  const std::string object = DottedExpression(tree_, arguments[0].value);
  const absl::string_view literal = tree_.GetText(arguments[1].value);
  if (object.empty() || tree_.GetKind(arguments[1].value) != Kind::kString || literal.size() < 3) {
    return std::nullopt;
  }
  std::string name =
      imports_.Resolve(absl::StrCat(object, ".", literal.substr(1, literal.size() - 2)));
  const v1::Dsl dsl = dsl::FindExtractedDsl(name);
  if (dsl == v1::DSL_UNSPECIFIED) return std::nullopt;
  return JitWrapper{dsl, std::move(name), false};
}

// A wrapper that is called without a function returns a wrapper: triton.jit(debug=True). With a
// function it returns a kernel, which is no wrapper. A positional argument of Triton's own wrappers
// is always the function; one of Pallas's may be a mesh.
std::optional<JitWrapper> JitWrappers::ReadCall(NodeId node, int depth) {
  const Call& call = calls_.At(node);
  if (call.function == kNoNode ||
      tree_.GetKind(tree_.StripParentheses(call.function)) == Kind::kCall) {
    return std::nullopt;
  }
  if (call.name == "getattr") return ReadGetattr(node);
  if (IsPartial(call)) {
    const NodeId inner = FirstArgument(tree_, node);
    std::optional<JitWrapper> wrapper = inner == kNoNode ? std::nullopt : Read(inner, depth);
    if (wrapper) wrapper->own = false;
    return wrapper;
  }
  std::optional<JitWrapper> wrapper = ReadCalled(call, depth);
  const NodeId argument = FunctionArgument(node);
  if (!wrapper || argument == kNoNode) return wrapper;
  const bool given = (wrapper->own && wrapper->dsl != v1::DSL_PALLAS) || IsFunction(argument);
  return given ? std::nullopt : wrapper;
}

// Returns whether the expression is the name of a function of the file, or of a parameter, which
// may be a function.
bool JitWrappers::IsFunction(NodeId expression) const {
  return tree_.GetKind(expression) == Kind::kIdentifier &&
         (names_.IsParameter(tree_.GetText(expression), expression) ||
          !names_.FunctionsNamed(tree_.GetText(expression), expression).empty());
}

std::optional<JitWrapper> JitWrappers::ReadValue(NodeId value, int depth) {
  const auto known = values_.find(value);
  if (known != values_.end()) return known->second;
  values_[value] = std::nullopt;  // for the time of the search, so that a circle ends
  std::optional<JitWrapper> found = ResolveValue(value, depth);
  values_[value] = found;
  return found;
}

// A definition is a wrapper by what it returns or applies; any other value by what it is.
std::optional<JitWrapper> JitWrappers::ResolveValue(NodeId value, int depth) {
  value = tree_.StripParentheses(value);
  switch (tree_.GetKind(value)) {
    case Kind::kFunctionDefinition:
      return InFunction(value, depth);
    case Kind::kClassDefinition:
      return InClass(value, depth);
    case Kind::kLambda: {
      const NodeId body = tree_.Child(value, Field::kBody);
      return body == kNoNode ? std::nullopt : InResult(body, depth);
    }
    case Kind::kCall: {
      std::optional<JitWrapper> wrapper = Read(value, depth);
      return wrapper ? wrapper : ReadFirstArgument(value, depth);
    }
    default:
      return Read(value, depth);
  }
}

// Reads a call that takes a wrapper, or a lambda that returns one, and may return it:
// attempt(triton.jit).
std::optional<JitWrapper> JitWrappers::ReadFirstArgument(NodeId call, int depth) {
  const NodeId argument = FirstArgument(tree_, call);
  if (argument == kNoNode) return std::nullopt;
  if (tree_.GetKind(argument) != Kind::kLambda) return Read(argument, depth);
  const NodeId body = tree_.Child(argument, Field::kBody);
  return body == kNoNode ? std::nullopt : Read(body, depth);
}

// Reads all return statements below, also those of functions inside: a decorator with arguments
// returns a function that returns the kernel.
std::optional<JitWrapper> JitWrappers::InFunction(NodeId function, int depth) {
  for (const NodeId node : tree_.Of(Kind::kReturnStatement, function)) {
    const NodeId result = FirstExpression(tree_, node);
    if (result == kNoNode) continue;
    std::optional<JitWrapper> wrapper = InResult(result, depth);
    if (wrapper) return wrapper;
  }
  return std::nullopt;
}

// A class whose constructor, or any method, applies a wrapper to a parameter works as a wrapper.
std::optional<JitWrapper> JitWrappers::InClass(NodeId definition, int depth) {
  const NodeId bases = tree_.Child(definition, Kind::kArgumentList);
  if (bases != kNoNode) {
    for (NodeId base = tree_.FirstChild(bases); base != kNoNode; base = tree_.NextSibling(base)) {
      if (IsLayout(tree_.GetKind(base)) || tree_.GetKind(base) == Kind::kCall) continue;
      std::optional<JitWrapper> wrapper = Read(base, depth);
      if (wrapper) return wrapper;
    }
  }
  const NodeId body = tree_.Child(definition, Field::kBody);
  return body == kNoNode ? std::nullopt : AppliedWithin(body, depth);
}

// Reads a returned expression: a wrapper, the result of applying one to a parameter, or a name for
// either.
std::optional<JitWrapper> JitWrappers::InResult(NodeId expression, int depth) {
  if (depth > kMaxSteps) return std::nullopt;
  std::optional<JitWrapper> wrapper = Read(expression, depth + 1);
  if (!wrapper) wrapper = AppliedWithin(expression, depth + 1);
  const NodeId node = tree_.StripParentheses(expression);
  if (wrapper) return wrapper;
  if (tree_.GetKind(node) == Kind::kCall) {  // autotune(...)(f), where f = jit(f)
    const NodeId argument = FunctionArgument(node);
    const bool named = argument != kNoNode && tree_.GetKind(argument) == Kind::kIdentifier;
    return named ? InResult(argument, depth + 1) : std::nullopt;
  }
  if (tree_.GetKind(node) != Kind::kIdentifier) return std::nullopt;
  for (const NodeId value : names_.GetValues(tree_.GetText(node), node)) {
    if (tree_.GetKind(value) == Kind::kFunctionDefinition) continue;
    wrapper = AppliedWithin(value, depth + 1);
    if (wrapper) return wrapper;
  }
  return std::nullopt;
}

// Finds a wrapper that is applied to a parameter anywhere below `root`.
std::optional<JitWrapper> JitWrappers::AppliedWithin(NodeId root, int depth) {
  for (const Call& call : calls_.In(root)) {
    if (call.function == kNoNode || !TakesParameter(call.node)) continue;
    std::optional<JitWrapper> wrapper = ReadCalled(call, depth);
    if (wrapper) return wrapper;
  }
  return std::nullopt;
}

// Returns whether the call passes a parameter of a function around it, or all its parameters
// (*args).
bool JitWrappers::TakesParameter(NodeId call) const {
  const NodeId argument = FunctionArgument(call);
  if (argument == kNoNode) return false;
  const Kind kind = tree_.GetKind(argument);
  const NodeId name = kind == Kind::kListSplat ? FirstExpression(tree_, argument) : argument;
  return name != kNoNode && tree_.GetKind(name) == Kind::kIdentifier &&
         names_.IsParameter(tree_.GetText(name), call);
}

// Returns f of functools.partial(f, ...), at any depth up to the bound.
NodeId JitWrappers::InsidePartial(NodeId expression) const {
  for (int depth = 0; depth < kMaxSteps && expression != kNoNode; ++depth) {
    if (tree_.GetKind(expression) != Kind::kCall || !IsPartial(calls_.At(expression))) break;
    expression = FirstArgument(tree_, expression);
  }
  return expression;
}

NodeId JitWrappers::FunctionArgument(NodeId call) const {
  return InsidePartial(FirstArgument(tree_, call));
}

// Follows one assignment at a time, up to kMaxSteps, until a name is that of a function.
std::vector<NodeId> JitWrappers::FunctionsMeant(NodeId expression) const {
  NodeId at = InsidePartial(tree_.StripParentheses(expression));
  for (int steps = 0; steps < kMaxSteps && at != kNoNode; ++steps) {
    if (tree_.GetKind(at) != Kind::kIdentifier) break;
    std::vector<NodeId> functions = names_.FunctionsNamed(tree_.GetText(at), at);
    if (!functions.empty()) return functions;
    // Follow the last assignment above; without one, the first below.
    NodeId value = kNoNode;
    for (const NodeId candidate : names_.GetValues(tree_.GetText(at), at)) {
      if (value == kNoNode || candidate < at) value = candidate;
    }
    if (value == kNoNode) break;
    at = InsidePartial(tree_.StripParentheses(value));
  }
  return {};
}

}  // namespace kernelmill::extractor
