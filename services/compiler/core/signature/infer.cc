#include "services/compiler/core/signature/infer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "services/compiler/core/signature/argument_types.h"
#include "services/compiler/core/signature/constexpr_values.h"
#include "services/compiler/core/signature/read_text.h"
#include "services/compiler/core/signature/rules.h"
#include "services/compiler/core/signature/tries.h"

namespace kernelmill::compiler {

// Makes the signatures that are tried for a kernel. A guessed signature that fails says little
// about the kernel, so that the tries vary the guesses: up to kMaxTries, the likeliest first.

using python::RuleName;
using python::TuplePlaces;
using python::UsageFinder;
using python::UsageRule;

namespace {

constexpr absl::string_view kOptions[] = {"maxnreg", "num_ctas", "num_stages", "num_warps"};

// "(*fp32, *fp32)"; of constexprs "(16, 16)".
std::string MakeTuple(const std::string& element, int64_t places) {
  return absl::StrCat("(", absl::StrJoin(std::vector<std::string>(places, element), ", "), ")");
}

// Makes the tries of one kernel.
class TryMaker {
 public:
  // Types do not depend on the variant and are inferred once. A constexpr has an empty type.
  TryMaker(const KernelFacts& facts, const std::vector<const Expression*>& decorators)
      : facts_(facts), heuristics_(ReadHeuristics(decorators)) {
    for (size_t i = 0; i < facts.function.parameters.size(); ++i) {
      types_.push_back(IsConstexpr(i) ? InferredType() : InferType(facts, i));
    }
  }

  const HeuristicTexts& heuristics() const { return heuristics_; }

  // Returns the signature of one variant. `missing` is set to the first parameter that has neither
  // a type nor a value, and is left alone if it was set before.
  v1::KernelSignature Make(const Variant& variant, std::string& missing) const {
    v1::KernelSignature made;
    for (size_t i = 0; i < facts_.function.parameters.size(); ++i) {
      const absl::string_view name = facts_.function.parameters[i].name;
      if (types_[i].type.empty()) {
        InferredValue value = InferConstexpr(facts_, heuristics_, types_, i, variant);
        // A constexpr that is indexed by several numbers is a tuple, unless its value is no guess.
        const int64_t places = CountPlaces(i, variant);
        if (places > 1 && GetCertainty(value.rule) == Certainty::kGuessed)
          value = {MakeTuple(value.value, places), RuleName(UsageRule::kTuple)};
        AddConstexpr(name, value, made, missing);
      } else if (variant.second.contains(name)) {
        AddSecondType(i, variant, made);
      } else if (types_[i].always_none || (types_[i].optional && !variant.optional)) {
        AddConstexpr(name, {"None", "launch:none"}, made, missing);
      } else if (facts_.usage.unit_strides.contains(name)) {
        AddConstexpr(name, {"1", "unit_stride"}, made, missing);
      } else {
        AddArgument(i, variant, made, missing);
      }
    }
    AddOptions(variant, made);
    return made;
  }

 private:
  // Also parameters that @triton.heuristics computes, and those that TorchInductor lists as
  // constants and not as arguments.
  bool IsConstexpr(size_t place) const {
    const absl::string_view name = facts_.function.parameters[place].name;
    if (absl::StrContains(facts_.function.parameters[place].annotation, "constexpr")) return true;
    return heuristics_.contains(name) ||
           (facts_.inductor != nullptr && facts_.inductor->constants.contains(name) &&
            !facts_.inductor->types.contains(name));
  }

  static void AddConstexpr(absl::string_view name, const InferredValue& value,
                           v1::KernelSignature& made, std::string& missing) {
    if (value.value.empty() && missing.empty()) missing = absl::StrCat("constexpr:", name);
    AddConstant(name, value.value, value.rule, made);
  }

  std::string DescriptorType(size_t place, const Variant& variant) const {
    return MakeDescriptorType(facts_, place, variant.element, [&](size_t constexpr_place) {
      return InferConstexpr(facts_, heuristics_, types_, constexpr_place, variant).value;
    });
  }

  // Returns the number of places of a tuple; 0 for any other argument.
  int64_t CountPlaces(size_t place, const Variant& variant) const {
    const TuplePlaces& places = facts_.usage.arguments[place].places;
    const int at = facts_.function.Find(places.constexpr_name);
    int64_t bound = 0;
    if (at >= 0) {
      const std::string value =
          InferConstexpr(facts_, heuristics_, types_, static_cast<size_t>(at), variant).value;
      if (!absl::SimpleAtoi(value, &bound) || bound > TuplePlaces::kMost) bound = 0;
    }
    return std::max(places.count, bound);
  }

  // Adds the argument with its type. If TorchInductor does not say which arguments are divisible by
  // 16, pointers and strides count as that.
  void AddArgument(size_t place, const Variant& variant, v1::KernelSignature& made,
                   std::string& missing) const {
    const absl::string_view name = facts_.function.parameters[place].name;
    const InferredType& inferred = types_[place];
    v1::ArgumentType* added = made.add_arguments();
    added->set_name(std::string(name));
    added->set_rule(inferred.rule);
    added->set_type(inferred.type == "*?" ? absl::StrCat("*", variant.element) : inferred.type);
    if (const int64_t places = CountPlaces(place, variant); places > 0) {
      added->set_type(MakeTuple(added->type(), places));
      added->set_rule(RuleName(UsageRule::kTuple));
    }
    if (inferred.type == "tensordesc") {
      added->set_type(DescriptorType(place, variant));
      if (added->type().empty() && missing.empty()) missing = absl::StrCat("type:", name);
    }
    const bool stride =
        place < static_cast<size_t>(facts_.kernel.parameters_size()) &&
        facts_.kernel.parameters(static_cast<int>(place)).role() == v1::PARAMETER_ROLE_STRIDE;
    added->set_divisible_by_16(facts_.inductor != nullptr
                                   ? facts_.inductor->divisible_by_16.contains(name)
                                   : absl::StartsWith(inferred.type, "*") || stride);
  }

  // Adds an argument whose first type, or None, was refused.
  void AddSecondType(size_t place, const Variant& variant, v1::KernelSignature& made) const {
    const absl::string_view name = facts_.function.parameters[place].name;
    v1::ArgumentType* added = made.add_arguments();
    added->set_name(std::string(name));
    added->set_type(variant.second.find(name)->second);
    added->set_rule("guess:second");
    added->set_divisible_by_16(absl::StartsWith(added->type(), "*"));
  }

  // Adds the options that the configuration or else the launch gives as positive numbers. Others
  // are left to the compiler.
  void AddOptions(const Variant& variant, v1::KernelSignature& made) const {
    const v1::Autotune& autotune = facts_.kernel.autotune();
    for (const absl::string_view option : kOptions) {
      // A constexpr of that name is given to both.
      std::string value;
      std::string rule;
      if (variant.config < autotune.configs_size()) {
        for (const v1::NamedText& given : autotune.configs(variant.config).options()) {
          if (given.name() == option) value = given.text(), rule = "autotune";
        }
      }
      if (value.empty()) value = facts_.launch.GetValue(option).literal, rule = "launch";
      int number = 0;
      if (!absl::SimpleAtoi(value, &number) || number < 1) continue;
      v1::CompileOption* added = made.add_options();
      added->set_name(std::string(option));
      added->set_value(absl::StrCat(number));
      added->set_rule(rule);
    }
  }

  const KernelFacts& facts_;
  const HeuristicTexts heuristics_;
  std::vector<InferredType> types_;
};

// Returns the number that heuristics read for every size. If several sizes of a block are made of
// it the number is small: two sizes of 1024 are more than a compiler takes.
absl::string_view GetHeuristicsNumber(const KernelFacts& facts, const HeuristicTexts& heuristics) {
  int sizes = 0;
  for (size_t i = 0; i < facts.function.parameters.size(); ++i) {
    sizes +=
        facts.usage.constexprs[i].shape && heuristics.contains(facts.function.parameters[i].name);
  }
  return sizes > 1 ? "128" : "1024";
}

// In the order in which they are tried: types first, since those fail most.
std::vector<Variant> Variants(const v1::Kernel& kernel, absl::string_view number) {
  std::vector<Variant> variants = {{"fp32"},
                                   {"bf16"},
                                   {"fp16"},
                                   {"fp32", true},
                                   {"fp32", false, false},
                                   {"bf16", true},
                                   {"bf16", false, false}};
  // The second configuration may compile if the first one does not.
  if (kernel.autotune().configs_size() > 1) variants.push_back({"bf16", false, true, 1});
  variants.push_back({"fp32", true, false});
  variants.push_back({.reshape = false});
  variants.push_back({"i32"});
  variants.push_back({"fp8e4nv"});
  for (Variant& variant : variants) variant.number = number;
  // Heuristics of few, as of a small tensor; small sizes.
  if (!kernel.heuristics().names().empty()) variants.push_back({.number = "12"});
  variants.push_back({.number = "12", .small = true});
  variants.push_back({.element = "fp16", .number = "12", .small = true});
  return variants;
}

}  // namespace

// The parts of a kernel that were read, at fixed addresses: the facts refer to the texts.
class Inference::Record {
 public:
  // `function` is of `module`, and the kernel's.
  Record(const v1::Kernel& kernel, ReadText module, ReadText source, ReadText launcher,
         const Function& function)
      : module_(std::move(module)),
        source_(std::move(source)),
        launcher_(std::move(launcher)),
        decorators_(FindDecorators(kernel.name(), function)),
        inductor_(ReadInductorMeta(decorators_, function)),
        finder_(module_.functions()),
        launch_(launcher_.functions(), kernel.name(), GetParameterNames(function)),
        facts_{kernel,
               module_.functions(),
               module_.imports(),
               function,
               finder_.FindUsage(function),
               launch_,
               inductor_ ? &*inductor_ : nullptr},
        maker_(facts_, decorators_) {}

  const KernelFacts& facts() const { return facts_; }
  const python::SyntaxTree& tree() const { return module_.tree(); }
  const TryMaker& maker() const { return maker_; }

 private:
  // The module may lack the decorators that the record's source has.
  const std::vector<const Expression*>& FindDecorators(absl::string_view name,
                                                       const Function& function) const {
    const Function* written = source_.functions().Find(name);
    return written == nullptr ? function.decorators : written->decorators;
  }

  const ReadText module_, source_, launcher_;
  const std::vector<const Expression*>& decorators_;
  // TorchInductor's description, if the kernel has one, is surer than all other evidence.
  const std::optional<InductorMeta> inductor_;
  UsageFinder finder_;
  const Launch launch_;
  const KernelFacts facts_;
  const TryMaker maker_;
};

Inference::Inference() = default;
Inference::Inference(Inference&&) noexcept = default;
Inference& Inference::operator=(Inference&&) noexcept = default;
Inference::~Inference() = default;

// The basic idea: the module, the record's source and the launcher are each read once. Every
// parameter has a type or a value by the first rule that holds (rules.h). The rest is guessed, and
// the guesses are varied: each variant (element type of pointers, flags, arguments that may be
// None, configuration, small sizes) makes a try, the likeliest first. Tries that come out the same
// are kept once. The compiler takes the first that compiles.
absl::StatusOr<Inference> Inference::Infer(const v1::Kernel& kernel) {
  Inference inference;
  ASSIGN_OR_RETURN(ReadText module, ReadText::Read(kernel.module()));
  ASSIGN_OR_RETURN(ReadText source, ReadText::Read(kernel.source()));
  ASSIGN_OR_RETURN(ReadText launcher, ReadText::Read(kernel.launcher().text()));
  const Function* function = module.functions().Find(kernel.name());
  if (function == nullptr) {
    inference.missing_ = "function";
    return inference;
  }
  inference.record_ = std::make_unique<const Record>(kernel, std::move(module), std::move(source),
                                                     std::move(launcher), *function);
  const TryMaker& maker = inference.record_->maker();
  const absl::string_view number =
      GetHeuristicsNumber(inference.record_->facts(), maker.heuristics());
  for (const Variant& variant : Variants(kernel, number)) {
    inference.AddTry(variant);
    if (!inference.missing_.empty() || inference.tries_.size() == kMaxTries) break;
  }
  if (!inference.missing_.empty()) inference.tries_.clear();
  return inference;
}

// Two variants may make the same signature: a kernel without flags has no use for a variant of
// flags.
void Inference::AddTry(const Variant& variant) {
  v1::KernelSignature made = record_->maker().Make(variant, missing_);
  if (!missing_.empty()) return;
  std::string key = made.SerializeAsString();
  if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) return;
  seen_.push_back(std::move(key));
  variants_.push_back(variant);
  made.set_attempt(static_cast<int>(seen_.size()));
  tries_.push_back(std::move(made));
}

void Inference::GuessAgain(size_t refused, const Refusal& refusal) {
  const std::vector<SecondGuess> guesses =
      FindSecondGuesses(record_->facts(), record_->tree(), tries_[refused], refusal);
  for (const SecondGuess& guess : guesses) {
    Variant variant = variants_[refused];
    for (const auto& [name, value] : guess) variant.second[name] = value;
    AddTry(variant);
    missing_.clear();  // by a size that no block can have: that guess is no try
  }
}

}  // namespace kernelmill::compiler
