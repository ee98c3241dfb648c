#include "services/extractor/core/detect/jit_wrappers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/python/module_paths.h"
#include "common/python/syntax/bindings.h"

namespace kernelmill::extractor {

using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

// The most definitions that are followed from one to the next.
constexpr int kMaxSteps = 24;

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

// Returns whether a function of that name puts decorators together, whatever module it comes from.
bool NamesComposition(absl::string_view name) {
  return absl::StrContains(name, "compose") || name == "chain" || name == "pipe";
}

}  // namespace

bool IsOfAProject(absl::string_view origin) {
  const absl::string_view root = origin.substr(0, origin.find('.'));
  return !origin.empty() && !python::IsStandardModule(root) && !dsl::IsLibrary(root);
}

bool NamesAMaker(absl::string_view dotted) {
  return absl::StrContains(absl::AsciiStrToLower(LastPart(dotted)), "jit") ||
         dsl::FindSaidDsl(dotted) == v1::DSL_PALLAS;
}

bool SaysMaker(absl::string_view origin) { return dsl::FindSaidDsl(origin) != v1::DSL_UNSPECIFIED; }

std::optional<JitWrapper> JitWrappers::Read(NodeId expression, int depth) {
  if (depth > kMaxSteps) return std::nullopt;
  NodeId node = tree_.StripParentheses(expression);
  if (tree_.GetKind(node) == Kind::kNamedExpression) {
    const NodeId value = tree_.Child(node, Field::kValue);
    if (value != kNoNode) node = tree_.StripParentheses(value);
  }
  if (tree_.GetKind(node) == Kind::kCall) return ReadCall(node, depth + 1);
  if (IsChoice(tree_, node)) return ReadChoice(node, depth + 1);
  const std::string dotted = DottedExpression(tree_, node);
  if (!dotted.empty()) return ReadName(dotted, imports_.Resolve(dotted), node, depth + 1);
  if (tree_.GetKind(node) != Kind::kAttribute && tree_.GetKind(node) != Kind::kSubscript) {
    return std::nullopt;
  }
  return ReadName(tree_.GetText(node), "", node, depth + 1);
}

std::optional<JitWrapper> JitWrappers::ReadCalled(const Call& call, int depth) {
  if (call.name.empty()) return Read(call.function, depth);
  if (depth > kMaxSteps) return std::nullopt;
  return ReadName(call.name, call.resolved, tree_.StripParentheses(call.function), depth + 1);
}

// A DSL's own name decides at once. Any other name is followed through the file first, and then to
// the file that it is imported from.
std::optional<JitWrapper> JitWrappers::ReadName(absl::string_view dotted,
                                                absl::string_view resolved, NodeId at, int depth) {
  const v1::Dsl dsl = dsl::FindExtractedDsl(resolved);
  if (dsl != v1::DSL_UNSPECIFIED) return JitWrapper{dsl, std::string(resolved), true, ""};
  for (const NodeId value : file_values_.Follow(at)) {
    std::optional<JitWrapper> wrapper = ReadValue(value, depth);
    if (!wrapper) continue;
    wrapper->name = std::string(dotted);
    wrapper->own = false;
    return wrapper;
  }
  return ReadImported(dotted, at);
}

// Reads a name that may be a wrapper of another file.
std::optional<JitWrapper> JitWrappers::ReadImported(absl::string_view dotted, NodeId at) const {
  std::string origin = FindOrigin(std::string(dotted), at);
  const bool says = SaysMaker(origin);
  if (!says && !(IsOfAProject(origin) && NamesAMaker(origin))) return std::nullopt;
  const v1::Dsl dsl = dsl::FindSaidDsl(origin);
  return JitWrapper{dsl, std::string(dotted), false, std::move(origin)};
}

std::string JitWrappers::FindOrigin(const std::string& dotted, NodeId at) const {
  if (dotted.empty()) return "";
  std::string origin = imports_.Origin(dotted);
  const bool bare = dotted.find('.') == std::string::npos && !python::IsBuiltin(dotted);
  if (!origin.empty() || !bare || imports_.wildcards().empty()) return origin;
  const bool own = names_.IsParameter(dotted, at) || !names_.GetValues(dotted, at).empty();
  return own ? "" : dotted;
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
  const std::string dotted = absl::StrCat(object, ".", literal.substr(1, literal.size() - 2));
  std::string name = imports_.Resolve(dotted);
  const v1::Dsl dsl = dsl::FindExtractedDsl(name);
  if (dsl == v1::DSL_UNSPECIFIED) return ReadImported(dotted, call);
  return JitWrapper{dsl, std::move(name), false, ""};
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
  if (!wrapper) return ReadComposed(call, depth);
  const NodeId argument = FunctionArgument(node);
  if (argument == kNoNode) return wrapper;
  const bool given = (wrapper->own && wrapper->dsl != v1::DSL_PALLAS) || IsFunction(argument);
  return given ? std::nullopt : wrapper;
}

// Reads a call that puts decorators together: compose(triton.autotune(...), triton.jit).
std::optional<JitWrapper> JitWrappers::ReadComposed(const Call& call, int depth) {
  if (!Composes(call)) return std::nullopt;
  for (const python::Argument& argument : python::GetArguments(tree_, call.node)) {
    if (!argument.keyword.empty()) continue;
    std::optional<JitWrapper> wrapper = Read(argument.value, depth);
    if (!wrapper) continue;
    if (!call.name.empty()) wrapper->name = std::string(call.name);
    wrapper->own = false;
    return wrapper;
  }
  return std::nullopt;
}

// Returns whether the called function applies functions that it is given; one of another file, by
// its name.
bool JitWrappers::Composes(const Call& call) const {
  const std::vector<NodeId> values = file_values_.Follow(call.function);
  if (values.empty()) return NamesComposition(LastPart(call.resolved));
  return std::any_of(values.begin(), values.end(), [&](NodeId value) {
    const std::span<const Call> inner = calls_.In(value);
    return tree_.GetKind(value) == Kind::kFunctionDefinition &&
           std::any_of(inner.begin(), inner.end(),
                       [&](const Call& each) { return IsGiven(each.function); });
  });
}

// Returns whether a name is a parameter, or what a loop gives.
bool JitWrappers::IsGiven(NodeId name) const {
  if (name == kNoNode || tree_.GetKind(name) != Kind::kIdentifier) return false;
  return names_.IsParameter(tree_.GetText(name), name) ||
         file_values_.FindIterable(name) != kNoNode;
}

// Returns whether the call is one of functools.partial or of another function of that name, also
// by a name that the file gives it.
bool JitWrappers::IsPartial(const Call& call) const {
  const auto is_partial = [](absl::string_view resolved) {
    return LastPart(resolved) == "partial" || resolved == "jax.tree_util.Partial";
  };
  if (is_partial(call.resolved)) return true;
  if (call.function == kNoNode || call.name.empty()) return false;
  const std::vector<NodeId> values = file_values_.Follow(call.function);
  return std::any_of(values.begin(), values.end(), [&](NodeId value) {
    return is_partial(imports_.Resolve(DottedExpression(tree_, value)));
  });
}

// Returns whether the expression is the name of a function of the file, or of a parameter, which
// may be a function.
bool JitWrappers::IsFunction(NodeId expression) const {
  return IsGiven(expression) || !FunctionsMeant(expression).empty();
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
  return name != kNoNode && IsGiven(name);
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

std::vector<NodeId> JitWrappers::FunctionsMeant(NodeId expression) const {
  std::vector<NodeId> functions;
  int steps = kMaxSteps;
  AddFunctions(expression, steps, functions);
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
  return functions;
}

std::vector<NodeId> JitWrappers::FunctionsMapped(NodeId call) const {
  std::vector<NodeId> functions;
  const python::Arguments arguments = python::GetArguments(tree_, call);
  if (arguments.size() != 2) return functions;
  int steps = kMaxSteps;
  for (const NodeId element : file_values_.ListElements(arguments[1].value)) {
    AddFunctions(element, steps, functions);
  }
  return functions;
}

// A name that is not a function's is followed through its last assignment above; without one,
// through the first below. Anything else may be any of its values.
void JitWrappers::AddFunctions(NodeId expression, int& steps,
                               std::vector<NodeId>& functions) const {
  const NodeId at = InsidePartial(tree_.StripParentheses(expression));
  if (at == kNoNode || --steps < 0) return;
  if (tree_.GetKind(at) == Kind::kFunctionDefinition) {
    functions.push_back(at);
    return;
  }
  if (tree_.GetKind(at) == Kind::kLambda) {
    const NodeId called = FindForwarded(at);
    if (called != kNoNode) AddFunctions(called, steps, functions);
    return;
  }
  std::vector<NodeId> values = file_values_.Follow(at);
  if (tree_.GetKind(at) == Kind::kIdentifier) {
    const std::vector<NodeId> named = names_.FunctionsNamed(tree_.GetText(at), at);
    functions.insert(functions.end(), named.begin(), named.end());
    if (!named.empty()) return;
    const bool assigned = !names_.GetValues(tree_.GetText(at), at).empty();
    const auto below = std::lower_bound(values.begin(), values.end(), at);
    if (assigned) values = {below == values.begin() ? values.front() : *(below - 1)};
  }
  for (const NodeId value : values) AddFunctions(value, steps, functions);
}

// Returns the function that a lambda only calls, with its own parameters first: lambda *refs:
// body(*refs, n).
NodeId JitWrappers::FindForwarded(NodeId lambda) const {
  const NodeId body = tree_.Child(lambda, Field::kBody);
  if (body == kNoNode) return kNoNode;
  const NodeId call = tree_.StripParentheses(body);
  if (tree_.GetKind(call) != Kind::kCall || !TakesParameter(call)) return kNoNode;
  return tree_.Child(call, Field::kFunction);
}

std::vector<std::pair<absl::string_view, JitWrapper>> JitWrappers::ReadMembers(NodeId value) {
  std::vector<std::pair<absl::string_view, JitWrapper>> members;
  for (const auto& [name, member] : file_values_.ListMembers(value)) {
    const std::optional<JitWrapper> wrapper = ReadValue(member);
    if (wrapper) members.emplace_back(name, *wrapper);
  }
  return members;
}

}  // namespace kernelmill::extractor
