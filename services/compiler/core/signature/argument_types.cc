#include "services/compiler/core/signature/argument_types.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/code/python.h"
#include "common/python/usage/triton_calls.h"
#include "services/compiler/core/signature/names.h"

namespace kernelmill::compiler {

// The types of arguments that are no constexprs. The basic idea: it is decided first if an argument
// is a pointer, a descriptor or a number, then what type of element or number it has. In both steps
// strong evidence of the code comes before names, and a guess comes last. A pointer whose elements
// nothing tells has the type "*?", which the tries vary.

using python::ArgumentUsage;
using python::FunctionParameter;
using python::IsFloatLiteral;
using python::NamesPointer;
using python::Need;
using python::RuleName;
using python::Statement;
using python::UsageRule;

using Kind = Expression::Kind;

namespace {

constexpr absl::string_view kFloatPointer = "*?";

InferredType MakeType(absl::string_view type, absl::string_view rule) {
  return {std::string(type), std::string(rule), false, false};
}

InferredType MakeType(absl::string_view type, UsageRule rule) {
  return MakeType(type, RuleName(rule));
}

// The type that an annotation writes: tl.int32, "*fp32", tl.pointer_type(tl.float32). Empty for an
// annotation of any other form, such as tl.constexpr or torch.Tensor.
std::string AnnotatedType(absl::string_view annotation) {
  annotation = absl::StripPrefix(absl::StripSuffix(annotation, "\""), "\"");
  annotation = absl::StripPrefix(absl::StripSuffix(annotation, "'"), "'");
  if (absl::StartsWith(annotation, "*")) return std::string(annotation);
  constexpr absl::string_view kPointerType = "pointer_type(";
  const size_t begin = annotation.find(kPointerType);
  if (begin != absl::string_view::npos) {
    absl::string_view element = annotation.substr(begin + kPointerType.size());
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

// Returns the element type of a pointer that the use of the loaded values tells for sure; empty if
// the use does not tell.
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

// Needs of what is loaded come before names, and names before guesses: code cannot be wrong about a
// type that it would not compile with.
InferredType InferPointer(const KernelFacts& facts, size_t place) {
  const FunctionParameter& parameter = facts.function.parameters[place];
  const ArgumentUsage& usage = facts.usage.arguments[place];
  const ArgumentUsage::Level& element = usage.levels[1];
  const std::optional<NameRule> by_name = ElementByName(parameter.name);
  if (!usage.element.empty()) {
    return MakeType(absl::StrCat("*", TritonType(usage.element)), UsageRule::kAsserted);
  }
  // A scale among packed integers: one name may have both as values.
  const bool packed = element.need == Need::kBits || element.need == Need::kIndex;
  if (packed && by_name && by_name->value == "fp32") return MakeType(kFloatPointer, by_name->rule);
  if (const std::string type = ElementByUsage(element); !type.empty()) {
    // A name that says how wide an integer is says more than that it is one.
    const bool named = element.need == Need::kBits && by_name && by_name->value == "i64";
    return MakeType(absl::StrCat("*", named ? "i64" : type), element.rule);
  }
  if (usage.levels[2].rule != UsageRule::kNoRule) return MakeType("*i64", UsageRule::kMadePointer);
  const bool integer = by_name && by_name->value[0] == 'i' && by_name->value != "i1";
  if (element.need == Need::kIndex || element.need == Need::kInt) {
    return MakeType(integer ? absl::StrCat("*", by_name->value) : "*i32", element.rule);
  }
  if (element.need == Need::kFloat)
    return MakeType(by_name && by_name->value == "fp32" ? "*fp32" : kFloatPointer,
                    UsageRule::kMath);
  if (by_name && !(by_name->value == "i1" && element.need == Need::kStoredFloat)) {
    return MakeType(absl::StrCat("*", by_name->value), by_name->rule);
  }
  if (element.need == Need::kBits32) return MakeType(kFloatPointer, element.rule);
  if (element.need == Need::kStoredInt) return MakeType("*i32", UsageRule::kStored);
  if (element.need == Need::kStoredInt64) return MakeType("*i64", UsageRule::kStored);
  if (element.need == Need::kStoredBool) return MakeType("*i1", UsageRule::kStored);
  if (element.need == Need::kBool) return MakeType("*i1", UsageRule::kCondition);
  return MakeType(kFloatPointer, "guess:float");
}

// An index of an address needs an integer, exp() a float. After these the launch counts, then the
// name, the record's role, weaker needs of the body, at last i32.
InferredType InferScalar(const KernelFacts& facts, size_t place, const HostValue& given) {
  const FunctionParameter& parameter = facts.function.parameters[place];
  const ArgumentUsage::Level& usage = facts.usage.arguments[place].levels[0];
  const v1::ParameterRole role = place < static_cast<size_t>(facts.kernel.parameters_size())
                                     ? facts.kernel.parameters(static_cast<int>(place)).role()
                                     : v1::PARAMETER_ROLE_OTHER;
  const std::optional<NameRule> by_name = ScalarByName(parameter.name);
  if (usage.need == Need::kBits32) return MakeType("fp32", usage.rule);
  if (usage.need >= Need::kIndex) {
    const bool wide = usage.need == Need::kInt64 || given.type == "i64";
    return MakeType(usage.need == Need::kUint32 ? "u32" : wide ? "i64" : "i32", usage.rule);
  }
  if (usage.need == Need::kFloat || usage.need == Need::kFloat32)
    return MakeType("fp32", usage.rule);
  if (!given.type.empty() && given.type[0] != '*') return MakeType(given.type, "launch:type");
  if (by_name) return MakeType(by_name->value, by_name->rule);
  if (role == v1::PARAMETER_ROLE_STRIDE) return MakeType("i32", "role:stride");
  if (role == v1::PARAMETER_ROLE_SIZE) return MakeType("i32", "role:size");
  if (usage.need == Need::kInt) return MakeType("i32", usage.rule);
  if (usage.need == Need::kBool) return MakeType("i1", usage.rule);
  if (usage.need == Need::kStoredFloat) return MakeType("fp32", usage.rule);
  return MakeType("i32", "guess:int");
}

// The last that the parameter itself says.
std::optional<InferredType> ByDefault(const FunctionParameter& parameter) {
  if (parameter.default_value == nullptr) return std::nullopt;
  const Expression& value = *parameter.default_value;
  if (value.kind == Expression::kNumber)
    return MakeType(IsFloatLiteral(value.text) ? "fp32" : "i32", "default");
  if (value.text == "True" || value.text == "False") return MakeType("i1", "default");
  return std::nullopt;
}

// Memory accesses decide; next the launch, which sees the tensor; the record's role and the name
// only if the body does not calculate with the value.
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

// TorchInductor's own description is complete, so that it comes first.
InferredType InferType(const KernelFacts& facts, size_t place) {
  const FunctionParameter& parameter = facts.function.parameters[place];
  const ArgumentUsage& usage = facts.usage.arguments[place];
  if (facts.inductor != nullptr) {
    const auto known = facts.inductor->types.find(parameter.name);
    if (known != facts.inductor->types.end()) return MakeType(known->second, "inductor");
  }
  // The launch's value; everything in it is empty if there is no launch.
  const HostValue given = facts.launch.GetValue(parameter.name);
  const bool none_default =
      parameter.default_value != nullptr && parameter.default_value->text == "None";
  InferredType inferred;
  if (const std::string annotated = AnnotatedType(parameter.annotation);
      !annotated.empty() && !usage.pointer) {
    inferred = MakeType(annotated, "annotation");
  } else if (absl::StartsWith(annotated, "*")) {
    inferred = MakeType(annotated, "annotation");
  } else if ((usage.descriptor || given.type == "tensordesc") && !given.tensor_too) {
    inferred = MakeType("tensordesc", "descriptor");
  } else if (IsPointer(facts, place, given)) {
    inferred = absl::StartsWith(given.type, "*") ? MakeType(given.type, "launch:dtype")
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

namespace {

// Returns the value of a literal key; null if the dictionary lacks it.
const Expression* Entry(const Expression& dictionary, absl::string_view key) {
  if (dictionary.kind != Kind::kDictionary) return nullptr;
  for (size_t i = 0; i + 1 < dictionary.parts.size(); i += 2) {
    const Expression& at = *dictionary.parts[i];
    if (at.kind == Kind::kString && code::PythonStringContent(at.text) == key) {
      return dictionary.parts[i + 1];
    }
  }
  return nullptr;
}

// The parameter that a key names: 'xnumel', 3 or (3,).
std::string FindParameter(const Expression& key, const Function& kernel) {
  if (key.kind == Kind::kString) return std::string(code::PythonStringContent(key.text));
  const Expression& number =
      key.kind == Kind::kSequence && key.parts.size() == 1 ? *key.parts[0] : key;
  size_t place = 0;
  if (!absl::SimpleAtoi(number.text, &place) || place >= kernel.parameters.size()) return "";
  return std::string(kernel.parameters[place].name);
}

// The tuple of divisible_by_16=(0, 1) or [(0,): [['tt.divisibility', 16]]].
void ReadDivisibility(const Expression& configs, const Function& kernel, InductorMeta& meta) {
  for (const Expression* config : configs.parts) {
    if (config->kind == Kind::kCall) {
      if (const Expression* places = FindArgument(*config, "divisible_by_16", 0)) {
        for (const Expression* place : places->parts)
          meta.divisible_by_16.insert(FindParameter(*place, kernel));
      }
    } else if (config->kind == Kind::kDictionary) {
      for (size_t i = 0; i + 1 < config->parts.size(); i += 2) {
        meta.divisible_by_16.insert(FindParameter(*config->parts[i], kernel));
      }
    }
  }
}

}  // namespace

// Newer versions key all three dictionaries by names, older ones by places.
std::optional<InductorMeta> ReadInductorMeta(const std::vector<const Expression*>& decorators,
                                             const Function& kernel) {
  for (const Expression* decorator : decorators) {
    if (decorator->kind != Kind::kCall) continue;
    const Expression* triton_meta = FindArgument(*decorator, "triton_meta", python::kByKeywordOnly);
    const Expression* signature = triton_meta ? Entry(*triton_meta, "signature") : nullptr;
    if (signature == nullptr || signature->kind != Kind::kDictionary) continue;
    InductorMeta meta;
    for (size_t i = 0; i + 1 < signature->parts.size(); i += 2) {
      const absl::string_view type = code::PythonStringContent(signature->parts[i + 1]->text);
      if (type != "constexpr")
        meta.types[FindParameter(*signature->parts[i], kernel)] = std::string(type);
    }
    if (const Expression* constants = Entry(*triton_meta, "constants")) {
      for (size_t i = 0; i + 1 < constants->parts.size(); i += 2) {
        meta.constants[FindParameter(*constants->parts[i], kernel)] =
            std::string(constants->parts[i + 1]->text);
      }
    }
    if (const Expression* configs = Entry(*triton_meta, "configs"))
      ReadDivisibility(*configs, kernel, meta);
    return meta;
  }
  return std::nullopt;
}

namespace {

using Sizes = std::vector<int64_t>;  // a block's, by dimension; 0: not known

// Returns B of `x["B"]`; empty for any other expression.
absl::string_view Key(const Expression& expression) {
  if (expression.kind != Expression::kSubscript || expression.parts.size() != 2) return "";
  absl::string_view text = expression.parts[1]->text;
  if (expression.parts[1]->kind != Expression::kString || text.size() < 3) return "";
  return text.substr(1, text.size() - 2);
}

// Returns B of nargs["B"], also through a local name of the hook. Returns the text of the size
// itself if it is no such entry.
absl::string_view FindHookSize(const Function& hook, const Expression& size) {
  const auto values = hook.values.find(size.text);
  const bool named = values != hook.values.end() && values->second.size() == 1;
  const absl::string_view key = Key(named ? *values->second[0] : size);
  return key.empty() ? size.text : key;
}

// Returns the sizes that a hook before the launch gives the blocks of a descriptor, constexprs or
// literals: nargs["x"].block_shape = [BLOCK, 64]. Empty if there is no such hook. All functions of
// the module are searched: nothing ties a hook to its kernel here.
std::vector<absl::string_view> FindHookBlock(const ModuleFunctions& module, const Function& kernel,
                                             absl::string_view name) {
  for (const Function& function : module.all()) {
    for (const Statement& statement : function.statements) {
      if (statement.kind != Statement::kAssign || statement.target == nullptr) continue;
      const Expression& target = *statement.target;
      if (target.kind != Expression::kAttribute || target.name != "block_shape" ||
          Key(*target.parts[0]) != name || statement.value->kind != Expression::kSequence) {
        continue;
      }
      std::vector<absl::string_view> block;
      for (const Expression* part : statement.value->parts) {
        const absl::string_view size = FindHookSize(function, *part);
        const bool known = part->kind == Expression::kNumber || kernel.Find(size) >= 0;
        if (known) block.push_back(size);
      }
      if (block.size() == statement.value->parts.size()) return block;
    }
  }
  return {};
}

// A block's size that nothing tells, in each of two dimensions.
constexpr int64_t kGuessedBlock = 64;

bool AllKnown(const Sizes& sizes) {
  return !sizes.empty() && std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n > 0; });
}

// Returns the size of a block that a value tells; 0 if it is not known.
int64_t FindSize(absl::string_view value) {
  int64_t number = 0;
  return absl::SimpleAtoi(value, &number) && number > 0 ? number : 0;
}

// Returns the sizes of the names and literals that kernels and hooks write.
Sizes ByName(const KernelFacts& facts, const std::vector<absl::string_view>& names,
             const std::function<std::string(size_t)>& value_of) {
  Sizes sizes;
  for (const absl::string_view name : names) {
    const int at = facts.function.Find(name);
    sizes.push_back(FindSize(at < 0 ? std::string(name) : value_of(static_cast<size_t>(at))));
  }
  return sizes;
}

// Returns the sizes of the list that the launch gives. A size that it also gives to a constexpr has
// the value of that constexpr. Sizes that are all 1 are placeholders until a hook sets them; they
// count as not known.
Sizes ByLaunch(const KernelFacts& facts, const Expression* block,
               const std::function<std::string(size_t)>& value_of) {
  Sizes sizes;
  if (block == nullptr) return sizes;
  for (const Expression* part : block->parts) {
    const HostValue host = facts.launch.GetValue(*part);
    const absl::string_view given = facts.launch.GivenAs(part->text);
    int at = facts.function.Find(given.empty() ? part->text : given);
    if (part->kind == Expression::kNumber) at = -1;
    sizes.push_back(FindSize(at >= 0                ? value_of(static_cast<size_t>(at))
                             : host.literal.empty() ? host.likely
                                                    : host.literal));
  }
  const bool stands_in = std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n == 1; });
  return stands_in ? Sizes() : sizes;
}

}  // namespace

// Asks the sources of the header in turn, until one gives all sizes.
std::string MakeDescriptorType(const KernelFacts& facts, size_t place, absl::string_view element,
                               const std::function<std::string(size_t)>& value_of) {
  const absl::string_view name = facts.function.parameters[place].name;
  Sizes sizes = ByName(facts, FindHookBlock(facts.module, facts.function, name), value_of);
  if (!AllKnown(sizes)) sizes = ByLaunch(facts, facts.launch.GetValue(name).block, value_of);
  if (!AllKnown(sizes)) {
    sizes = ByName(facts, facts.usage.arguments[place].block, value_of);
    const bool any = std::any_of(sizes.begin(), sizes.end(), [](int64_t n) { return n > 0; });
    const int64_t guessed = sizes.size() > 2 ? kGuessedBlock / 4 : kGuessedBlock;
    std::replace(sizes.begin(), sizes.end(), int64_t{0}, any ? int64_t{1} : guessed);
  }
  if (!AllKnown(sizes)) return "";
  return absl::StrCat("tensordesc<", element, "[", absl::StrJoin(sizes, ", "), "]>");
}

}  // namespace kernelmill::compiler
