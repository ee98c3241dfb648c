#include "services/compiler/core/signature/constexpr_values.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/code/python.h"
#include "common/dsl/names.h"
#include "common/python/usage/triton_calls.h"
#include "services/compiler/core/signature/names.h"
#include "services/compiler/core/signature/rules.h"

namespace kernelmill::compiler {

// The values of constexprs. The basic idea: sources are asked from the surest to the least sure:
// TorchInductor's constants, the configuration of the autotuner, @triton.heuristics, the launch,
// the parameter's default, the use in the body and the name, at last a constant. If the source is a
// guess, what the body says of sizes corrects it: a least size, an equation of a reshape, a
// multiple of another constexpr. A value is an expression of Python. The compiler's Python
// evaluates it, so that nothing is executed here.

using python::ConstexprUsage;
using python::CountBits;
using python::FunctionParameter;
using python::IsFloatLiteral;
using python::RuleName;
using python::SizeEquation;
using python::UsageRule;

namespace {

using Kind = Expression::Kind;

// Returns the name under which the module imports the language: "tl". If it does not, the
// expression imports it.
std::string FindLanguage(const KernelFacts& facts) {
  for (const auto& [name, dotted] : facts.imports.Origins()) {
    if (dotted == "triton.language" || dotted == "triton.experimental.gluon.language")
      return std::string(name);
  }
  return "__import__('triton').language";
}

// How the module writes a type of Triton's language: "tl.float32".
std::string TypeInModule(const KernelFacts& facts, absl::string_view element) {
  return absl::StrCat(FindLanguage(facts), ".", LanguageType(element));
}

// Returns a tensor as the harness's torch makes one, for "bf16" and the size of its dimensions.
std::string MakeTensor(absl::string_view element, absl::string_view size) {
  return absl::StrCat("__import__('torch').Tensor(__import__('torch').", TorchType(element), ", ",
                      size, ")");
}

// Returns whether a function of the arguments asks one for what a tensor has, its type or its
// sizes: any `x.dtype` in its own text, or args["x"].dtype anywhere in the module.
bool AsksForTensors(const KernelFacts& facts, absl::string_view text) {
  static constexpr absl::string_view kAsked[] = {
      ".dtype",         ".shape", ".stride(", ".size(",          ".numel(",
      ".element_size(", ".dim()", ".ndim",    ".is_contiguous(", ".data_ptr("};
  const bool own = facts.module.Find(text) == nullptr;
  const absl::string_view read = own ? text : absl::string_view(facts.kernel.module());
  if (absl::StrContains(read, own ? "isinstance(" : "isinstance(args")) return true;
  return std::any_of(std::begin(kAsked), std::end(kAsked), [&](absl::string_view asked) {
    return absl::StrContains(read, own ? std::string(asked) : absl::StrCat("]", asked));
  });
}

// Returns `(lambda args: ...)({'N': 1024, ..., **args})`, with a value of the right type for each
// argument that is not a constexpr. `own` is the argument that the function computes, which it may
// read as well.
std::string CallHeuristic(const KernelFacts& facts, const std::vector<InferredType>& types,
                          absl::string_view text, const std::string& own, const Variant& variant) {
  std::string arguments = own;
  const bool tensors = AsksForTensors(facts, text);
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].type.empty()) continue;
    const absl::string_view type = types[i].type;
    const bool absent = types[i].always_none || (types[i].optional && !variant.optional);
    const std::string tensor =
        MakeTensor(type == "*?" ? variant.element : type.substr(1), variant.number);
    const absl::string_view value = absent                         ? "None"
                                    : tensors && type[0] == '*'    ? tensor
                                    : absl::StartsWith(type, "fp") ? "1.0"
                                    : type == "i1"                 ? "True"
                                                                   : variant.number;
    absl::StrAppend(&arguments, "'", facts.function.parameters[i].name, "': ", value, ", ");
  }
  return absl::StrCat("(", text, ")({", arguments, "**args})");
}

// Returns whether the name says that the value is a type: DTYPE, out_dtype, acc_type.
bool IsDtype(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (absl::string_view number : {"max", "min", "value", "size", "bits", "bytes"}) {
    if (absl::StrContains(lower, number)) return false;  // the largest number of a type
  }
  return absl::EndsWith(lower, "dtype") || absl::StartsWith(lower, "dtype") ||
         absl::EndsWith(lower, "_type") || lower == "type";
}

// Returns whether the expression is a type of Triton's language: tl.float16.
bool IsType(const Expression& expression) {
  return expression.kind == Kind::kAttribute && CountBits(expression.name) > 0;
}

// A name may be bound under one type alone: a late try has the first that it is compared with.
InferredValue Dtype(const KernelFacts& facts, const ConstexprUsage& usage, const Variant& variant) {
  const auto compared = std::find_if(usage.compared.begin(), usage.compared.end(),
                                     [](const Expression* other) { return IsType(*other); });
  if (variant.flags && !variant.optional && compared != usage.compared.end())
    return {std::string((*compared)->text), RuleName(UsageRule::kDtype)};
  const bool shifted = usage.integer && !variant.flags;
  return {TypeInModule(facts, shifted ? "i32" : variant.element), RuleName(UsageRule::kDtype)};
}

// Returns a value of the kind that a compared literal shows: "relu", 3, tl.float16.
std::optional<InferredValue> ByComparison(const KernelFacts& facts, const ConstexprUsage& usage,
                                          const Variant& variant) {
  for (const Expression* other : usage.compared) {
    if (other->kind == Kind::kString || other->kind == Kind::kName)
      return InferredValue{std::string(other->text), RuleName(UsageRule::kCompared)};
    if (other->kind == Kind::kConstant) {
      return InferredValue{variant.flags ? "True" : "False", RuleName(UsageRule::kCompared), true};
    }
    if (IsType(*other)) {
      return Dtype(facts, usage, variant);
    }
  }
  return std::nullopt;
}

// A block of 64 in each of three dimensions is too much for a compiler.
constexpr int64_t kSmallSize = 16;

// The largest size that a bound of the host's is taken for: min(n, 65536) is less for most tensors.
constexpr int64_t kLargeSize = 8192;

// A guessed size of a try of small ones.
InferredValue Smaller(InferredValue value, const Variant& variant) {
  int64_t number = 0;
  const bool large = absl::SimpleAtoi(value.value, &number) && number > kSmallSize;
  if (!variant.small || !large || GetCertainty(value.rule) != Certainty::kGuessed) return value;
  return {absl::StrCat(kSmallSize), "guess:small"};
}

// Returns the literal, or `most` if it is a larger number.
std::string AtMost(absl::string_view literal, int64_t most) {
  int64_t number = 0;
  return absl::SimpleAtoi(literal, &number) && number > most ? absl::StrCat(most)
                                                             : std::string(literal);
}

bool IsAtMost(const std::optional<NameRule>& by_name, int64_t most) {
  int64_t number = 0;
  return by_name && absl::SimpleAtoi(by_name->value, &number) && number <= most;
}

// Returns whether no tensor can have that size.
bool IsNoPowerOfTwo(absl::string_view literal) {
  int64_t number = 0;
  return absl::SimpleAtoi(literal, &number) && (number <= 0 || (number & (number - 1)) != 0);
}

// Returns whether a constexpr of Gluon is the layout of a tensor.
bool IsLayout(absl::string_view name, const ConstexprUsage& usage) {
  return usage.keyword == "layout" || absl::EndsWith(absl::AsciiStrToLower(name), "layout");
}

// The layout of a vector that four warps of the target hold in turn.
constexpr absl::string_view kLayout =
    "__import__('triton.experimental.gluon.language', None, None, ['BlockedLayout']).BlockedLayout("
    "[1], [__import__('triton').runtime.driver.active.get_current_target().warp_size], [4], [0])";

// From what leaves no choice (a called function, an assertion) to what is a convention (names,
// sizes).
InferredValue ByUsage(const KernelFacts& facts, size_t place, const Variant& variant) {
  const absl::string_view name = facts.function.parameters[place].name;
  const ConstexprUsage& usage = facts.usage.constexprs[place];
  if (usage.called) return {"None", RuleName(UsageRule::kCalled)};
  if (facts.kernel.dsl() == dsl::kGluon && IsLayout(name, usage))
    return {std::string(kLayout), RuleName(UsageRule::kKeyword)};
  if (!usage.asserted.empty()) return {std::string(usage.asserted), RuleName(UsageRule::kEquals)};
  if (usage.place) return {"0", RuleName(UsageRule::kTuple)};
  if (usage.order >= 0) return {absl::StrCat(usage.order), RuleName(UsageRule::kOrder)};
  if (usage.dtype || (IsDtype(name) && !usage.number && usage.compared.empty())) {
    return Dtype(facts, usage, variant);
  }
  if (!usage.keyword.empty()) {
    if (std::optional<std::string> value = ConstexprByKeyword(usage.keyword))
      return {*std::move(value), RuleName(UsageRule::kKeyword)};
  }
  if (std::optional<InferredValue> value = ByComparison(facts, usage, variant))
    return *std::move(value);
  const bool number = usage.shape || usage.number || usage.unrolled;
  if (usage.condition && !number)
    return {variant.flags ? "True" : "False", RuleName(UsageRule::kCondition), true};
  if (usage.none_checked && !number) return {"None", RuleName(UsageRule::kComparedWithNone)};
  if (usage.unrolled && !usage.shape) return {"2", RuleName(UsageRule::kUnrolled)};
  const std::optional<NameRule> by_name = ConstexprByName(name);
  if (usage.shape && facts.usage.three_dimensional && !IsAtMost(by_name, kSmallSize))
    return {absl::StrCat(kSmallSize), RuleName(UsageRule::kThreeDimensional)};
  const auto is_guess = [&](const Expression* choice) {
    return by_name && choice->text == by_name->value;
  };
  if (usage.choices.size() > 1 && !usage.shape &&
      std::none_of(usage.choices.begin(), usage.choices.end(), is_guess)) {
    return {std::string(usage.choices.front()->text), RuleName(UsageRule::kCompared)};
  }
  if (by_name) {
    const bool flag = by_name->value == "True" || by_name->value == "False";
    // A fraction cannot be what is divided or shifted as integers are.
    const bool fraction = !flag && IsFloatLiteral(by_name->value);
    if (!flag && !(fraction && usage.integer)) return {by_name->value, by_name->rule};
    if (flag && !number) return {variant.flags ? "True" : by_name->value, by_name->rule, true};
  }
  if (usage.shape) return {"64", RuleName(UsageRule::kSize)};
  if (!usage.compared.empty())
    return {std::string(usage.compared[0]->text), RuleName(UsageRule::kCompared)};
  return {"16", "guess:int"};
}

// Returns the value that the launch gives: a literal, a type, the presence of another argument.
std::optional<InferredValue> ByLaunch(const KernelFacts& facts,
                                      const std::vector<InferredType>& types, size_t place,
                                      const Variant& variant) {
  const HostValue given = facts.launch.GetValue(facts.function.parameters[place].name);
  const ConstexprUsage& usage = facts.usage.constexprs[place];
  const bool number = usage.shape || usage.integer || usage.unrolled;
  if (!given.literal.empty() && !(number && given.literal == "None"))
    return InferredValue{given.literal, "launch"};
  if (!given.dtype.empty())
    return InferredValue{TypeInModule(facts, TritonType(given.dtype)), "launch"};
  if (given.not_none.empty()) {
    if (given.likely.empty() || given.likely == "None") return std::nullopt;
    if (usage.shape && IsNoPowerOfTwo(given.likely)) return std::nullopt;  // 0: without that tensor
    const bool flag = given.likely == "True" || given.likely == "False";
    if (flag) return InferredValue{variant.flags ? "True" : "False", "launch:likely", true};
    return InferredValue{usage.shape ? AtMost(given.likely, kLargeSize) : given.likely,
                         "launch:likely"};
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].type.empty()) continue;
    const Expression* other = facts.launch.Given(facts.function.parameters[i].name);
    if (other == nullptr || other->kind != Kind::kName || other->name != given.not_none) continue;
    const bool present = !types[i].always_none && (variant.optional || !types[i].optional);
    return InferredValue{present != given.is_none ? "True" : "False", "launch:present"};
  }
  return std::nullopt;
}

constexpr int64_t kMostMultiple = 1 << 20;

// A guessed size that shapes divide: the power of two that leaves 1 of it or more. A value that is
// no number, or large enough, stays.
InferredValue AtLeast(InferredValue value, int64_t least) {
  int64_t number = 0;
  if (least <= 0 || !absl::SimpleAtoi(value.value, &number) || number >= least) return value;
  int64_t power = 1;
  while (power < least) power *= 2;
  return {absl::StrCat(power), RuleName(UsageRule::kDivided)};
}

// Infers by the launch, the parameter and the body.
InferredValue InferAlone(const KernelFacts& facts, const std::vector<InferredType>& types,
                         size_t place, const Variant& variant) {
  const FunctionParameter& parameter = facts.function.parameters[place];
  if (std::optional<InferredValue> value = ByLaunch(facts, types, place, variant))
    return *std::move(value);
  if (parameter.default_value != nullptr)
    return {std::string(parameter.default_value->text), "default"};
  return AtLeast(Smaller(ByUsage(facts, place, variant), variant),
                 facts.usage.constexprs[place].least);
}

// Returns whether numbers decide the flag, such as EVEN_K: it holds for some launches, and a name
// may be bound only under it.
bool IsFlagOfHeuristics(const ConstexprUsage& usage, absl::string_view text) {
  const bool number = usage.shape || usage.number || usage.unrolled;
  return usage.condition && !number && absl::StrContains(text, "%");
}

// Infers by all rules except usage:multiple.
InferredValue WithoutMultiple(const KernelFacts& facts, const HeuristicTexts& heuristics,
                              const std::vector<InferredType>& types, size_t place,
                              const Variant& variant) {
  const FunctionParameter& parameter = facts.function.parameters[place];
  if (const auto second = variant.second.find(parameter.name); second != variant.second.end())
    return {second->second, "guess:second"};
  if (facts.inductor != nullptr) {
    const auto known = facts.inductor->constants.find(parameter.name);
    if (known != facts.inductor->constants.end()) return {known->second, "inductor"};
  }
  const v1::Autotune& autotune = facts.kernel.autotune();
  if (variant.config < autotune.configs_size()) {
    for (const v1::NamedText& argument : autotune.configs(variant.config).kwargs()) {
      if (argument.name() == parameter.name) return {argument.text(), "autotune"};
    }
  }
  if (const auto text = heuristics.find(parameter.name); text != heuristics.end()) {
    if (IsFlagOfHeuristics(facts.usage.constexprs[place], text->second) && variant.flags &&
        variant.optional) {
      return {"True", "heuristics:flag"};
    }
    const InferredValue given = InferAlone(facts, types, place, variant);
    const std::string own = absl::StrCat("'", parameter.name, "': ", given.value, ", ");
    return {CallHeuristic(facts, types, text->second, own, variant),
            variant.small ? "heuristics:small" : "heuristics"};
  }
  if (facts.usage.unit_strides.contains(parameter.name)) return {"1", "unit_stride"};
  return InferAlone(facts, types, place, variant);
}

// Returns the value of a parameter by its name; empty if there is no such parameter.
InferredValue InferByName(const KernelFacts& facts, const HeuristicTexts& heuristics,
                          const std::vector<InferredType>& types, absl::string_view name,
                          const Variant& variant) {
  const int at = facts.function.Find(name);
  return at < 0 ? InferredValue()
                : WithoutMultiple(facts, heuristics, types, static_cast<size_t>(at), variant);
}

// Returns the number; 0 for any other value.
int64_t FindNumber(const InferredValue& value) {
  int64_t number = 0;
  return absl::SimpleAtoi(value.value, &number) ? number : 0;
}

bool IsGuessed(const InferredValue& value) {
  return GetCertainty(value.rule) == Certainty::kGuessed;
}

// Returns the product of numbers and constexprs; 0 if it is not known. The multiple of a constexpr
// is a number, a name, or a product of these. The bound keeps the product within 64 bits.
int64_t Evaluate(const KernelFacts& facts, const HeuristicTexts& heuristics,
                 const std::vector<InferredType>& types, const Expression& expression,
                 const Variant& variant) {
  int64_t number = 0;
  if (expression.kind == Kind::kNumber) {
    return absl::SimpleAtoi(expression.text, &number) ? number : 0;
  }
  if (expression.kind == Kind::kBinary && expression.name == "*") {
    const int64_t left = Evaluate(facts, heuristics, types, *expression.parts[0], variant);
    const int64_t right = Evaluate(facts, heuristics, types, *expression.parts[1], variant);
    return left > 0 && right > 0 && left <= kMostMultiple && right <= kMostMultiple ? left * right
                                                                                    : 0;
  }
  if (expression.kind != Kind::kName) return 0;
  return FindNumber(InferByName(facts, heuristics, types, expression.name, variant));
}

// Returns the guessed size that a reshape tells by the other sizes.
std::optional<InferredValue> ByReshape(const KernelFacts& facts, const HeuristicTexts& heuristics,
                                       const std::vector<InferredType>& types, size_t place,
                                       const Variant& variant) {
  const auto place_of = [&](absl::string_view name) { return facts.function.Find(name); };
  const auto value_of = [&](absl::string_view name) {
    return InferByName(facts, heuristics, types, name, variant);
  };
  const auto guessed = [&](absl::string_view name) { return IsGuessed(value_of(name)); };
  const auto number_of = [&](absl::string_view name) { return FindNumber(value_of(name)); };
  const absl::string_view name = facts.function.parameters[place].name;
  for (const SizeEquation& equation : facts.usage.equations) {
    const std::optional<int64_t> size =
        FindValueThatHolds(equation, name, place_of, guessed, number_of);
    if (size) return InferredValue{absl::StrCat(*size), RuleName(UsageRule::kReshape)};
  }
  return std::nullopt;
}

}  // namespace

// Only names that are literal strings are read; the first function of a name counts.
HeuristicTexts ReadHeuristics(const std::vector<const Expression*>& decorators) {
  HeuristicTexts texts;
  for (const Expression* decorator : decorators) {
    if (decorator->kind != Kind::kCall || LastName(*decorator) != "heuristics") continue;
    const Expression* values = FindArgument(*decorator, "values", 0);
    if (values == nullptr || values->kind != Kind::kDictionary) continue;
    for (size_t i = 0; i + 1 < values->parts.size(); i += 2) {
      const Expression& key = *values->parts[i];
      if (key.kind != Kind::kString) continue;
      texts.emplace(code::PythonStringContent(key.text), values->parts[i + 1]->text);
    }
  }
  return texts;
}

// Equations and multiples correct guesses only: a value that the launch or the configuration gives
// is never changed. The equation comes before the multiple, which rounds up what the equation gave.
InferredValue InferConstexpr(const KernelFacts& facts, const HeuristicTexts& heuristics,
                             const std::vector<InferredType>& types, size_t place,
                             const Variant& variant) {
  InferredValue value = WithoutMultiple(facts, heuristics, types, place, variant);
  if (!IsGuessed(value) || value.rule == "guess:second") return value;
  if (variant.reshape) {
    if (std::optional<InferredValue> held = ByReshape(facts, heuristics, types, place, variant))
      value = *std::move(held);
  }
  const Expression* of = facts.usage.constexprs[place].multiple_of;
  const int64_t number = FindNumber(value);
  if (of == nullptr || number <= 0) return value;
  const int64_t unit = Evaluate(facts, heuristics, types, *of, variant);
  if (unit <= 0 || unit > kMostMultiple || number % unit == 0) return value;
  return {absl::StrCat((number + unit - 1) / unit * unit), RuleName(UsageRule::kMultiple)};
}

}  // namespace kernelmill::compiler
