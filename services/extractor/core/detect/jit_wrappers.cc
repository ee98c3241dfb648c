#include "services/extractor/core/detect/jit_wrappers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
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

// Returns whether a function of that name gives the module that it is told the name of.
bool NamesImport(absl::string_view name) {
  return name == "import_module" || name == "__import__" || name == "importorskip" ||
         absl::StrContains(absl::AsciiStrToLower(name), "lazy");
}

// Returns the name of a parameter: of `x`, `x: int`, `x=1`, `x: int = 1`; empty of `*x` and others.
absl::string_view GetParameterName(const SyntaxTree& tree, NodeId parameter) {
  if (tree.GetKind(parameter) == Kind::kIdentifier) return tree.GetText(parameter);
  NodeId name = tree.Child(parameter, Field::kName);
  if (name == kNoNode && tree.GetKind(parameter) == Kind::kTypedParameter) {
    name = tree.Child(parameter, Kind::kIdentifier);
  }
  return name == kNoNode ? "" : tree.GetText(name);
}

// Returns whether the parts of a statement of that kind may not run.
bool MayNotRun(Kind kind) {
  switch (kind) {
    case Kind::kIfStatement:
    case Kind::kForStatement:
    case Kind::kWhileStatement:
    case Kind::kTryStatement:
    case Kind::kMatchStatement:
      return true;
    default:
      return false;
  }
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
         dsl::IsMakerWord(LastPart(dotted)) || dsl::FindSaidDsl(dotted) == dsl::kPallas;
}

bool SaysMaker(absl::string_view origin) { return !dsl::FindSaidDsl(origin).empty(); }

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
  const absl::string_view dsl = dsl::FindMakerDsl(resolved);
  if (!dsl.empty() && !Resolve(std::string(dotted), at).empty()) {
    return JitWrapper{dsl, std::string(resolved), true, "", "", -1};
  }
  for (const NodeId value : file_values_.Follow(at)) {
    std::optional<JitWrapper> wrapper = ReadValue(value, depth);
    if (!wrapper) continue;
    wrapper->name = std::string(dotted);
    wrapper->own = false;
    return wrapper;
  }
  for (std::string& origin : ListOrigins(at)) {
    const absl::string_view found = dsl::FindMakerDsl(origin);
    if (!found.empty()) {
      return JitWrapper{found, std::string(dotted), false, "", "", -1};
    }
    if (!SaysMaker(origin) && !(IsOfAProject(origin) && NamesAMaker(origin))) continue;
    return JitWrapper{
        dsl::FindSaidDsl(origin), std::string(dotted), false, std::move(origin), "", -1};
  }
  return ReadImported(dotted, at);
}

std::string JitWrappers::Resolve(const std::string& dotted, NodeId at) const {
  if (!imports_.Origin(dotted).empty()) return imports_.Resolve(dotted);
  const std::span<const NodeId> values = names_.GetValues(FirstPart(dotted), at);
  const bool defines = std::any_of(values.begin(), values.end(), [this](NodeId value) {
    return tree_.GetKind(value) == Kind::kClassDefinition ||
           tree_.GetKind(value) == Kind::kFunctionDefinition;
  });
  return defines ? "" : dotted;
}

std::vector<std::string> JitWrappers::ListOrigins(NodeId expression) const {
  std::vector<std::string> origins;
  int steps = kMaxSteps;
  AddOrigins(expression, steps, origins);
  return origins;
}

void JitWrappers::AddOrigins(NodeId expression, int& steps,
                             std::vector<std::string>& origins) const {
  if (--steps < 0) return;
  const NodeId node = tree_.StripParentheses(expression);
  const std::string dotted = DottedExpression(tree_, node);
  if (!dotted.empty()) return AddOriginsOfName(dotted, node, steps, origins);
  if (IsChoice(tree_, node)) {
    for (NodeId part = tree_.FirstChild(node); part != kNoNode; part = tree_.NextSibling(part)) {
      if (!IsLayout(tree_.GetKind(part))) AddOrigins(part, steps, origins);
    }
    return;
  }
  if (tree_.GetKind(node) == Kind::kSubscript) {  // sys.modules["triton"]
    const NodeId object = tree_.Child(node, Field::kValue);
    if (object == kNoNode || DottedExpression(tree_, object) != "sys.modules") return;
    for (const NodeId key : tree_.Of(Kind::kString, node)) {
      if (!StringIn(tree_, key).empty()) origins.emplace_back(StringIn(tree_, key));
    }
    return;
  }
  if (tree_.GetKind(node) != Kind::kCall) return;
  const Call& call = calls_.At(node);
  if (IsPartial(call)) {
    const NodeId inner = FirstArgument(tree_, node);
    if (inner != kNoNode) AddOrigins(inner, steps, origins);
    return;
  }
  if (!NamesImport(LastPart(call.name))) return;
  for (const python::Argument& argument : python::GetArguments(tree_, node)) {
    if (StringIn(tree_, argument.value).empty()) continue;
    origins.emplace_back(StringIn(tree_, argument.value));
    return;
  }
}

// A name that is not imported is followed through what it is assigned.
void JitWrappers::AddOriginsOfName(const std::string& dotted, NodeId at, int& steps,
                                   std::vector<std::string>& origins) const {
  std::string origin = imports_.Origin(dotted);
  if (!origin.empty()) {
    origins.push_back(std::move(origin));
    return;
  }
  const absl::string_view first = FirstPart(dotted);
  std::vector<std::string> modules;
  for (const NodeId value : names_.GetValues(first, at)) {
    const bool contains = value <= at && at < tree_[value].subtree_end;
    if (!contains) AddOrigins(value, steps, modules);
  }
  for (const std::string& module : modules) {
    origins.push_back(absl::StrCat(module, absl::string_view(dotted).substr(first.size())));
  }
}

// Reads a name that may be a wrapper of another file.
std::optional<JitWrapper> JitWrappers::ReadImported(absl::string_view dotted, NodeId at) const {
  std::string origin = FindOrigin(std::string(dotted), at);
  const bool says = SaysMaker(origin);
  if (!says && !(IsOfAProject(origin) && NamesAMaker(origin))) return std::nullopt;
  const absl::string_view dsl = dsl::FindSaidDsl(origin);
  return JitWrapper{dsl, std::string(dotted), false, std::move(origin), "", -1};
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
  const absl::string_view dsl = dsl::FindMakerDsl(name);
  if (dsl.empty()) return ReadImported(dotted, call);
  return JitWrapper{dsl, std::move(name), false, "", "", -1};
}

// Reads an entry of a mapping: makers.get("jit").
std::optional<JitWrapper> JitWrappers::ReadGet(NodeId call, int depth) {
  for (const NodeId value : file_values_.Follow(call)) {
    std::optional<JitWrapper> wrapper = ReadValue(value, depth);
    if (!wrapper) continue;
    wrapper->own = false;
    return wrapper;
  }
  return std::nullopt;
}

// A wrapper that is called without a function returns a wrapper: triton.jit(debug=True). With a
// function it returns a kernel, which is no wrapper. A positional argument of Triton's own wrappers
// is always the function; one of Pallas's may be a mesh, one of Numba's a signature.
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
    if (!wrapper) return wrapper;
    wrapper->own = false;
    for (const python::Argument& argument : python::GetArguments(tree_, node)) {
      if (argument.keyword.empty() && tree_.StripParentheses(argument.value) != inner) {
        --wrapper->place;
      }
    }
    return wrapper;
  }
  std::optional<JitWrapper> wrapper = ReadCalled(call, depth);
  if (!wrapper) wrapper = ReadGet(node, depth);
  if (!wrapper) return ReadComposed(call, depth);
  const NodeId argument = FunctionArgument(node, *wrapper);
  if (argument == kNoNode) return wrapper;
  const bool given = (wrapper->own && dsl::CompilesAsTriton(wrapper->dsl)) || IsFunction(argument);
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
    if (!wrapper) continue;
    SetPlace(function, *wrapper);
    return wrapper;
  }
  return std::nullopt;
}

// Notes the place of the parameter that takes the kernel. A parameter of a function inside is not
// the wrapper's own.
void JitWrappers::SetPlace(NodeId function, JitWrapper& wrapper) const {
  const NodeId parameters = tree_.Child(function, Field::kParameters);
  int place = 0;
  for (NodeId child = parameters == kNoNode ? kNoNode : tree_.FirstChild(parameters);
       child != kNoNode && !wrapper.parameter.empty(); child = tree_.NextSibling(child)) {
    if (IsLayout(tree_.GetKind(child))) continue;
    const absl::string_view name = GetParameterName(tree_, child);
    if (name == wrapper.parameter) {
      wrapper.place = place;
      return;
    }
    if (place > 0 || (name != "self" && name != "cls")) ++place;
  }
  wrapper.parameter.clear();
  wrapper.place = -1;
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
  std::optional<JitWrapper> wrapper = body == kNoNode ? std::nullopt : AppliedWithin(body, depth);
  if (wrapper) wrapper->parameter.clear();
  return wrapper;
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
  for (const NodeId value : file_values_.Follow(node)) {
    if (tree_.GetKind(value) == Kind::kFunctionDefinition) continue;
    wrapper = AppliedWithin(value, depth + 1);
    if (wrapper) return wrapper;
  }
  return std::nullopt;
}

// Finds a wrapper that is applied to a parameter anywhere below `root`.
std::optional<JitWrapper> JitWrappers::AppliedWithin(NodeId root, int depth) {
  for (const Call& call : calls_.In(root)) {
    if (call.function == kNoNode) continue;
    const python::Arguments arguments = python::GetArguments(tree_, call.node);
    const bool may =
        std::any_of(arguments.begin(), arguments.end(), [this](const python::Argument& argument) {
          return FindGiven(InsidePartial(tree_.StripParentheses(argument.value))) != kNoNode;
        });
    if (!may) continue;
    std::optional<JitWrapper> wrapper = ReadCalled(call, depth);
    if (!wrapper) continue;
    const NodeId name = FindGiven(FunctionArgument(call.node, *wrapper));
    if (name == kNoNode) continue;
    const bool is_name = names_.IsParameter(tree_.GetText(name), name);
    wrapper->parameter = is_name ? std::string(tree_.GetText(name)) : "";
    return wrapper;
  }
  return std::nullopt;
}

// Returns the name in an argument that is a parameter of a function around it, or all of them
// (*args); else kNoNode.
NodeId JitWrappers::FindGiven(NodeId argument) const {
  if (argument == kNoNode) return kNoNode;
  const Kind kind = tree_.GetKind(argument);
  const NodeId name = kind == Kind::kListSplat ? FirstExpression(tree_, argument) : argument;
  return name != kNoNode && IsGiven(name) ? name : kNoNode;
}

bool JitWrappers::TakesParameter(NodeId call) const {
  return FindGiven(FunctionArgument(call)) != kNoNode;
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

NodeId JitWrappers::FunctionArgument(NodeId call, const JitWrapper& wrapper) const {
  if (wrapper.parameter.empty()) return FunctionArgument(call);
  return InsidePartial(FindPassed(call, wrapper.parameter, wrapper.place));
}

// Returns the argument for a parameter; of *args, which may have it, the whole.
NodeId JitWrappers::FindPassed(NodeId call, absl::string_view parameter, int place) const {
  int at = 0;
  for (const python::Argument& argument : python::GetArguments(tree_, call)) {
    if (!argument.keyword.empty()) {
      if (argument.keyword == parameter) return tree_.StripParentheses(argument.value);
      continue;
    }
    const Kind kind = tree_.GetKind(argument.value);
    if (at == place || kind == Kind::kListSplat) return tree_.StripParentheses(argument.value);
    ++at;
  }
  return kNoNode;
}

std::optional<JitWrappers::Application> JitWrappers::ReadApplication(const Call& call) {
  for (const NodeId function : file_values_.Follow(call.function)) {
    if (tree_.GetKind(function) != Kind::kFunctionDefinition) continue;
    for (const auto& [maker, given] : ListApplied(function)) {
      const NodeId passed = FindPassed(call.node, maker.parameter, maker.place);
      const NodeId argument = FunctionArgument(call.node, given);
      if (passed == kNoNode || argument == kNoNode) continue;
      const std::optional<JitWrapper> wrapper = Read(passed);
      if (wrapper) return Application{*wrapper, FunctionsMeant(argument)};
    }
  }
  return std::nullopt;
}

// Lists the parameters of a function that it calls, each with the parameter that it gives to it.
const std::vector<JitWrappers::Applied>& JitWrappers::ListApplied(NodeId function) {
  const auto [known, is_new] = applied_.try_emplace(function);
  if (!is_new) return known->second;
  std::vector<Applied> found;
  for (const Call& inner : calls_.In(function)) {
    const NodeId argument = FunctionArgument(inner.node);
    if (argument == kNoNode || !IsGiven(inner.function) || !IsGiven(argument)) continue;
    Applied applied;
    applied.first.parameter = std::string(tree_.GetText(inner.function));
    applied.second.parameter = std::string(tree_.GetText(argument));
    SetPlace(function, applied.first);
    SetPlace(function, applied.second);
    const bool own = !applied.first.parameter.empty() && !applied.second.parameter.empty();
    if (own) found.push_back(std::move(applied));
  }
  return applied_[function] = std::move(found);
}

bool JitWrappers::TakesReferences(NodeId definition) const {
  const NodeId parameters = tree_.Child(definition, Field::kParameters);
  if (parameters == kNoNode) return false;
  const std::span<const NodeId> names = tree_.Of(Kind::kIdentifier, parameters);
  return std::any_of(names.begin(), names.end(), [&](NodeId name) {
    const absl::string_view text = tree_.GetText(name);
    return absl::EndsWith(text, "_ref") || absl::EndsWith(text, "refs");
  });
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

// A name that is not a function's is followed through the assignments above that may reach it;
// without one, through the first below. Anything else may be any of its values.
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
  if (tree_.GetKind(at) == Kind::kCall && values.empty()) return AddReturned(at, steps, functions);
  if (tree_.GetKind(at) == Kind::kIdentifier) {
    const std::vector<NodeId> named = names_.FunctionsNamed(tree_.GetText(at), at);
    functions.insert(functions.end(), named.begin(), named.end());
    if (!named.empty()) return;
    const bool assigned = !names_.GetValues(tree_.GetText(at), at).empty();
    if (assigned) values = FindReaching(std::move(values), at);
  }
  for (const NodeId value : values) AddFunctions(value, steps, functions);
}

// Returns the values that a name may have at `at`, of all that it is given: from the last one above
// upwards, up to the first that is given in any case.
std::vector<NodeId> JitWrappers::FindReaching(std::vector<NodeId> values, NodeId at) const {
  std::erase_if(values, [&](NodeId value) {  // f = partial(f)
    return value <= at && at < tree_[value].subtree_end;
  });
  if (values.empty()) return values;
  const auto below = std::lower_bound(values.begin(), values.end(), at);
  if (below == values.begin()) return {values.front()};
  std::vector<NodeId> reaching;
  for (auto value = below; value != values.begin();) {
    reaching.push_back(*--value);
    bool may_not_run = false;
    for (NodeId around = tree_[*value].parent; around != kNoNode && !may_not_run;
         around = tree_[around].parent) {
      if (around <= at && at < tree_[around].subtree_end) break;
      may_not_run = MayNotRun(tree_.GetKind(around));
    }
    if (!may_not_run) break;
  }
  return reaching;
}

// Adds the functions that a call returns: make(2), where make defines a function and returns it. A
// function of another file that is given a kernel of Pallas is taken to return it, as
// jax.named_call does.
void JitWrappers::AddReturned(NodeId call, int& steps, std::vector<NodeId>& functions) const {
  const NodeId function = tree_.Child(call, Field::kFunction);
  if (function == kNoNode) return;
  const std::vector<NodeId> called = file_values_.Follow(function);
  for (const NodeId value : called) {
    if (tree_.GetKind(value) != Kind::kFunctionDefinition) continue;
    for (const NodeId node : tree_.Of(Kind::kReturnStatement, value)) {
      const NodeId result = FirstExpression(tree_, node);
      if (result != kNoNode && FindFunctionAround(node) == value) {
        AddFunctions(result, steps, functions);
      }
    }
  }
  if (!called.empty()) return;
  const NodeId argument = InsidePartial(FirstArgument(tree_, call));
  if (argument == kNoNode || tree_.GetKind(argument) != Kind::kIdentifier) return;
  for (const NodeId named : names_.FunctionsNamed(tree_.GetText(argument), argument)) {
    if (TakesReferences(named)) functions.push_back(named);
  }
}

NodeId JitWrappers::FindFunctionAround(NodeId node) const {
  do {
    node = tree_[node].parent;
  } while (node != kNoNode && tree_.GetKind(node) != Kind::kFunctionDefinition &&
           tree_.GetKind(node) != Kind::kLambda);
  return node;
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
