// Of UsageFinder: a need is followed back to the parameters that a value is made of.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "services/compiler/core/signature/usage/calls.h"
#include "services/compiler/core/signature/usage/usage_scope.h"

namespace kernelmill::compiler {

using Kind = Expression::Kind;

void UsageFinder::Require(Scope& scope, const Expression& expression, size_t level, Need need,
                          absl::string_view rule) {
  if (--steps_left_ < 0 || level >= ArgumentUsage::kLevels) return;
  const auto& parts = expression.parts;
  switch (expression.kind) {
    case Kind::kName:
      return RequireName(scope, expression.name, level, need, rule);
    case Kind::kSubscript:
      return Require(scope, *parts[0], level, need, rule);
    case Kind::kConditional:
      Require(scope, *parts[0], level, need, rule);
      return Require(scope, *parts[2], level, need, rule);
    case Kind::kUnary:
      if (expression.name == "-" || expression.name == "~")
        Require(scope, *parts[0], level, need, rule);
      return;
    case Kind::kCall:
      return RequireOfCall(scope, expression, level, need, rule);
    case Kind::kBinary:
      break;
    default:
      return;
  }
  if (level > 0) {
    if (expression.name != "+" && expression.name != "-") return;
    const bool right =
        expression.name == "+" && !LeadsToPointer(scope, *parts[0]) &&
        (LeadsToPointer(scope, *parts[1]) ||
         (ClassOf(scope, *parts[0]) == Class::kInt && ClassOf(scope, *parts[1]) != Class::kInt));
    Require(scope, *parts[right ? 1 : 0], level, need, rule);
    return Require(scope, *parts[right ? 0 : 1], 0, Need::kIndex, "usage:offset");
  }
  // Floats come of floats and integers alike, and so do true quotients.
  const bool passes =
      need == Need::kBool
          ? expression.name == "&" || expression.name == "|" || expression.name == "^"
          : need == Need::kInt || need == Need::kIndex || need == Need::kBits;
  if (!passes || expression.name == "/" || expression.name == "@") return;
  for (const Expression* part : parts)
    Require(scope, *part, 0, need == Need::kBits ? Need::kIndex : need, rule);
}

void UsageFinder::RequireName(Scope& scope, absl::string_view name, size_t level, Need need,
                              absl::string_view rule) {
  if (!scope.followed.insert(absl::StrCat(name, " ", level, " ", static_cast<int>(need))).second) {
    return;
  }
  const int at = scope.function.Find(name);
  if (at >= 0) {
    ArgumentUsage& usage = scope.usage.arguments[static_cast<size_t>(at)];
    usage.pointer |= level > 0;
    ArgumentUsage::Level& known = usage.levels[level];
    if (known.rule.empty() || need > known.need) known = {need, rule};
  }
  const auto values = scope.function.values.find(name);
  if (values == scope.function.values.end()) return;
  if (scope.function.loop_names.contains(name) && level == 0) return;
  for (const Expression* value : values->second) Require(scope, *value, level, need, rule);
}

void UsageFinder::RequireOfCall(Scope& scope, const Expression& call, size_t level, Need need,
                                absl::string_view rule) {
  const Expression& callee = *call.parts[0];
  const absl::string_view name = LastName(call);
  const bool method = callee.kind == Kind::kAttribute && IsMethodOfValue(scope.function, callee);
  if (callee.kind == Kind::kName) {
    if (const Function* helper = module_.Find(name)) {
      return RequireOfReturn(scope, call, *helper, level, need, rule);
    }
  }
  const MemoryAccess access = MemoryAccessOf(name);
  if (access == MemoryAccess::kLoad || access == MemoryAccess::kAtomic ||
      access == MemoryAccess::kBitwise) {
    const Expression* address = method ? callee.parts[0] : Argument(call, "pointer", 0);
    if (address != nullptr) Require(scope, *address, level + 1, need, rule);
    return;
  }
  if (name == "where") {
    for (size_t i : {1, 2}) {
      if (const Expression* value = Argument(call, i == 1 ? "x" : "y", i))
        Require(scope, *value, level, need, rule);
    }
    return;
  }
  if ((name == "to" || name == "cast") && need == Need::kBits) {  // the type that is cast to
    const Expression* type = Argument(call, "dtype", method ? 0 : 1);
    ConstexprUsage* usage = type == nullptr ? nullptr : ConstexprOf(scope, *type);
    if (usage != nullptr) usage->integer = true;
  }
  if ((name == "to" || name == "cast") && level > 0) {
    const Expression* value = method ? callee.parts[0] : Argument(call, "input", 0);
    const Expression* type = Argument(call, "dtype", method ? 0 : 1);
    // A pointer stays one; only an integer's type has pointer_type in it, which VisitCast sees.
    if (value != nullptr && type != nullptr && LastName(*type) != "pointer_type") {
      Require(scope, *value, level, need, rule);
    }
    return;
  }
  const CallTraits traits = TraitsOf(name);
  if (!traits.passes) return;
  if (method) return Require(scope, *callee.parts[0], level, need, rule);
  if (call.parts.size() < 2) return;
  const size_t count = traits.passes_two ? 2 : 1;
  for (size_t i = 1; i < call.parts.size() && i <= count; ++i) {
    const Expression* part = call.parts[i];
    Require(scope, part->kind == Kind::kKeyword ? *part->parts[0] : *part, level, need, rule);
  }
}

// What a helper gives back is made of its parameters: their arguments need what that needs.
void UsageFinder::RequireOfReturn(Scope& scope, const Expression& call, const Function& helper,
                                  size_t level, Need need, absl::string_view rule) {
  if (calls_ >= kMaxCalls) return;
  ++calls_;
  FunctionUsage usage;
  usage.arguments.resize(helper.parameters.size());
  usage.constexprs.resize(helper.parameters.size());
  Scope inner{helper, usage, {}, {}};
  for (const Statement& statement : helper.statements) {
    if (statement.kind == Statement::kReturn) Require(inner, *statement.value, level, need, rule);
  }
  --calls_;
  for (size_t i = 0; i < helper.parameters.size(); ++i) {
    const Expression* argument = Argument(call, helper.parameters[i].name, i);
    if (argument == nullptr) continue;
    for (size_t at = 0; at < ArgumentUsage::kLevels; ++at) {
      const ArgumentUsage::Level& asked = usage.arguments[i].levels[at];
      if (!asked.rule.empty()) Require(scope, *argument, at, asked.need, asked.rule);
    }
  }
}

// The number that an expression is: a literal, a parameter's default, or a name of one; 0: none.
int64_t UsageFinder::NumberOf(Scope& scope, const Expression& expression, int depth) {
  if (--steps_left_ < 0 || depth > 4) return 0;
  if (expression.kind == Kind::kNumber) {
    int64_t number = 0;
    return absl::SimpleAtoi(expression.text, &number) && number > 0 ? number : 0;
  }
  if (expression.kind == Kind::kCall && LastName(expression) == "constexpr") {
    const Expression* value = Argument(expression, "value", 0);
    return value == nullptr ? 0 : NumberOf(scope, *value, depth + 1);
  }
  if (expression.kind != Kind::kName) return 0;
  if (const int at = scope.function.Find(expression.name); at >= 0) {
    const Expression* own = scope.function.parameters[static_cast<size_t>(at)].default_value;
    return own == nullptr ? 0 : NumberOf(scope, *own, depth + 1);
  }
  for (const Function* function : {&scope.function, &module_.module_level()}) {
    const auto values = function->values.find(expression.name);
    if (values == function->values.end()) continue;
    return values->second.size() == 1 ? NumberOf(scope, *values->second[0], depth + 1) : 0;
  }
  return 0;
}

// The parameter that a size is a quotient or a product of is so large that the size is `least`.
void UsageFinder::RequireLeast(Scope& scope, const Expression& size, int64_t least, int depth) {
  static constexpr int64_t kMostLeast = 1024;  // larger ones are no sizes of blocks
  if (--steps_left_ < 0 || depth > 12 || least > kMostLeast) return;
  if (ConstexprUsage* usage = ConstexprOf(scope, size)) {
    usage->least = std::max(usage->least, least);
  } else if (size.kind == Kind::kName) {
    const auto values = scope.function.values.find(size.name);
    if (values == scope.function.values.end() || values->second.size() != 1) return;
    RequireLeast(scope, *values->second[0], least, depth + 1);
  } else if (size.kind == Kind::kBinary && (size.name == "//" || size.name == "*")) {
    const int64_t number = NumberOf(scope, *size.parts[1]);
    if (number <= 0 || number > kMostLeast) return;
    const int64_t of_left = size.name == "//" ? least * number : (least + number - 1) / number;
    RequireLeast(scope, *size.parts[0], of_left, depth + 1);
  }
}

}  // namespace kernelmill::compiler
