#include "services/extractor/core/detect/functions.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "common/python/module_paths.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/imports.h"
#include "common/python/syntax/local_names.h"
#include "common/python/syntax/text_lines.h"
#include "services/extractor/core/detect/jit_wrappers.h"

namespace kernelmill::extractor {

using python::Call;
using python::Calls;
using python::Field;
using python::ImportMap;
using python::Kind;
using python::LocalNames;

namespace {

// Bounds the length of a qualified name, which a hostile file could nest to any length.
constexpr size_t kMaxQualifiedName = 4096;

// Returns whether the name is a heuristic of TorchInductor, such as
// torch._inductor.runtime.triton_heuristics.pointwise. PyTorch 2.0 has them in triton_ops.autotune,
// and vendors of other hardware have their own below another _inductor.
bool IsInductorHeuristic(absl::string_view resolved) {
  return absl::StrContains(resolved, "._inductor.") &&
         (absl::StrContains(resolved, ".triton_heuristics.") ||
          absl::StrContains(resolved, ".triton_ops.autotune."));
}

// Returns the dotted name of a decorator, called or not; empty for any other expression.
std::string DottedDecorator(const SyntaxTree& tree, NodeId expression) {
  NodeId node = tree.StripParentheses(expression);
  if (tree.GetKind(node) == Kind::kCall) {
    node = tree.Child(node, Field::kFunction);
    if (node == kNoNode) return "";
  }
  return DottedExpression(tree, node);
}

// Resolves the name of a decorator by the file's imports.
std::string ResolveDecorator(const SyntaxTree& tree, const JitWrappers& wrappers,
                             NodeId expression) {
  const std::string dotted = DottedDecorator(tree, expression);
  return dotted.empty() ? "" : wrappers.Resolve(dotted, expression);
}

// Returns the expression after '@'; kNoNode in broken code.
NodeId DecoratorExpression(const SyntaxTree& tree, NodeId decorator) {
  for (NodeId child = tree.FirstChild(decorator); child != kNoNode;
       child = tree.NextSibling(child)) {
    const Kind kind = tree.GetKind(child);
    if (kind != Kind::kToken && kind != Kind::kComment && kind != Kind::kLineContinuation) {
      return child;
    }
  }
  return kNoNode;
}

std::vector<NodeId> ListDecorators(const SyntaxTree& tree, NodeId decorated) {
  std::vector<NodeId> expressions;
  for (NodeId child = tree.FirstChild(decorated); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (tree.GetKind(child) != Kind::kDecorator) continue;
    const NodeId expression = DecoratorExpression(tree, child);
    if (expression != kNoNode) expressions.push_back(expression);
  }
  return expressions;
}

// Returns whether the name is a package with makers of kernels: triton, also as imported through
// another module.
bool NamesAPackageOfMakers(absl::string_view origin) {
  const auto has_jit = [](absl::string_view package) {
    return !dsl::FindMakerDsl(absl::StrCat(package, ".jit")).empty();
  };
  return has_jit(origin) || dsl::IsMakerModule(origin) || SaysMaker(absl::StrCat(origin, ".jit"));
}

// Returns whether a name that another module gives the file says that it is of Triton's language: a
// relative import does not resolve `tl.load`.
bool SaysLanguage(absl::string_view resolved) {
  const std::optional<dsl::SaidName> said = dsl::FindSaidName(absl::StrCat(".", resolved));
  return said && absl::StrContains(said->resolved, ".language.");
}

// The most values of a file whose members are read for other files.
constexpr size_t kMaxHolders = 1024;

// The most imports of '*' in a file that count for a name; the last ones do.
constexpr size_t kMaxWildcards = 8;

// Returns the strings in an assignment to __all__. They are without their quotes; prefixes are not
// read.
absl::flat_hash_set<std::string> StringsIn(const SyntaxTree& tree, NodeId value) {
  absl::flat_hash_set<std::string> strings;
  for (const NodeId node : tree.Of(Kind::kString, value)) {
    if (tree.GetText(node).size() < 2) continue;
    const absl::string_view text = tree.GetText(node);
    strings.emplace(text.substr(1, text.size() - 2));
  }
  return strings;
}

// Finds the functions of one text; see FindFunctions.
class Finder {
 public:
  explicit Finder(const ParsedText& text)
      : tree_(text.tree()),
        imports_(text.imports()),
        lines_(text.lines()),
        calls_(text.calls()),
        names_(tree_),
        wrappers_(tree_, imports_, calls_, names_) {}

  // Decorators first: a function that they make a kernel is not made one again by a call. A
  // candidate that a call makes a kernel is one.
  FoundFunctions Run() {
    for (const NodeId node : tree_.Of(Kind::kDecoratedDefinition)) LookAtDecorators(node);
    for (const Call& call : calls_.In(0)) LookAtCall(call);
    for (const auto& [name, value] : names_.ListModuleValues()) LookAtFunction(value);
    std::erase_if(kernels_, [this](const auto& entry) { return IsPart(entry.second); });
    FoundFunctions found;
    for (auto& [definition, function] : kernels_) {
      candidates_.erase(definition);
      if (imports_.IsAssumed(function.found_by)) {
        function.found_by = absl::StrCat(kByName, function.found_by);
      }
      found.kernels.push_back(std::move(function));
    }
    for (auto& [definition, function] : candidates_) {
      found.candidates.push_back(std::move(function));
    }
    found.names = NamesForOthers();
    return found;
  }

 private:
  // Reads a decorated function: a kernel by its decorators, or a candidate.
  void LookAtDecorators(NodeId decorated) {
    const NodeId definition = tree_.Child(decorated, Field::kDefinition);
    if (definition == kNoNode || tree_.GetKind(definition) != Kind::kFunctionDefinition) return;
    JitFunction function = Describe(definition);
    std::vector<std::string> resolved;
    for (const NodeId decorator : function.decorators) {
      resolved.push_back(ResolveDecorator(tree_, wrappers_, decorator));
    }
    function.generated = std::any_of(resolved.begin(), resolved.end(), IsInductorHeuristic);
    if (IsDecorated(resolved, function) || IsWrapped(function)) {
      kernels_.emplace(definition, std::move(function));
    } else if (IsCandidate(function)) {
      candidates_.emplace(definition, std::move(function));
    }
  }

  // Fills in the fields that are the same for all forms.
  JitFunction Describe(NodeId definition) const {
    JitFunction function;
    function.definition = function.decorated = definition;
    const NodeId parent = tree_[definition].parent;
    if (parent != kNoNode && tree_.GetKind(parent) == Kind::kDecoratedDefinition) {
      function.decorated = parent;
      function.decorators = ListDecorators(tree_, parent);
    }
    function.first_line = lines_.LineAt(tree_[definition].start);
    for (const NodeId decorator : function.decorators) {
      // CPython does not count parentheses around an expression as part of it.
      const NodeId expression = tree_.StripParentheses(decorator);
      function.first_line = std::min(function.first_line, lines_.LineAt(tree_[expression].start));
    }
    function.last_line = lines_.LineAt(tree_[tree_.LastToken(definition)].end - 1);
    return function;
  }

  static bool IsDecorated(const std::vector<std::string>& resolved, JitFunction& function) {
    for (const std::string& name : resolved) {
      const absl::string_view dsl = dsl::FindMakerDsl(name);
      // The first language counts, except that a decorator of Gluon wins over Triton's.
      if (dsl.empty() || (!function.found_by.empty() && dsl != dsl::kGluon)) {
        continue;
      }
      function.dsl = dsl;
      function.found_by = name;
      function.form = v1::KERNEL_FORM_DECORATED;
    }
    return function.form == v1::KERNEL_FORM_DECORATED;
  }

  // IsDecorated has looked for a DSL's own names, so that only wrappers of the file count.
  bool IsWrapped(JitFunction& function) {
    for (const NodeId decorator : function.decorators) {
      const std::optional<JitWrapper> wrapper = wrappers_.Read(decorator);
      if (!wrapper || wrapper->own || !wrapper->imported.empty()) continue;
      function.dsl = wrapper->dsl;
      function.found_by = wrapper->name;
      function.form = v1::KERNEL_FORM_WRAPPED;
      return true;
    }
    return false;
  }

  // Returns whether the function is within another one of its language, which it is a part of.
  bool IsPart(const JitFunction& function) const {
    const dsl::Language* const language = dsl::FindLanguage(function.dsl);
    if (language == nullptr || !language->inner_are_parts) return false;
    for (NodeId node = tree_[function.definition].parent; node != kNoNode;
         node = tree_[node].parent) {
      const auto around = kernels_.find(node);
      if (around != kernels_.end() && around->second.dsl == function.dsl) return true;
    }
    return false;
  }

  // Returns whether a decorator from another file may make the function a kernel: it has jit in its
  // name, or the function calls Triton. A decorator of this file may lead to such a one.
  bool IsCandidate(JitFunction& function) {
    const bool works = UsesTriton(function.definition);
    for (const NodeId decorator : function.decorators) {
      const std::string dotted = DottedDecorator(tree_, decorator);
      std::string origin = wrappers_.FindOrigin(dotted, decorator);
      if (const auto wrapper = wrappers_.Read(decorator)) origin = wrapper->imported;
      const bool maybe = IsOfAProject(origin) && (works || NamesAMaker(origin));
      if (!maybe && !SaysMaker(origin)) continue;
      function.imported_decorators.push_back(std::move(origin));
    }
    return !function.imported_decorators.empty();
  }

  bool UsesTriton(NodeId definition) const {
    const std::span<const Call> calls = calls_.In(definition);
    return std::any_of(calls.begin(), calls.end(), [](const Call& call) {
      return absl::StartsWith(call.resolved, "triton.language.") ||
             absl::StartsWith(call.resolved, "triton.experimental.gluon.") ||
             SaysLanguage(call.resolved);
    });
  }

  // Reads a call that may make kernels: f = triton.jit(f), pl.pallas_call(f, ...), map(triton.jit,
  // [f, g]).
  void LookAtCall(const Call& call) {
    const NodeId arguments = tree_.Child(call.node, Field::kArguments);
    if (call.function == kNoNode || arguments == kNoNode || tree_.IsLeaf(arguments)) return;
    if (call.name == "map") return LookAtMap(call);
    const std::optional<JitWrapper> wrapper = wrappers_.ReadCalled(call);
    if (!wrapper) {
      const auto application = wrappers_.ReadApplication(call);
      if (!application) return LookAtForeignCall(call);
      return AddAllCalled(application->functions, application->wrapper, call.node);
    }
    const NodeId argument = wrappers_.FunctionArgument(call.node, *wrapper);
    if (argument == kNoNode) return;
    const std::vector<NodeId> meant = wrappers_.FunctionsMeant(argument);
    AddAllCalled(meant, *wrapper, call.node);
    if (meant.empty() && wrapper->imported.empty()) AddMadeElsewhere(argument, *wrapper);
  }

  // Notes a kernel's function that the file imports from another one of the project.
  void AddMadeElsewhere(NodeId argument, const JitWrapper& wrapper) {
    for (const std::string& origin : wrappers_.ListOrigins(argument)) {
      if (!IsOfAProject(origin) || !absl::StrContains(origin, ".")) continue;
      v1::JitName& made = made_elsewhere_.emplace_back();
      made.set_name(absl::StrCat(kMadeElsewhere, wrapper.name));
      made.set_dsl(std::string(wrapper.dsl));
      made.set_imported(origin);
      made.set_hidden(true);
    }
  }

  // Adds a function of the module that another file may make a kernel of Pallas.
  void LookAtFunction(NodeId definition) {
    if (tree_.GetKind(definition) != Kind::kFunctionDefinition || kernels_.contains(definition) ||
        candidates_.contains(definition) || !wrappers_.TakesReferences(definition)) {
      return;
    }
    JitFunction function = Describe(definition);
    function.dsl = dsl::kPallas;
    function.form = v1::KERNEL_FORM_KERNEL_ARGUMENT;
    function.imported_decorators.emplace_back(kMadeElsewhere);
    candidates_.emplace(definition, std::move(function));
  }

  void LookAtMap(const Call& call) {
    const NodeId argument = wrappers_.FunctionArgument(call.node);
    const std::optional<JitWrapper> wrapper =
        argument == kNoNode ? std::nullopt : wrappers_.ReadValue(argument);
    if (wrapper) AddAllCalled(wrappers_.FunctionsMapped(call.node), *wrapper, call.node);
  }

  // Reads a call of a function of another file that takes a function of references, as Pallas's
  // kernels are: its file decides whether it hands it on to pallas_call.
  void LookAtForeignCall(const Call& call) {
    if (call.name.empty()) return;
    std::string origin = wrappers_.FindOrigin(std::string(call.name), call.function);
    if (!IsOfAProject(origin)) return;
    const JitWrapper wrapper = {dsl::kPallas, "", false, std::move(origin), "", -1};
    for (const python::Argument& argument : python::GetArguments(tree_, call.node)) {
      for (const NodeId definition : wrappers_.FunctionsMeant(argument.value)) {
        if (wrappers_.TakesReferences(definition)) AddCalled(definition, wrapper, call.node);
      }
    }
  }

  void AddAllCalled(const std::vector<NodeId>& definitions, const JitWrapper& wrapper,
                    NodeId call) {
    for (const NodeId definition : definitions) AddCalled(definition, wrapper, call);
  }

  // Adds a kernel that a call makes; a candidate if the wrapper is from another file.
  void AddCalled(NodeId definition, const JitWrapper& wrapper, NodeId call) {
    if (kernels_.contains(definition)) return;
    JitFunction function = Describe(definition);
    function.dsl = wrapper.dsl;
    function.applied_by = call;
    function.form =
        wrapper.dsl == dsl::kPallas ? v1::KERNEL_FORM_KERNEL_ARGUMENT : v1::KERNEL_FORM_CALLED;
    if (wrapper.imported.empty()) {
      function.found_by = wrapper.name;
      kernels_.emplace(definition, std::move(function));
    } else {
      function.imported_decorators.push_back(wrapper.imported);
      candidates_.emplace(definition, std::move(function));
    }
  }

  // Returns the names of wrappers, and of packages with a jit, that other files may import from
  // this one.
  std::vector<v1::JitName> NamesForOthers() {
    std::map<std::string, v1::JitName> names;
    for (const auto& [name, origin] : imports_.Origins()) {
      const absl::string_view dsl = dsl::FindMakerDsl(origin);
      const bool leads_on =
          NamesAPackageOfMakers(origin) || (NamesAMaker(origin) && IsOfAProject(origin));
      if (dsl.empty() && !leads_on) continue;
      v1::JitName& found = names[std::string(name)];
      found.set_dsl(std::string(dsl));
      if (dsl.empty()) found.set_imported(std::string(origin));
    }
    size_t holders = 0;
    for (const auto& [name, value] : names_.ListModuleValues()) {
      if (const auto wrapper = wrappers_.ReadValue(value)) {
        SetName(*wrapper, names[std::string(name)]);
      } else {
        HandOn(value, std::string(name), names);
      }
      if (++holders > kMaxHolders) continue;
      for (const auto& [member, wrapper] : wrappers_.ReadMembers(value)) {
        SetName(wrapper, names[absl::StrCat(name, ".", member)]);
      }
    }
    // If there is an __all__, it decides what `from module import *` takes; else all names that do
    // not begin with '_' are taken.
    std::optional<absl::flat_hash_set<std::string>> exported;
    for (const auto& [name, value] : names_.ListModuleValues()) {
      if (name == "__all__") exported = StringsIn(tree_, value);
    }
    std::vector<v1::JitName> sorted;
    for (auto& [name, found] : names) {
      found.set_name(name);
      found.set_hidden(exported ? !exported->contains(FirstPart(name))
                                : absl::StartsWith(name, "_"));
      sorted.push_back(std::move(found));
    }
    AddWildcards(sorted);
    sorted.insert(sorted.end(), made_elsewhere_.begin(), made_elsewhere_.end());
    return sorted;
  }

  // Adds a name that stands for a package with a jit, or for something of another file that may be
  // a wrapper.
  void HandOn(NodeId value, const std::string& name, std::map<std::string, v1::JitName>& names) {
    for (const std::string& origin : wrappers_.ListOrigins(value)) {
      if (!NamesAPackageOfMakers(origin) && !IsOfAProject(origin)) continue;
      names.try_emplace(name).first->second.set_imported(origin);
      return;
    }
  }

  // Sets what a definition of the file says of a name; it replaces an import of the name.
  static void SetName(const JitWrapper& wrapper, v1::JitName& name) {
    const bool elsewhere = !wrapper.imported.empty();
    name.set_dsl(elsewhere ? "" : std::string(wrapper.dsl));
    name.set_imported(wrapper.imported);
  }

  // Adds the modules whose names other files may import through this file's imports of '*'.
  void AddWildcards(std::vector<v1::JitName>& names) const {
    const std::vector<std::string>& wildcards = imports_.wildcards();
    const size_t skipped = wildcards.size() - std::min(wildcards.size(), kMaxWildcards);
    for (size_t i = skipped; i < wildcards.size(); ++i) {
      if (!IsOfAProject(wildcards[i]) && !dsl::HasMakers(wildcards[i])) continue;
      v1::JitName& name = names.emplace_back();
      name.set_name("*");
      name.set_imported(wildcards[i] + "*");
    }
  }

  const SyntaxTree& tree_;
  const ImportMap& imports_;
  const LineIndex& lines_;
  const Calls& calls_;
  const LocalNames names_;
  JitWrappers wrappers_;
  std::map<NodeId, JitFunction> kernels_;  // by definition
  std::map<NodeId, JitFunction> candidates_;
  std::vector<v1::JitName> made_elsewhere_;
};

}  // namespace

FoundFunctions FindFunctions(const ParsedText& text) { return Finder(text).Run(); }

// From the inside out. Beyond the bound the outermost names are left out.
std::string QualifiedName(const SyntaxTree& tree, NodeId definition) {
  std::vector<absl::string_view> names;
  size_t size = 0;
  for (NodeId node = definition; node != kNoNode; node = tree[node].parent) {
    const Kind kind = tree.GetKind(node);
    if (kind != Kind::kFunctionDefinition && kind != Kind::kClassDefinition) continue;
    const NodeId name = tree.Child(node, Field::kName);
    if (name == kNoNode) continue;
    size += tree.GetText(name).size() + 1;
    if (!names.empty() && size > kMaxQualifiedName) break;
    names.push_back(tree.GetText(name));
  }
  std::reverse(names.begin(), names.end());
  return absl::StrJoin(names, ".");
}

}  // namespace kernelmill::extractor
