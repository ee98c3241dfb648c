#include "services/compiler/core/signature/argument_types.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/python/usage/triton_calls.h"
#include "services/compiler/core/signature/element_types.h"
#include "services/compiler/core/signature/names.h"

namespace kernelmill::compiler {

using python::ArgumentUsage;
using python::FunctionParameter;
using python::IsFloatLiteral;
using python::NamesPointer;
using python::Need;
using python::RuleName;
using python::UsageRule;

namespace {

constexpr absl::string_view kFloatPointer = "*?";

InferredType Of(absl::string_view type, absl::string_view rule) {
  return {std::string(type), std::string(rule), false, false};
}

InferredType Of(absl::string_view type, UsageRule rule) { return Of(type, RuleName(rule)); }

// The type that an annotation writes: tl.int32, "*fp32", tl.pointer_type(tl.float32).
std::string AnnotatedType(absl::string_view annotation) {
  annotation = absl::StripPrefix(absl::StripSuffix(annotation, "\""), "\"");
  annotation = absl::StripPrefix(absl::StripSuffix(annotation, "'"), "'");
  if (absl::StartsWith(annotation, "*")) return std::string(annotation);
  const size_t begin = annotation.find("pointer_type(");
  if (begin != absl::string_view::npos) {
    absl::string_view element = annotation.substr(begin + 13);
    element = element.substr(0, element.find_first_of(",)"));
    const std::string type = TritonType(element.substr(element.rfind('.') + 1));
    return type.empty() ? "" : absl::StrCat("*", type);
  }
  const size_t dot = annotation.rfind('.');
  if (annotation == "float" || annotation == "int" || annotation == "bool")
    return TritonType(annotation);
  return dot == absl::string_view::npos ? TritonType(annotation)
                                        : TritonType(annotation.substr(dot + 1));
}

// What a pointer points to by what is done with what is loaded from it, for sure; empty: that does
// not tell.
std::string ElementByUsage(const ArgumentUsage::Level& level) {
  switch (level.need) {
    case Need::kUint8:
      return "u8";
    case Need::kInt8:
      return "i8";
    case Need::kInt16:
      return "i16";
    case Need::kInt32:
    case Need::kBits:
      return "i32";
    case Need::kInt64:
      return "i64";
    case Need::kUint32:
      return "u32";
    case Need::kFloat32:
      return "fp32";
    case Need::kBool:
      return level.rule == UsageRule::kMask ? "i1" : "";
    default:
      return "";
  }
}

InferredType InferPointer(const KernelFacts& facts, size_t place) {
  const FunctionParameter& parameter = facts.function.parameters[place];
  const ArgumentUsage& usage = facts.usage.arguments[place];
  const ArgumentUsage::Level& element = usage.levels[1];
  const std::optional<NameRule> by_name = ElementByName(parameter.name);
  if (!usage.element.empty()) {
    return Of(absl::StrCat("*", TritonType(usage.element)), UsageRule::kAsserted);
  }
  // A scale among packed integers: names are not told apart by where they stand.
  const bool packed = element.need == Need::kBits || element.need == Need::kIndex;
  if (packed && by_name && by_name->value == "fp32") return Of(kFloatPointer, by_name->rule);
  if (const std::string type = ElementByUsage(element); !type.empty()) {
    // A name that says how wide an integer is says more than that it is one.
    const bool named = element.need == Need::kBits && by_name && by_name->value == "i64";
    return Of(absl::StrCat("*", named ? "i64" : type), element.rule);
  }
  if (usage.levels[2].rule != UsageRule::kNoRule) return Of("*i64", UsageRule::kMadePointer);
  const bool integer = by_name && by_name->value[0] == 'i' && by_name->value != "i1";
  if (element.need == Need::kIndex || element.need == Need::kInt) {
    return Of(integer ? absl::StrCat("*", by_name->value) : "*i32", element.rule);
  }
  if (element.need == Need::kFloat)
    return Of(by_name && by_name->value == "fp32" ? "*fp32" : kFloatPointer, UsageRule::kMath);
  if (by_name && !(by_name->value == "i1" && element.need == Need::kStoredFloat)) {
    return Of(absl::StrCat("*", by_name->value), by_name->rule);
  }
  if (element.need == Need::kBits32) return Of(kFloatPointer, element.rule);
  if (element.need == Need::kStoredInt) return Of("*i32", UsageRule::kStored);
  if (element.need == Need::kStoredInt64) return Of("*i64", UsageRule::kStored);
  if (element.need == Need::kStoredBool) return Of("*i1", UsageRule::kStored);
  if (element.need == Need::kBool) return Of("*i1", UsageRule::kCondition);
  return Of(kFloatPointer, "guess:float");
}

InferredType InferScalar(const KernelFacts& facts, size_t place, const HostValue& given) {
  const FunctionParameter& parameter = facts.function.parameters[place];
  const ArgumentUsage::Level& usage = facts.usage.arguments[place].levels[0];
  const v1::ParameterRole role = place < static_cast<size_t>(facts.kernel.parameters_size())
                                     ? facts.kernel.parameters(static_cast<int>(place)).role()
                                     : v1::PARAMETER_ROLE_OTHER;
  const std::optional<NameRule> by_name = ScalarByName(parameter.name);
  if (usage.need == Need::kBits32) return Of("fp32", usage.rule);
  if (usage.need >= Need::kIndex) {
    const bool wide = usage.need == Need::kInt64 || given.type == "i64";
    return Of(usage.need == Need::kUint32 ? "u32" : wide ? "i64" : "i32", usage.rule);
  }
  if (usage.need == Need::kFloat || usage.need == Need::kFloat32) return Of("fp32", usage.rule);
  if (!given.type.empty() && given.type[0] != '*') return Of(given.type, "launch:type");
  if (by_name) return Of(by_name->value, by_name->rule);
  if (role == v1::PARAMETER_ROLE_STRIDE) return Of("i32", "role:stride");
  if (role == v1::PARAMETER_ROLE_SIZE) return Of("i32", "role:size");
  if (usage.need == Need::kInt) return Of("i32", usage.rule);
  if (usage.need == Need::kBool) return Of("i1", usage.rule);
  if (usage.need == Need::kStoredFloat) return Of("fp32", usage.rule);
  return Of("i32", "guess:int");
}

// The last that the parameter itself says.
std::optional<InferredType> ByDefault(const FunctionParameter& parameter) {
  if (parameter.default_value == nullptr) return std::nullopt;
  const Expression& value = *parameter.default_value;
  if (value.kind == Expression::kNumber)
    return Of(IsFloatLiteral(value.text) ? "fp32" : "i32", "default");
  if (value.text == "True" || value.text == "False") return Of("i1", "default");
  return std::nullopt;
}

bool IsPointer(const KernelFacts& facts, size_t place, const HostValue& given) {
  const ArgumentUsage& usage = facts.usage.arguments[place];
  if (usage.pointer || absl::StartsWith(given.type, "*")) return true;
  if (usage.levels[0].need >= Need::kInt) return false;
  if (place < static_cast<size_t>(facts.kernel.parameters_size()) &&
      facts.kernel.parameters(static_cast<int>(place)).role() == v1::PARAMETER_ROLE_POINTER) {
    return true;
  }
  return NamesPointer(facts.function.parameters[place].name);
}

}  // namespace

InferredType InferType(const KernelFacts& facts, size_t place) {
  const FunctionParameter& parameter = facts.function.parameters[place];
  const ArgumentUsage& usage = facts.usage.arguments[place];
  if (facts.inductor != nullptr) {
    const auto known = facts.inductor->types.find(parameter.name);
    if (known != facts.inductor->types.end()) return Of(known->second, "inductor");
  }
  const HostValue given = facts.launch.ValueOf(parameter.name);
  const bool none_default =
      parameter.default_value != nullptr && parameter.default_value->text == "None";
  InferredType inferred;
  if (const std::string annotated = AnnotatedType(parameter.annotation);
      !annotated.empty() && !usage.pointer) {
    inferred = Of(annotated, "annotation");
  } else if (absl::StartsWith(annotated, "*")) {
    inferred = Of(annotated, "annotation");
  } else if ((usage.descriptor || given.type == "tensordesc") && !given.tensor_too) {
    inferred = Of("tensordesc", "descriptor");
  } else if (IsPointer(facts, place, given)) {
    inferred = absl::StartsWith(given.type, "*") ? Of(given.type, "launch:dtype")
                                                 : InferPointer(facts, place);
  } else if (const std::optional<InferredType> own = ByDefault(parameter)) {
    inferred = *own;
  } else {
    inferred = InferScalar(facts, place, given);
  }
  inferred.always_none = given.none;
  inferred.optional = given.none || given.optional || usage.none_checked || none_default;
  return inferred;
}

}  // namespace kernelmill::compiler
