#include "services/compiler/core/cute/cute_tries.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/code/bytes.h"
#include "common/python/syntax/functions.h"
#include "services/compiler/core/cute/launchers.h"
#include "services/compiler/core/signature/names.h"
#include "services/compiler/core/signature/read_text.h"

namespace kernelmill::compiler::cute {

// The basic idea: CuTe DSL traces Python, so that it needs an argument of each parameter, and
// derives all else. Annotations say what a parameter is. All that they leave open (elements, modes,
// constants) is read from code where that tells it, and guessed else, by a few tries.

using absl::string_view;
using python::FunctionParameter;

namespace {

constexpr string_view kKernel = "kernel";  // the value of "entry" without a launcher

// One of the tries: the values that stand for guesses.
struct Guesses {
  string_view element;
  int rank;
  string_view size;  // for each mode of a tensor
  bool flag;
  string_view number;
};

constexpr Guesses kTries[] = {
    {"fp16", 2, "?", false, "64"},   {"fp32", 2, "?", false, "128"},
    {"fp16", 3, "?", false, "64"},   {"fp32", 1, "?", false, "128"},
    {"bf16", 2, "128", true, "64"},  {"fp16", 4, "?", true, "128"},
    {"fp32", 3, "128", true, "128"}, {"i32", 1, "?", true, "64"},
    {"bf16", 4, "128", false, "64"}, {"i32", 2, "128", false, "1"},
};

// Types of numbers, under the names of the DSL.
struct NumberType {
  string_view name;
  string_view type;
};

constexpr NumberType kNumbers[] = {
    {"Float64", "fp64"},     {"Float32", "fp32"},
    {"Float16", "fp16"},     {"BFloat16", "bf16"},
    {"Int64", "i64"},        {"Int32", "i32"},
    {"Int16", "i16"},        {"Int8", "i8"},
    {"Uint64", "u64"},       {"Uint32", "u32"},
    {"Uint16", "u16"},       {"Uint8", "u8"},
    {"Boolean", "i1"},       {"Float8E4M3FN", "fp8e4nv"},
    {"Float8E5M2", "fp8e5"},
};

// Returns the type that a dotted name means: "i32" of cutlass.Int32; else empty.
string_view FindNumber(string_view name) {
  const string_view last = name.substr(name.rfind('.') + 1);
  for (const NumberType& number : kNumbers) {
    if (number.name == last) return number.type;
  }
  return "";
}

// Returns the first type of a number whose name is in the text.
string_view FindNumberIn(string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && code::IsNameByte(text[end])) ++end;
    const string_view number = end == at ? "" : FindNumber(text.substr(at, end - at));
    if (!number.empty()) return number;
    at = std::max(end, at + 1);
  }
  return "";
}

// Returns the type that a line of the text compares x.element_type with.
string_view FindCompared(string_view text, string_view name) {
  const std::string wanted = absl::StrCat(name, ".element_type");
  for (size_t at = text.find(wanted); at != string_view::npos; at = text.find(wanted, at + 1)) {
    if (at > 0 && code::IsNameByte(text[at - 1])) continue;
    const string_view rest = text.substr(at + wanted.size());
    const string_view line = rest.substr(0, rest.find('\n'));
    const bool compares = absl::StrContains(line, "==") || absl::StrContains(line, "!=") ||
                          absl::StrContains(line, " in ") || absl::StrContains(line, " is ");
    const string_view found = compares ? FindNumberIn(line) : "";
    if (!found.empty()) return found;
  }
  return "";
}

struct Argument {
  std::string text;  // empty: no rule gives one
  std::string rule;
  bool is_constant = false;
};

// The kinds of parameters, as annotations say them.
bool IsTensor(string_view annotation) {
  for (const string_view within : {"uple[", "ist[", "TensorMap", "TensorSSA"}) {
    if (absl::StrContains(annotation, within)) return false;
  }
  return absl::StrContains(annotation, "Tensor");
}
bool IsOptional(string_view annotation) {
  return absl::StrContains(annotation, "Optional") || absl::StrContains(annotation, "None");
}
bool IsStream(const FunctionParameter& parameter) {
  return absl::StrContains(parameter.annotation, "CUstream") ||
         absl::StrContains(parameter.annotation, "cudaStream_t") || parameter.name == "stream";
}
bool IsType(const FunctionParameter& parameter) {
  return absl::StrContains(parameter.annotation, "Numeric") ||
         absl::EndsWith(parameter.annotation, "[type]") ||
         absl::StrContains(parameter.name, "dtype");
}

// Returns a tuple of sizes: as many as its name or its annotation has, or as code unpacks.
std::string MakeTuple(const FunctionParameter& parameter, int unpacked) {
  const string_view name = parameter.name;
  int count = unpacked;
  if (absl::EndsWith(name, "_mn")) count = 2;
  if (absl::EndsWith(name, "_mnk")) count = 3;
  size_t ints = 0;
  for (const char c : parameter.annotation) ints += c == ',' ? 1 : 0;
  if (ints > 0 && !absl::StrContains(parameter.annotation, "..."))
    count = static_cast<int>(ints) + 1;
  const bool is_cluster = absl::StrContains(absl::AsciiStrToLower(name), "cluster");
  if (count == 0 || absl::StrContains(parameter.annotation, "cute.")) return "";
  const std::vector<string_view> sizes(static_cast<size_t>(count), is_cluster ? "1" : "128");
  std::string text = absl::StrCat("(", absl::StrJoin(sizes, ", "), ")");
  // The third size of a tile is the depth of what a step multiplies.
  const bool is_tile = absl::StrContains(absl::AsciiStrToLower(name), "til");
  return is_tile && count == 3 ? "(128, 128, 64)" : text;
}

bool IsTuple(const FunctionParameter& parameter, int unpacked) {
  return absl::StrContains(absl::AsciiStrToLower(parameter.annotation), "tuple") ||
         absl::EndsWith(parameter.name, "_mn") || absl::EndsWith(parameter.name, "_mnk") ||
         (parameter.annotation != "int" && unpacked > 1);
}

// Makes the argument of a constant.
Argument MakeConstant(const FunctionParameter& parameter, int unpacked, const Guesses& guesses) {
  const auto made = [](string_view text, string_view rule) {
    return Argument{std::string(text), std::string(rule), true};
  };
  const string_view annotation = parameter.annotation;
  if (parameter.default_value != nullptr) return made(parameter.default_value->text, "default");
  if (IsOptional(annotation)) return made("None", "guess:none");
  if (IsType(parameter)) {
    const bool sums = absl::StrContains(parameter.name, "acc");
    return made(sums ? "cutlass.Float32" : "cutlass.Float16", "guess:type");
  }
  if (IsTuple(parameter, unpacked)) return made(MakeTuple(parameter, unpacked), "guess:tuple");
  if (absl::StrContains(annotation, "str") || absl::StrContains(annotation, "ist[") ||
      absl::StrContains(annotation, "Callable")) {
    return made("", "");
  }
  if (absl::StrContains(annotation, "Literal[")) {
    const string_view words = annotation.substr(annotation.find('[') + 1);
    return made(words.substr(0, words.find_first_of(",]")), "guess:value");
  }
  const std::optional<NameRule> named = ConstexprByName(parameter.name);
  const bool is_flag = named && (named->value == "False" || named->value == "True");
  if (absl::StrContains(annotation, "bool") || is_flag) {
    return made(guesses.flag ? "True" : "False", "guess:flag");
  }
  if (absl::StrContains(annotation, "float")) return made("1.0", "guess:float");
  if (absl::StrContains(parameter.name, "threads")) return made("128", "name:threads");
  if (named && named->value != "64") return made(named->value, named->rule);
  const bool is_number = annotation.empty() || absl::StrContains(annotation, "int") ||
                         absl::EndsWith(annotation, "Constexpr");
  return is_number ? made(guesses.number, "guess:int") : made("", "");
}

class TryMaker {
 public:
  TryMaker(const v1::Kernel& record, const Function& kernel, const Launcher& found)
      : record_(record), kernel_(kernel), found_(found) {}

  Tries Make() const {
    Tries made;
    if (found_.launcher != nullptr) AddTries(found_.path, made);
    if (!IsMethod()) {
      AddTries(kKernel, made);
    } else if (found_.launcher == nullptr) {
      made.missing = "launcher";
    }
    if (!made.tries.empty()) made.missing.clear();
    return made;
  }

 private:
  bool IsMethod() const { return absl::StrContains(record_.qualname(), '.'); }

  // Adds the tries with an entry, or says what is missing; the first entry's counts.
  void AddTries(string_view entry, Tries& made) const {
    std::vector<v1::KernelSignature> all;
    std::string missing;
    for (const Guesses& guesses : kTries) all.push_back(MakeOne(entry, guesses, missing));
    if (!missing.empty()) {
      if (made.missing.empty()) made.missing = std::move(missing);
      return;
    }
    for (v1::KernelSignature& signature : all) made.Add(std::move(signature));
  }

  v1::KernelSignature MakeOne(string_view entry, const Guesses& guesses,
                              std::string& missing) const {
    v1::KernelSignature made;
    v1::CompileOption& option = *made.add_options();
    option.set_name("entry");
    option.set_value(std::string(entry));
    option.set_rule("module");
    const Function* const launcher = entry == kKernel ? nullptr : found_.launcher;
    const Function& called = launcher == nullptr ? kernel_ : *launcher;
    for (const FunctionParameter& parameter : called.parameters) {
      if (parameter.name == "self" || absl::StartsWith(parameter.name, "*")) continue;
      Add(parameter.name, MakeArgument(parameter, launcher, guesses), made, missing);
    }
    if (launcher == nullptr || found_.constructor == nullptr) return made;
    for (const FunctionParameter& parameter : found_.constructor->parameters) {
      if (parameter.name == "self" || absl::StartsWith(parameter.name, "*")) continue;
      Add(absl::StrCat(kInit, ".", parameter.name), MakeConstant(parameter, 0, guesses), made,
          missing);
    }
    return made;
  }

  static void Add(string_view name, const Argument& argument, v1::KernelSignature& made,
                  std::string& missing) {
    if (argument.text.empty() && missing.empty()) {
      missing = absl::StrCat(argument.is_constant ? "constexpr:" : "type:", name);
    }
    const auto add = argument.is_constant ? AddConstant : AddArgument;
    add(name, argument.text, argument.rule, made);
  }

  Argument MakeArgument(const FunctionParameter& parameter, const Function* launcher,
                        const Guesses& guesses) const {
    const string_view annotation = parameter.annotation;
    if (absl::StrContains(annotation, "Constexpr")) return MakeConstant(parameter, 0, guesses);
    if (IsStream(parameter)) return {"stream", "annotation"};
    const bool is_pointer = absl::StrContains(annotation, "Pointer");
    const TensorUse use = FindUse(launcher, kernel_, parameter.name);
    const bool is_untold = annotation.empty() && parameter.default_value == nullptr;
    if (IsTensor(annotation) || is_pointer || (is_untold && use.is_tensor)) {
      if (IsOptional(annotation) && !guesses.flag) return {"none", "guess:none"};
      const Argument element = FindElement(parameter, launcher, guesses);
      if (is_pointer) return {absl::StrCat("*", element.text), element.rule};
      const int modes = use.exact > 0 ? use.exact : std::max(use.at_least, guesses.rank);
      const std::vector<string_view> sizes(static_cast<size_t>(modes), guesses.size);
      // Modes that nothing tells are a guess, whatever tells the elements.
      return {absl::StrCat("tensor<", element.text, "[", absl::StrJoin(sizes, ", "), "]>"),
              use.exact > 0 ? element.rule : "guess:float"};
    }
    if (const string_view number = FindNumber(annotation); !number.empty()) {
      return {std::string(number), "annotation"};
    }
    const bool is_tuple = absl::StartsWith(absl::AsciiStrToLower(annotation), "tuple");
    const bool is_python = annotation == "int" || annotation == "float" || annotation == "bool" ||
                           (annotation.empty() && parameter.default_value != nullptr) || is_tuple ||
                           IsType(parameter);
    return is_python ? MakeConstant(parameter, use.exact, guesses) : Argument{};
  }

  Argument FindElement(const FunctionParameter& parameter, const Function* launcher,
                       const Guesses& guesses) const {
    string_view inner = parameter.name;
    if (launcher != nullptr) {
      const string_view compared = FindCompared(record_.launcher().text(), parameter.name);
      if (!compared.empty()) return {std::string(compared), "usage:compared"};
      inner = FindGiven(*launcher, kernel_, parameter.name);
    }
    const string_view compared = inner.empty() ? "" : FindCompared(record_.source(), inner);
    if (!compared.empty()) return {std::string(compared), "usage:compared"};
    if (const std::optional<NameRule> named = ElementByName(parameter.name)) {
      // Bytes, as torch has flags.
      return {named->value == "i1" ? "u8" : named->value, named->rule};
    }
    return {std::string(guesses.element), "guess:float"};
  }

  const v1::Kernel& record_;
  const Function& kernel_;
  const Launcher& found_;
};

}  // namespace

absl::StatusOr<Tries> MakeCuteTries(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(const ReadText source, ReadText::ReadFunction(kernel.source()));
  const Function* const function = source.functions().Find(kernel.name());
  if (function == nullptr) return Tries{{}, "function"};
  ASSIGN_OR_RETURN(const Launcher found, FindLauncher(kernel));
  return TryMaker(kernel, *function, found).Make();
}

}  // namespace kernelmill::compiler::cute
