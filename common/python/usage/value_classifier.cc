#include "common/python/usage/value_classifier.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "common/python/usage/triton_calls.h"

namespace kernelmill::python {
namespace {

constexpr int kMaxDepth = 40;    // an expression with the values of its names
constexpr int kMaxFactors = 10;  // names in one another, up to a product

}  // namespace

// A name has the class of its values, a float if one is a
// float; the class of a name that is being classified is unknown, which ends cycles.
ValueClass ValueClassifier::Classify(const Expression& expression, int depth) {
  if (--steps_left_ < 0 || depth > kMaxDepth) return ValueClass::kUnknown;
  const auto& parts = expression.parts;
  switch (expression.kind) {
    case Expression::kNumber:
      return IsFloatLiteral(expression.text) ? ValueClass::kFloat : ValueClass::kInt;
    case Expression::kConstant:
      return expression.name == "None" ? ValueClass::kUnknown : ValueClass::kBool;
    case Expression::kCompare:
      return ValueClass::kBool;
    case Expression::kName: {
      const auto [known, fresh] = classes_.emplace(expression.name, ValueClass::kUnknown);
      if (!fresh) return known->second;
      const auto values = function_.values.find(expression.name);
      if (values == function_.values.end()) return ValueClass::kUnknown;
      ValueClass found = ValueClass::kUnknown;
      if (function_.loop_names.contains(expression.name)) {
        found = ValueClass::kInt;
      } else {
        for (const Expression* value : values->second) {
          const ValueClass one = Classify(*value, depth + 1);
          if (one == ValueClass::kFloat || found == ValueClass::kUnknown) found = one;
        }
      }
      return classes_[expression.name] = found;
    }
    case Expression::kUnary:
      return expression.name == "not" ? ValueClass::kBool : Classify(*parts[0], depth + 1);
    case Expression::kSubscript:
      return Classify(*parts[0], depth + 1);
    case Expression::kConditional: {
      const ValueClass one = Classify(*parts[0], depth + 1);
      return one == ValueClass::kUnknown ? Classify(*parts[2], depth + 1) : one;
    }
    case Expression::kBinary: {
      const ValueClass left = Classify(*parts[0], depth + 1);
      const ValueClass right = Classify(*parts[1], depth + 1);
      if (expression.name == "/") return ValueClass::kFloat;
      if (left == ValueClass::kFloat || right == ValueClass::kFloat) return ValueClass::kFloat;
      if (expression.name == "//" || expression.name == "<<" || expression.name == ">>")
        return ValueClass::kInt;
      if (left == right) return left;
      const bool bitwise = expression.name == "&" || expression.name == "|";
      if (bitwise && (left == ValueClass::kBool || right == ValueClass::kBool))
        return ValueClass::kBool;
      // n * BLOCK: an unknown value times an index is most often an index; a literal says nothing.
      // A sum with an unknown value may be an address.
      if (expression.name != "*" && expression.name != "%") return ValueClass::kUnknown;
      if (left == ValueClass::kInt && parts[0]->kind != Expression::kNumber)
        return ValueClass::kInt;
      if (right == ValueClass::kInt && parts[1]->kind != Expression::kNumber)
        return ValueClass::kInt;
      return ValueClass::kUnknown;
    }
    case Expression::kCall:
      return ClassifyCall(expression, depth);
    default:
      return ValueClass::kUnknown;
  }
}

// Casts and constructors say the class by their dtype; most other functions by their traits.
ValueClass ValueClassifier::ClassifyCall(const Expression& call, int depth) {
  const Expression& callee = *call.parts[0];
  const absl::string_view name = LastName(call);
  if (name == "to" || name == "cast" || name == "zeros" || name == "full") {
    const size_t position = name == "to" ? 0 : name == "full" ? 2 : 1;
    const Expression* type = FindArgument(call, "dtype", position);
    if (type == nullptr) return ValueClass::kUnknown;
    const absl::string_view to = LastName(*type);
    if (to == "int1") return ValueClass::kBool;
    if (absl::StartsWith(to, "int") || absl::StartsWith(to, "uint")) return ValueClass::kInt;
    if (absl::StartsWith(to, "float") || absl::StartsWith(to, "bfloat")) return ValueClass::kFloat;
    return ValueClass::kUnknown;
  }
  const CallTraits traits = GetCallTraits(name);
  if (traits.gives_index) return ValueClass::kInt;
  if (traits.floats) return ValueClass::kFloat;
  if (name == "where" && call.parts.size() > 3) {
    const ValueClass one = Classify(*call.parts[2], depth + 1);
    const ValueClass two = Classify(*call.parts[3], depth + 1);
    return one == two ? one : ValueClass::kUnknown;
  }
  if (!traits.passes) return ValueClass::kUnknown;
  if (callee.kind == Expression::kAttribute && IsMethodOfValue(function_, callee)) {
    return Classify(*callee.parts[0], depth + 1);
  }
  return call.parts.size() > 1 ? Classify(*call.parts[1], depth + 1) : ValueClass::kUnknown;
}

// Returns whether the value is a product with something that was loaded.
bool ValueClassifier::IsScaled(const Expression& value, int depth) {
  if (--steps_left_ < 0 || depth > kMaxFactors) return false;
  if (value.kind == Expression::kName) {
    const auto values = function_.values.find(value.name);
    if (values == function_.values.end()) return false;
    return std::any_of(values->second.begin(), values->second.end(), [&](const Expression* one) {
      return one->kind != Expression::kName && IsScaled(*one, depth + 1);
    });
  }
  if (value.kind != Expression::kBinary || value.name != "*") return false;
  return IsLoaded(*value.parts[0]) || IsLoaded(*value.parts[1]);
}

// Returns whether the value is a load, or a name with a load among its values.
bool ValueClassifier::IsLoaded(const Expression& value) const {
  const auto is_load = [](const Expression& one) {
    return one.kind == Expression::kCall && LastName(one) == "load";
  };
  if (value.kind != Expression::kName) return is_load(value);
  const auto values = function_.values.find(value.name);
  return values != function_.values.end() &&
         std::any_of(values->second.begin(), values->second.end(),
                     [&](const Expression* one) { return is_load(*one); });
}

}  // namespace kernelmill::python
