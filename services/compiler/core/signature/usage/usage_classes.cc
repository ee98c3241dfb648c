// Of UsageFinder: what a value is, as far as its expression tells.
#include <algorithm>

#include "absl/strings/match.h"
#include "services/compiler/core/signature/usage/calls.h"
#include "services/compiler/core/signature/usage/usage_scope.h"

namespace kernelmill::compiler {

using Kind = Expression::Kind;

ConstexprUsage* UsageFinder::ConstexprOf(Scope& scope, const Expression& expression) {
  if (expression.kind != Kind::kName) return nullptr;
  const int at = scope.function.Find(expression.name);
  return at < 0 ? nullptr : &scope.usage.constexprs[static_cast<size_t>(at)];
}

UsageFinder::Class UsageFinder::ClassOf(Scope& scope, const Expression& expression, int depth) {
  if (--steps_left_ < 0 || depth > 40) return Class::kUnknown;
  const auto& parts = expression.parts;
  switch (expression.kind) {
    case Kind::kNumber:
      return IsFloatLiteral(expression.text) ? Class::kFloat : Class::kInt;
    case Kind::kConstant:
      return expression.name == "None" ? Class::kUnknown : Class::kBool;
    case Kind::kCompare:
      return Class::kBool;
    case Kind::kName: {
      const auto [known, fresh] = scope.classes.emplace(expression.name, Class::kUnknown);
      if (!fresh) return known->second;
      const auto values = scope.function.values.find(expression.name);
      if (values == scope.function.values.end()) return Class::kUnknown;
      Class found = Class::kUnknown;
      if (scope.function.loop_names.contains(expression.name)) {
        found = Class::kInt;
      } else {
        for (const Expression* value : values->second) {
          const Class one = ClassOf(scope, *value, depth + 1);
          if (one == Class::kFloat || found == Class::kUnknown) found = one;
        }
      }
      return scope.classes[expression.name] = found;
    }
    case Kind::kUnary:
      return expression.name == "not" ? Class::kBool : ClassOf(scope, *parts[0], depth + 1);
    case Kind::kSubscript:
      return ClassOf(scope, *parts[0], depth + 1);
    case Kind::kConditional: {
      const Class one = ClassOf(scope, *parts[0], depth + 1);
      return one == Class::kUnknown ? ClassOf(scope, *parts[2], depth + 1) : one;
    }
    case Kind::kBinary: {
      const Class left = ClassOf(scope, *parts[0], depth + 1);
      const Class right = ClassOf(scope, *parts[1], depth + 1);
      if (expression.name == "/") return Class::kFloat;
      if (left == Class::kFloat || right == Class::kFloat) return Class::kFloat;
      if (expression.name == "//" || expression.name == "<<" || expression.name == ">>")
        return Class::kInt;
      if (left == right) return left;
      const bool bitwise = expression.name == "&" || expression.name == "|";
      if (bitwise && (left == Class::kBool || right == Class::kBool)) return Class::kBool;
      // n * BLOCK: of what is unknown, an index makes an index more often than not; a literal says
      // nothing.
      // A sum of what is unknown may be an address.
      if (expression.name != "*" && expression.name != "%") return Class::kUnknown;
      if (left == Class::kInt && parts[0]->kind != Kind::kNumber) return Class::kInt;
      if (right == Class::kInt && parts[1]->kind != Kind::kNumber) return Class::kInt;
      return Class::kUnknown;
    }
    case Kind::kCall:
      return ClassOfCall(scope, expression, depth);
    default:
      return Class::kUnknown;
  }
}

UsageFinder::Class UsageFinder::ClassOfCall(Scope& scope, const Expression& call, int depth) {
  const Expression& callee = *call.parts[0];
  const absl::string_view name = LastName(call);
  if (name == "to" || name == "cast" || name == "zeros" || name == "full") {
    const size_t position = name == "to" ? 0 : name == "full" ? 2 : 1;
    const Expression* type = Argument(call, "dtype", position);
    if (type == nullptr) return Class::kUnknown;
    const absl::string_view to = LastName(*type);
    if (to == "int1") return Class::kBool;
    if (absl::StartsWith(to, "int") || absl::StartsWith(to, "uint")) return Class::kInt;
    if (absl::StartsWith(to, "float") || absl::StartsWith(to, "bfloat")) return Class::kFloat;
    return Class::kUnknown;
  }
  const CallTraits traits = TraitsOf(name);
  if (traits.gives_index) return Class::kInt;
  if (traits.floats) return Class::kFloat;
  if (name == "where" && call.parts.size() > 3) {
    const Class one = ClassOf(scope, *call.parts[2], depth + 1);
    const Class two = ClassOf(scope, *call.parts[3], depth + 1);
    return one == two ? one : Class::kUnknown;
  }
  if (!traits.passes) return Class::kUnknown;
  if (callee.kind == Kind::kAttribute && IsMethodOfValue(scope.function, callee)) {
    return ClassOf(scope, *callee.parts[0], depth + 1);
  }
  return call.parts.size() > 1 ? ClassOf(scope, *call.parts[1], depth + 1) : Class::kUnknown;
}

bool UsageFinder::IsScaled(Scope& scope, const Expression& value, int depth) {
  if (--steps_left_ < 0 || depth > 10) return false;
  if (value.kind == Kind::kName) {
    const auto values = scope.function.values.find(value.name);
    if (values == scope.function.values.end()) return false;
    return std::any_of(values->second.begin(), values->second.end(), [&](const Expression* one) {
      return one->kind != Kind::kName && IsScaled(scope, *one, depth + 1);
    });
  }
  if (value.kind != Kind::kBinary || value.name != "*") return false;
  return IsLoaded(scope, *value.parts[0]) || IsLoaded(scope, *value.parts[1]);
}

bool UsageFinder::IsLoaded(const Scope& scope, const Expression& value) const {
  const auto is_load = [](const Expression& one) {
    return one.kind == Kind::kCall && LastName(one) == "load";
  };
  if (value.kind != Kind::kName) return is_load(value);
  const auto values = scope.function.values.find(value.name);
  return values != scope.function.values.end() &&
         std::any_of(values->second.begin(), values->second.end(),
                     [&](const Expression* one) { return is_load(*one); });
}

bool UsageFinder::LeadsToPointer(Scope& scope, const Expression& expression, int depth) {
  if (--steps_left_ < 0 || depth > 20) return false;
  if (expression.kind == Kind::kName) {
    const int at = scope.function.Find(expression.name);
    if (at >= 0)
      return scope.usage.arguments[static_cast<size_t>(at)].pointer ||
             NamesPointer(expression.name);
    const auto values = scope.function.values.find(expression.name);
    if (values == scope.function.values.end()) return false;
    return std::any_of(values->second.begin(), values->second.end(), [&](const Expression* value) {
      return value != &expression && LeadsToPointer(scope, *value, depth + 4);
    });
  }
  if (expression.kind == Kind::kBinary && (expression.name == "+" || expression.name == "-")) {
    return LeadsToPointer(scope, *expression.parts[0], depth + 1) ||
           LeadsToPointer(scope, *expression.parts[1], depth + 1);
  }
  return false;
}

}  // namespace kernelmill::compiler
