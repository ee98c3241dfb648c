#include "services/compiler/core/cutile/tile_tries.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/python/syntax/expression.h"
#include "common/python/syntax/functions.h"
#include "services/compiler/core/signature/launch.h"
#include "services/compiler/core/signature/names.h"
#include "services/compiler/core/signature/read_text.h"

namespace kernelmill::compiler::cutile {

// The basic idea: cuTile's compiler types all else once it knows of each array its elements and
// its number of dimensions, and the value of each constant. The number of dimensions is in the
// indices of a load; elements and values are read from the launch, or guessed by name. A few tries
// vary what is guessed.

using absl::string_view;
using python::Expression;
using python::Function;
using python::FunctionParameter;
using python::LastName;
using python::ModuleFunctions;
using python::Statement;

namespace {

using Kind = Expression::Kind;

constexpr int kMaxDepth = 60;  // how deep an expression is searched
constexpr int kMaxCalls = 4;   // how many helpers may call one another

// One of the tries: what stands for guesses.
struct Guesses {
  string_view element;  // the type of floats in arrays
  bool flag;
  string_view size;
  string_view number;  // the type of numbers
};

constexpr Guesses kTries[] = {
    {"fp16", false, "64", "i32"},  {"fp32", false, "64", "i32"},  {"fp16", true, "64", "i32"},
    {"fp32", true, "64", "fp32"},  {"bf16", false, "64", "fp32"}, {"fp16", false, "16", "i32"},
    {"fp32", false, "16", "fp32"}, {"fp16", true, "16", "fp32"},
};

// Functions of cuTile whose first argument is an array, with the place of its indices; or of a
// shape that has as many elements.
struct ArrayFunction {
  string_view name;
  string_view keyword;
  size_t place;
};

constexpr ArrayFunction kArrayFunctions[] = {
    {"load", "index", 1},         {"store", "index", 1},        {"gather", "indices", 1},
    {"scatter", "indices", 1},    {"num_tiles", "shape", 2},    {"atomic_add", "indices", 1},
    {"atomic_max", "indices", 1}, {"atomic_min", "indices", 1}, {"atomic_and", "indices", 1},
    {"atomic_or", "indices", 1},  {"atomic_xor", "indices", 1}, {"atomic_xchg", "indices", 1},
    {"atomic_cas", "indices", 1},
};

// Members that only arrays have.
constexpr string_view kArrayMembers[] = {"shape", "strides", "slice", "tiled_view", "ndim"};

// How the kernel uses a parameter.
struct ArrayUse {
  bool is_array = false;
  int dimensions = -1;  // -1: nothing tells
};

// Finds how functions of the module use their parameters.
class UseFinder {
 public:
  explicit UseFinder(const ModuleFunctions& module) : module_(module) {}

  ArrayUse Find(const Function& function, string_view parameter, int calls) const {
    const Parameter of = {function, parameter, calls};
    ArrayUse use;
    for (const Statement& statement : function.statements) {
      if (statement.value != nullptr) Visit(*statement.value, of, 0, use);
      if (statement.target != nullptr) Visit(*statement.target, of, 0, use);
    }
    return use;
  }

 private:
  struct Parameter {
    const Function& function;
    string_view name;
    int calls;  // how many helpers are between the kernel and the function
  };

  void Visit(const Expression& expression, const Parameter& of, int depth, ArrayUse& use) const {
    if (depth > kMaxDepth || use.dimensions >= 0) return;
    if (expression.kind == Kind::kCall) VisitCall(expression, of, use);
    if (expression.kind == Kind::kAttribute && IsNamed(*expression.parts[0], of.name)) {
      use.is_array |= std::find(std::begin(kArrayMembers), std::end(kArrayMembers),
                                expression.name) != std::end(kArrayMembers);
    }
    for (const Expression* part : expression.parts) {
      Visit(*part, of, depth + 1, use);
    }
  }

  void VisitCall(const Expression& call, const Parameter& of, ArrayUse& use) const {
    const string_view name = LastName(call);
    // A method: x.tiled_view((1, 64)).
    if (name == "tiled_view" && call.parts[0]->kind == Kind::kAttribute &&
        Is(*call.parts[0]->parts[0], of)) {
      return SetDimensions(python::FindArgument(call, "tile_shape", 0), of.function, use);
    }
    const Expression* const array = python::FindArgument(call, "array", 0);
    if (array != nullptr && Is(*array, of)) {
      for (const ArrayFunction& known : kArrayFunctions) {
        if (known.name != name || call.parts[0]->kind != Kind::kAttribute) continue;
        return SetDimensions(python::FindArgument(call, known.keyword, known.place), of.function,
                             use);
      }
    }
    VisitHelper(call, of, use);
  }

  // A helper of the module that gets the parameter takes it as the kernel does.
  void VisitHelper(const Expression& call, const Parameter& of, ArrayUse& use) const {
    if (of.calls >= kMaxCalls || call.parts[0]->kind != Kind::kName) return;
    const Function* const helper = module_.Find(call.parts[0]->name);
    if (helper == nullptr || helper == &of.function) return;
    for (size_t i = 0; i < helper->parameters.size(); ++i) {
      const string_view inner = helper->parameters[i].name;
      const Expression* const given = python::FindArgument(call, inner, i);
      if (given == nullptr || !Is(*given, of)) continue;
      const ArrayUse found = Find(*helper, inner, of.calls + 1);
      use.is_array |= found.is_array;
      if (use.dimensions < 0) use.dimensions = found.dimensions;
    }
  }

  static bool IsNamed(const Expression& expression, string_view name) {
    return expression.kind == Kind::kName && expression.name == name;
  }

  // Returns whether it is the parameter, or a local name for a slice of it.
  static bool Is(const Expression& expression, const Parameter& of) {
    if (IsNamed(expression, of.name)) return true;
    if (expression.kind != Kind::kName) return false;
    const auto values = of.function.values.find(expression.name);
    if (values == of.function.values.end()) return false;
    return std::any_of(values->second.begin(), values->second.end(), [&](const Expression* value) {
      return value->kind == Kind::kCall && LastName(*value) == "slice" &&
             value->parts[0]->kind == Kind::kAttribute &&
             IsNamed(*value->parts[0]->parts[0], of.name);
    });
  }

  // One index that is no sequence is of an array of one dimension.
  static void SetDimensions(const Expression* index, const Function& function, ArrayUse& use) {
    use.is_array = true;
    if (index == nullptr) return;
    const Expression* indices = index;
    if (index->kind == Kind::kName) {
      const auto values = function.values.find(index->name);
      if (values != function.values.end()) indices = values->second.front();
      // A parameter may be a tuple.
      if (indices == index && function.Find(index->name) >= 0) return;
    }
    use.dimensions = indices->kind == Kind::kSequence ? static_cast<int>(indices->parts.size()) : 1;
  }

  const ModuleFunctions& module_;
};

// A constant's type as its annotation says it: "int"; empty if the parameter is no constant.
std::string FindConstantType(string_view annotation, const ModuleFunctions& module) {
  const auto inner = [](string_view text) -> std::string {
    const size_t at = text.find("Constant");
    if (at == string_view::npos) return "";
    const size_t open = text.find('[', at);
    if (open == string_view::npos) return "any";
    const size_t close = text.find(']', open);
    return std::string(
        text.substr(open + 1, close == string_view::npos ? close : close - open - 1));
  };
  std::string said = inner(annotation);
  if (!said.empty()) return said;
  // ConstInt = ct.Constant[int]
  const auto values = module.module_level().values.find(annotation);
  return values == module.module_level().values.end() ? "" : inner(values->second.back()->text);
}

struct Value {
  std::string text;
  std::string rule;
};

// Makes the tries of a kernel.
class TryMaker {
 public:
  TryMaker(const ModuleFunctions& module, const Function& function, const Launch& launch)
      : module_(module), function_(function), launch_(launch) {}

  Tries Make() const {
    return MakeTries(kTries, [this](const Guesses& guesses, std::string& missing) {
      return MakeOne(guesses, missing);
    });
  }

 private:
  v1::KernelSignature MakeOne(const Guesses& guesses, std::string& missing) const {
    v1::KernelSignature made;
    for (const FunctionParameter& parameter : function_.parameters) {
      const std::string constant = FindConstantType(parameter.annotation, module_);
      if (!constant.empty()) {
        const Value value = FindValue(parameter, constant, guesses);
        if (value.text.empty() && missing.empty()) {
          missing = absl::StrCat("constexpr:", parameter.name);
        }
        AddConstant(parameter.name, value.text, value.rule, made);
        continue;
      }
      const Value type = FindType(parameter, guesses);
      if (type.text.empty() && missing.empty()) missing = absl::StrCat("type:", parameter.name);
      AddArgument(parameter.name, type.text, type.rule, made);
    }
    return made;
  }

  Value FindValue(const FunctionParameter& parameter, string_view type,
                  const Guesses& guesses) const {
    const HostValue given = launch_.GetValue(parameter.name);
    // cuTile takes None for no constant: it stands for a value that another launch gives.
    if (!given.literal.empty() && given.literal != "None") return {given.literal, "launch"};
    if (parameter.default_value != nullptr && parameter.default_value->text != "None") {
      return {std::string(parameter.default_value->text), "default"};
    }
    if (!given.likely.empty() && given.likely != "None") return {given.likely, "launch:likely"};
    const string_view flag = guesses.flag ? "True" : "False";
    if (type == "bool") return {std::string(flag), "guess:flag"};
    const std::optional<NameRule> named = ConstexprByName(parameter.name);
    const bool is_integer = type == "int" || absl::StartsWith(type, "ct.int");
    if (is_integer && named && (named->value == "False" || named->value == "True")) {
      return {guesses.flag ? "1" : "0", "guess:flag"};
    }
    if (is_integer) {
      const bool is_number = named && named->value != "64" && !absl::StrContains(named->value, ".");
      if (is_number) return {named->value, named->rule};
      return {std::string(guesses.size), "guess:int"};
    }
    if (type == "float") return {"1.0", "guess:float"};
    return {};
  }

  Value FindType(const FunctionParameter& parameter, const Guesses& guesses) const {
    const HostValue given = launch_.GetValue(parameter.name);
    const ArrayUse use = UseFinder(module_).Find(function_, parameter.name, 0);
    const bool is_pointer = absl::StartsWith(given.type, "*");
    if (use.is_array || is_pointer) {
      if (use.dimensions < 0) return {};
      const Value element = FindElement(parameter, given, guesses);
      return {absl::StrCat("array<", element.text, ", ", use.dimensions, ">"), element.rule};
    }
    if (!given.type.empty()) return {given.type, "launch:type"};
    if (parameter.annotation == "int") return {"i32", "annotation"};
    if (parameter.annotation == "float") return {"fp32", "annotation"};
    if (parameter.annotation == "bool") return {"i1", "annotation"};
    if (const std::optional<NameRule> named = ScalarByName(parameter.name)) {
      return {named->value, named->rule};
    }
    return {std::string(guesses.number), "guess:int"};
  }

  static Value FindElement(const FunctionParameter& parameter, const HostValue& given,
                           const Guesses& guesses) {
    if (absl::StartsWith(given.type, "*") && given.type.size() > 1 && given.type != "*?") {
      return {given.type.substr(1), "launch:dtype"};
    }
    if (const std::optional<NameRule> named = ElementByName(parameter.name)) {
      return {named->value, named->rule};
    }
    return {std::string(guesses.element), "guess:float"};
  }

  const ModuleFunctions& module_;
  const Function& function_;
  const Launch& launch_;
};

}  // namespace

absl::StatusOr<Tries> MakeTileTries(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(const ReadText module, ReadText::Read(kernel.module()));
  const Function* const function = module.functions().Find(kernel.name());
  if (function == nullptr) return Tries{{}, "function"};
  ASSIGN_OR_RETURN(const ReadText host, ReadText::Read(kernel.launcher().text()));
  const Launch launch(host.functions(), kernel.name(), GetParameterNames(*function));
  return TryMaker(module.functions(), *function, launch).Make();
}

}  // namespace kernelmill::compiler::cutile
