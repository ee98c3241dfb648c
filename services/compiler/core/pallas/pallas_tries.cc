#include "services/compiler/core/pallas/pallas_tries.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/python/syntax/functions.h"
#include "services/compiler/core/signature/names.h"
#include "services/compiler/core/signature/read_text.h"
#include "services/compiler/core/signature/tensor_uses.h"

namespace kernelmill::compiler::pallas {

// The basic idea: a kernel's references have the shapes that its launcher gives them. JAX traces
// Python, so that the launcher runs with arrays of any shape that suits it.

using absl::string_view;
using python::Expression;
using python::Function;
using python::FunctionParameter;
using python::LastName;

namespace {

// One of the tries: the values that stand for guesses.
struct Guesses {
  string_view element;
  int rank;
  string_view size;  // each dimension's
  bool flag;
  string_view number;
};

constexpr Guesses kTries[] = {
    {"fp32", 2, "128", false, "128"},  {"bf16", 2, "256", false, "128"},
    {"fp32", 3, "128", false, "64"},   {"bf16", 4, "128", false, "128"},
    {"fp32", 1, "1024", false, "128"}, {"bf16", 2, "1024", true, "256"},
    {"i32", 2, "128", false, "128"},   {"bf16", 3, "512", true, "128"},
    {"fp32", 4, "256", true, "64"},    {"i32", 1, "128", true, "8"},
};

struct Argument {
  std::string text;  // empty: no rule gives one
  std::string rule;
  bool is_constant = true;
};

// Returns the values that a decorator of a test gives a parameter; null if none does.
const Expression* FindTested(const Function& launcher, string_view parameter) {
  for (const Expression* decorator : launcher.decorators) {
    if (decorator->kind != Expression::Kind::kCall || LastName(*decorator) != "product") continue;
    const Expression* const values =
        python::FindArgument(*decorator, parameter, launcher.parameters.size());
    const bool is_list = values != nullptr && values->kind == Expression::Kind::kSequence;
    if (is_list && !values->parts.empty()) return values;
  }
  return nullptr;
}

Argument MakeNumber(string_view name, const Guesses& guesses) {
  const std::optional<NameRule> named = ConstexprByName(name);
  if (named && (named->value == "False" || named->value == "True")) {
    return {guesses.flag ? "True" : "False", "guess:flag"};
  }
  if (named && named->value != "64") return {named->value, named->rule};
  return {std::string(guesses.number), "guess:int"};
}

Argument MakeConstant(const FunctionParameter& parameter, const Guesses& guesses) {
  const string_view annotation = parameter.annotation;
  if (absl::StrContains(annotation, "None") || absl::StrContains(annotation, "Optional")) {
    return {"None", "guess:none"};
  }
  if (annotation == "bool") return {guesses.flag ? "True" : "False", "guess:flag"};
  if (annotation == "float") return {"1.0", "guess:float"};
  if (absl::StrContains(parameter.name, "dtype")) return {"jnp.float32", "guess:type"};
  if (annotation == "int") return MakeNumber(parameter.name, guesses);
  return {};
}

Argument MakeArray(string_view name, const TensorUse& use, const Guesses& guesses) {
  const std::optional<NameRule> named = ElementByName(name);
  // Indices and lengths are most often one list.
  const bool is_list = named && named->value == "i32" && !guesses.flag;
  const int guessed = is_list ? 1 : guesses.rank;
  const int rank = use.exact > 0 ? use.exact : std::max(use.at_least, guessed);
  const std::vector<string_view> sizes(static_cast<size_t>(rank), guesses.size);
  const string_view element = named ? string_view(named->value) : guesses.element;
  // Its sizes are a guess, whatever tells the elements.
  return {absl::StrCat("tensor<", element, "[", absl::StrJoin(sizes, ", "), "]>"), "guess:float",
          /*is_constant=*/false};
}

// jax.Array, Float[Array, "m n"], but no list of them.
bool IsArray(string_view annotation) {
  for (const string_view within :
       {"uple[", "ist[", "ict[", "equence[", "allable", "None", "apping["}) {
    if (absl::StrContains(annotation, within)) return false;
  }
  return absl::StrContains(annotation, "Array");
}

Argument MakeArgument(const Function& launcher, const FunctionParameter& parameter,
                      const Guesses& guesses) {
  if (const Expression* const tested = FindTested(launcher, parameter.name); tested != nullptr) {
    const size_t place = guesses.flag ? tested->parts.size() - 1 : 0;
    return {std::string(tested->parts[place]->text), "launch:likely"};
  }
  const string_view annotation = parameter.annotation;
  const TensorUse use = FindUse(launcher, parameter.name);
  if (IsArray(annotation)) return MakeArray(parameter.name, use, guesses);
  if (!annotation.empty() || absl::StrContains(parameter.name, "dtype")) {
    return MakeConstant(parameter, guesses);
  }
  const bool is_number = !use.is_tensor && ConstexprByName(parameter.name).has_value();
  return is_number ? MakeNumber(parameter.name, guesses) : MakeArray(parameter.name, use, guesses);
}

v1::KernelSignature MakeOne(const Function& launcher, const Guesses& guesses,
                            std::string& missing) {
  v1::KernelSignature made;
  for (const FunctionParameter& parameter : launcher.parameters) {
    const bool is_given = parameter.name != "self" && parameter.default_value == nullptr &&
                          !absl::StartsWith(parameter.name, "*");
    if (!is_given) continue;
    const Argument argument = MakeArgument(launcher, parameter, guesses);
    if (argument.text.empty() && missing.empty()) {
      missing = absl::StrCat("constexpr:", parameter.name);
    }
    const auto add = argument.is_constant ? AddConstant : AddArgument;
    add(parameter.name, argument.text, argument.rule, made);
  }
  return made;
}

}  // namespace

absl::StatusOr<Tries> MakePallasTries(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(const ReadText host, ReadText::ReadFunction(kernel.launcher().text()));
  const string_view path = kernel.launcher().qualname();
  const Function* const launcher = host.functions().Find(path.substr(path.rfind('.') + 1));
  if (launcher == nullptr) return Tries{{}, "launcher"};
  return MakeTries(kTries, [launcher](const Guesses& guesses, std::string& missing) {
    return MakeOne(*launcher, guesses, missing);
  });
}

}  // namespace kernelmill::compiler::pallas
