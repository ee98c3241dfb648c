#include "services/compiler/core/numba/numba_tries.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/python/syntax/functions.h"
#include "services/compiler/core/signature/launch.h"
#include "services/compiler/core/signature/names.h"
#include "services/compiler/core/signature/read_text.h"
#include "services/compiler/core/signature/tensor_uses.h"

namespace kernelmill::compiler::numba {

// The basic idea: Numba derives all types from those of the arguments. A signature has them. Else
// what the kernel does with an argument tells an array from a number, and the rest is guessed.

using absl::string_view;
using python::Expression;
using python::Function;
using python::FunctionParameter;
using python::LastName;
using python::ModuleFunctions;
using python::Statement;

namespace {

using Kind = Expression::Kind;

// One of the tries: the values that stand for guesses.
struct Guesses {
  string_view element;
  string_view number;
  int dimensions;
};

constexpr Guesses kTries[] = {
    {"float32", "int64", 1},   {"float64", "int64", 1}, {"int32", "int64", 1},
    {"float32", "float64", 1}, {"int64", "int64", 1},   {"float32", "int64", 2},
    {"float64", "float64", 2}, {"int32", "int32", 2},
};

// Returns a type of signatures as Numba writes it: "float32" of "fp32"; empty of an unknown one.
std::string NumbaType(string_view type) {
  if (type == "bf16" || absl::StartsWith(type, "fp8")) return "";
  if (type == "i1") return "boolean";
  if (absl::ConsumePrefix(&type, "fp")) return absl::StrCat("float", type);
  if (absl::ConsumePrefix(&type, "i")) return absl::StrCat("int", type);
  if (absl::ConsumePrefix(&type, "u")) return absl::StrCat("uint", type);
  return "";
}

// Returns an array of elements in C's order: "float32[:, ::1]".
std::string MakeArray(string_view element, int dimensions) {
  std::string text = absl::StrCat(element, "[");
  for (int i = 1; i < dimensions; ++i) text += ":, ";
  return text + "::1]";
}

// Returns the types of "void(float32[:], int32)", which may be quoted.
std::vector<std::string> ReadSignature(string_view text) {
  text = absl::StripAsciiWhitespace(text);
  for (const char quote : {'"', '\''}) {
    if (text.size() > 1 && text.front() == quote && text.back() == quote) {
      text = text.substr(1, text.size() - 2);
    }
  }
  const size_t open = text.find('(');
  if (open == string_view::npos || text.empty() || text.back() != ')') return {};
  text = text.substr(open + 1, text.size() - open - 2);
  std::vector<std::string> types;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    const bool known =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("_:,[]. ", c);
    if (!known) return {};
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c != ',' || depth != 0) continue;
    types.emplace_back(absl::StripAsciiWhitespace(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (types.size() == 1 && types[0].empty()) types.clear();
  return types;
}

// Returns the signature that jit is given: a text, a call such as void(int32), or the first of a
// list. Null without one.
const Expression* FindSignature(const Expression& jit, const Function* around) {
  if (jit.kind != Kind::kCall || LastName(jit) != "jit" || jit.parts.size() < 2) return nullptr;
  const Expression* given = jit.parts[1];
  if (given->kind == Kind::kName && around != nullptr) {
    const auto values = around->values.find(given->name);
    if (values != around->values.end()) given = values->second.front();
  }
  if (given->kind == Kind::kSequence && !given->parts.empty()) given = given->parts[0];
  return given->kind == Kind::kString || given->kind == Kind::kCall ? given : nullptr;
}

// Returns the signature of cuda.jit(signature)(kernel) in an expression; null without one.
const Expression* FindApplied(const Expression& expression, const Function& host,
                              string_view kernel) {
  const Expression* const applied = python::FindPart(expression, [&](const Expression& part) {
    return part.kind == Kind::kCall && part.parts.size() == 2 &&
           part.parts[1]->kind == Kind::kName && part.parts[1]->name == kernel &&
           FindSignature(*part.parts[0], &host) != nullptr;
  });
  return applied == nullptr ? nullptr : FindSignature(*applied->parts[0], &host);
}

class TryMaker {
 public:
  TryMaker(const Function& kernel, const ModuleFunctions& host, const Launch& launch)
      : kernel_(kernel), host_(host), launch_(launch) {}

  Tries Make() const {
    Tries made;
    if (const Expression* const signature = FindOwnSignature(); signature != nullptr) {
      made.Add(FromSignature(signature->text));
    } else {
      AddGuesses(made);
    }
    return made;
  }

 private:
  const Expression* FindOwnSignature() const {
    for (const Expression* decorator : kernel_.decorators) {
      const Expression* const found = FindSignature(*decorator, nullptr);
      if (found != nullptr) return found;
    }
    for (const Function& function : host_.all()) {
      for (const Statement& statement : function.statements) {
        if (statement.value == nullptr) continue;
        const Expression* const found = FindApplied(*statement.value, function, kernel_.name);
        if (found != nullptr) return found;
      }
    }
    return nullptr;
  }

  v1::KernelSignature FromSignature(string_view text) const {
    v1::KernelSignature made;
    const std::vector<std::string> types = ReadSignature(text);
    if (types.size() != kernel_.parameters.size()) return made;
    for (size_t i = 0; i < types.size(); ++i) {
      AddArgument(kernel_.parameters[i].name, types[i], "annotation", made);
    }
    return made;
  }

  void AddGuesses(Tries& made) const {
    for (const Guesses& guesses : kTries) {
      v1::KernelSignature signature;
      for (const FunctionParameter& parameter : kernel_.parameters) {
        AddGuess(parameter.name, guesses, signature);
      }
      made.Add(std::move(signature));
    }
  }

  void AddGuess(string_view name, const Guesses& guesses, v1::KernelSignature& made) const {
    const TensorUse use = FindUse(kernel_, name);
    const HostValue given = launch_.GetValue(name);
    const bool is_array = use.is_tensor || absl::StartsWith(given.type, "*");
    if (!is_array) {
      const std::optional<NameRule> named = ScalarByName(name);
      if (named && named->value == "fp32") return AddArgument(name, "float64", named->rule, made);
      return AddArgument(name, guesses.number, "guess:int", made);
    }
    const int dimensions = use.exact > 0 ? use.exact : std::max(use.at_least, guesses.dimensions);
    const bool told = absl::StartsWith(given.type, "*") && given.type.size() > 1;
    std::string element = told ? NumbaType(string_view(given.type).substr(1)) : "";
    if (!element.empty())
      return AddArgument(name, MakeArray(element, dimensions), "launch:dtype", made);
    if (const std::optional<NameRule> named = ElementByName(name)) {
      return AddArgument(name, MakeArray(NumbaType(named->value), dimensions), named->rule, made);
    }
    AddArgument(name, MakeArray(guesses.element, dimensions), "guess:float", made);
  }

  const Function& kernel_;
  const ModuleFunctions& host_;
  const Launch& launch_;
};

}  // namespace

absl::StatusOr<Tries> MakeNumbaTries(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(const ReadText module, ReadText::Read(kernel.module()));
  const Function* const function = module.functions().Find(kernel.name());
  if (function == nullptr) return Tries{{}, "function"};
  ASSIGN_OR_RETURN(const ReadText host, ReadText::ReadFunction(kernel.launcher().text()));
  const Launch launch(host.functions(), kernel.name(), GetParameterNames(*function));
  return TryMaker(*function, host.functions(), launch).Make();
}

}  // namespace kernelmill::compiler::numba
