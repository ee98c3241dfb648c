#include "services/compiler/core/signature/usage/usage.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "services/compiler/core/signature/usage/calls.h"
#include "services/compiler/core/signature/usage/usage_scope.h"

namespace kernelmill::compiler {

using Kind = Expression::Kind;

const FunctionUsage& UsageFinder::Of(const Function& function) {
  std::unique_ptr<FunctionUsage>& known = known_[&function];
  if (known != nullptr) return *known;
  known = std::make_unique<FunctionUsage>();
  FunctionUsage& usage = *known;
  usage.arguments.resize(function.parameters.size());
  usage.constexprs.resize(function.parameters.size());
  if (calls_ >= kMaxCalls) return usage;
  ++calls_;
  Scope scope{function, usage, {}, {}};
  for (const Statement& statement : function.statements) {
    if (statement.kind == Statement::kCondition) VisitCondition(scope, *statement.value);
    if (statement.target != nullptr) Walk(scope, *statement.target);
    Walk(scope, *statement.value);
  }
  VisitAlternatives(scope);
  --calls_;
  return usage;
}

void UsageFinder::Walk(Scope& scope, const Expression& expression) {
  if (--steps_left_ < 0) return;
  switch (expression.kind) {
    case Kind::kCall:
      VisitCall(scope, expression);
      break;
    case Kind::kBinary:
      VisitBinary(scope, expression);
      break;
    case Kind::kCompare:
      VisitCompare(scope, expression);
      break;
    case Kind::kConditional:
      VisitCondition(scope, *expression.parts[1]);
      break;
    case Kind::kAttribute:
      // x.dtype.element_ty: only pointers and descriptors have one.
      if (expression.name == "element_ty" && expression.parts[0]->kind == Kind::kAttribute &&
          expression.parts[0]->name == "dtype") {
        Require(scope, *expression.parts[0]->parts[0], 1, Need::kAny, "usage:element_type");
      }
      break;
    case Kind::kSubscript:
      VisitSubscript(scope, *expression.parts[0], *expression.parts[1]);
      break;
    default:
      break;
  }
  for (const Expression* part : expression.parts) Walk(scope, *part);
}

void UsageFinder::VisitSubscript(Scope& scope, const Expression& of, const Expression& index) {
  const auto added = std::count_if(index.parts.begin(), index.parts.end(),
                                   [](const Expression* part) { return part->text == "None"; });
  if (added >= 2) scope.usage.three_dimensional = true;
  VisitPlace(scope, of, index);
}

// x[0], x[i] of a loop that is unrolled: tensors are not indexed so.
void UsageFinder::VisitPlace(Scope& scope, const Expression& of, const Expression& index) {
  const int at = of.kind == Kind::kName ? scope.function.Find(of.name) : -1;
  if (at < 0 || scope.function.values.contains(of.name)) return;
  TuplePlaces& places = scope.usage.arguments[static_cast<size_t>(at)].places;
  int64_t place = 0;
  if (index.kind == Kind::kNumber && absl::SimpleAtoi(index.text, &place) &&
      place < TuplePlaces::kMost) {
    places.count = std::max(places.count, place + 1);
  }
  if (index.kind != Kind::kName) return;
  if (ConstexprUsage* usage = ConstexprOf(scope, index)) {
    usage->place = true;
    places.count = std::max<int64_t>(places.count, 1);
  }
  const auto values = scope.function.values.find(index.name);
  if (values == scope.function.values.end() || LastName(*values->second[0]) != "static_range")
    return;
  const Expression& range = *values->second[0];
  if (range.kind != Kind::kCall || range.parts.size() < 2) return;
  const Expression& end = *range.parts[range.parts.size() > 2 ? 2 : 1];
  places.count =
      std::max(places.count, std::clamp<int64_t>(NumberOf(scope, end), 1, TuplePlaces::kMost));
  if (ConstexprOf(scope, end) != nullptr) places.constexpr_name = end.name;
}

void UsageFinder::VisitCall(Scope& scope, const Expression& call) {
  const Expression& callee = *call.parts[0];
  const absl::string_view name = LastName(call);
  if (ConstexprUsage* usage = ConstexprOf(scope, callee)) usage->called = true;
  for (size_t i = 1; i < call.parts.size(); ++i) {
    if (call.parts[i]->kind != Kind::kKeyword) continue;
    ConstexprUsage* usage = ConstexprOf(scope, *call.parts[i]->parts[0]);
    if (usage == nullptr) continue;
    if (usage->keyword.empty()) usage->keyword = call.parts[i]->name;
    if (absl::StrContains(call.parts[i]->name, "dtype")) usage->dtype = true;
  }
  if (callee.kind == Kind::kName) {
    if (const Function* helper = module_.Find(name)) return VisitHelper(scope, call, *helper);
  }
  if (VisitMemory(scope, call, name)) return;
  if (name == "to" || name == "cast") return VisitCast(scope, call);
  if (name == "make_block_ptr" || name == "make_tensor_descriptor") {
    return VisitDescriptor(scope, call);
  }
  if (callee.kind == Kind::kAttribute && (name == "__lshift__" || name == "__rshift__")) {
    Require(scope, *callee.parts[0], 0, Need::kBits, "usage:bitwise");
  }
  const CallTraits traits = TraitsOf(name);
  for (size_t i = 1; i < call.parts.size(); ++i) {
    const Expression* part = call.parts[i];
    const Expression& value = part->kind == Kind::kKeyword ? *part->parts[0] : *part;
    if (traits.numbers) NeedNumbers(scope, value, traits.rule);
    if (traits.floats && part->kind != Kind::kKeyword) {
      Require(scope, value, 0, Need::kFloat, "usage:math");
    }
  }
  if (traits.shape) {
    for (size_t i = 1; i < call.parts.size(); ++i) VisitShape(scope, *call.parts[i]);
  }
  if (name == "reshape" || name == "view") VisitReshape(scope, call);
  if (name == "arange") VisitArange(scope, call);
  if (name == "dot_scaled") VisitDotScaled(scope, call);
  if (name == "dot") VisitDot(scope, call, Argument(call, "acc", 2));
  if (name == "static_assert" && call.parts.size() > 1) VisitAssertion(scope, *call.parts[1]);
  if (name == "static_range") {
    for (size_t i = 1; i < call.parts.size(); ++i) {
      if (ConstexprUsage* usage = ConstexprOf(scope, *call.parts[i])) usage->unrolled = true;
    }
  }
  if (name == "where") {
    if (const Expression* condition = Argument(call, "condition", 0)) {
      Require(scope, *condition, 0, Need::kBool, "usage:condition");
    }
  }
  if ((name == "zeros" || name == "full")) {
    const Expression* dtype = Argument(call, "dtype", name == "full" ? 2 : 1);
    if (ConstexprUsage* usage = dtype ? ConstexprOf(scope, *dtype) : nullptr) usage->dtype = true;
  }
}

void UsageFinder::VisitHelper(Scope& scope, const Expression& call, const Function& helper) {
  const FunctionUsage& usage = Of(helper);
  scope.usage.three_dimensional |= usage.three_dimensional;
  AddEquationsOf(scope, call, helper, usage.equations);
  for (size_t i = 0; i < helper.parameters.size(); ++i) {
    const Expression* argument = Argument(call, helper.parameters[i].name, i);
    if (argument == nullptr) continue;
    const ArgumentUsage& asked = usage.arguments[i];
    for (size_t level = 0; level < ArgumentUsage::kLevels; ++level) {
      const ArgumentUsage::Level& at = asked.levels[level];
      if (!at.rule.empty()) Require(scope, *argument, level, at.need, at.rule);
    }
    if (argument->kind == Kind::kName) {
      const int at = scope.function.Find(argument->name);
      if (at >= 0) {
        ArgumentUsage& own = scope.usage.arguments[static_cast<size_t>(at)];
        own.descriptor |= asked.descriptor;
        own.none_checked |= asked.none_checked;
        own.places.count = std::max(own.places.count, asked.places.count);
        if (own.element.empty()) own.element = asked.element;
        for (size_t d = 0; own.block.size() < asked.block.size(); ++d) {
          const int step = helper.Find(asked.block[d]);
          const Expression* given =
              step < 0 ? nullptr : Argument(call, asked.block[d], static_cast<size_t>(step));
          const bool named = given != nullptr && given->kind == Kind::kName;
          own.block.push_back(named ? given->name : absl::string_view());
        }
        if (usage.unit_strides.contains(helper.parameters[i].name)) {
          scope.usage.unit_strides.insert(argument->name);
        }
      }
    }
    if (usage.constexprs[i].least > 0) RequireLeast(scope, *argument, usage.constexprs[i].least);
    ConstexprUsage* own = ConstexprOf(scope, *argument);
    if (own == nullptr) continue;
    const ConstexprUsage& theirs = usage.constexprs[i];
    own->condition |= theirs.condition;
    own->dtype |= theirs.dtype;
    own->shape |= theirs.shape;
    own->unrolled |= theirs.unrolled;
    own->number |= theirs.number;
    own->integer |= theirs.integer;
    own->called |= theirs.called;
    own->none_checked |= theirs.none_checked;
    own->compared.insert(own->compared.end(), theirs.compared.begin(), theirs.compared.end());
    own->choices.insert(own->choices.end(), theirs.choices.begin(), theirs.choices.end());
    if (own->asserted.empty()) own->asserted = theirs.asserted;
    if (own->keyword.empty() || own->keyword == helper.parameters[i].name)
      own->keyword = theirs.keyword;
  }
}

void UsageFinder::VisitBinary(Scope& scope, const Expression& expression) {
  const absl::string_view sign = expression.name;
  const Expression& left = *expression.parts[0];
  const Expression& right = *expression.parts[1];
  for (const Expression* part : expression.parts) {
    if (ConstexprUsage* usage = ConstexprOf(scope, *part)) {
      usage->number = true;
      usage->integer |= sign == "//" || sign == "%" || sign == "<<" || sign == ">>";
    }
    const Expression& other = *expression.parts[part == expression.parts[0] ? 1 : 0];
    if (sign == "+" && part->kind == Kind::kCall && LastName(*part) == "dot") {
      VisitDot(scope, *part, &other);
    }
  }
  if (sign == "//" || sign == "<<" || sign == ">>") {
    const absl::string_view rule = sign == "//" ? "usage:divides" : "usage:bitwise";
    const Need need = sign == "//" ? Need::kIndex : Need::kBits;
    Require(scope, left, 0, need, rule);
    Require(scope, right, 0, need, rule);
  } else if (sign == "%") {
    Require(scope, left, 0, Need::kInt, "usage:divides");
    Require(scope, right, 0, Need::kInt, "usage:divides");
  } else if (sign == "&" || sign == "|" || sign == "^") {
    const bool boolean =
        ClassOf(scope, left) == Class::kBool || ClassOf(scope, right) == Class::kBool;
    const Need need = boolean ? Need::kBool : Need::kBits;
    Require(scope, left, 0, need, boolean ? "usage:mask" : "usage:bitwise");
    Require(scope, right, 0, need, boolean ? "usage:mask" : "usage:bitwise");
  } else if (sign == "*" || sign == "/" || sign == "+" || sign == "-") {
    // Of scalars alone: what floats are multiplied with.
    for (size_t i = 0; i < 2; ++i) {
      const Expression& other = *expression.parts[1 - i];
      if (expression.parts[i]->kind == Kind::kName && ClassOf(scope, other) == Class::kFloat &&
          scope.function.Find(expression.parts[i]->name) >= 0) {
        Require(scope, *expression.parts[i], 0, Need::kStoredFloat, "usage:arithmetic");
      }
    }
  }
}

void UsageFinder::VisitCompare(Scope& scope, const Expression& expression) {
  for (size_t i = 0; i < 2; ++i) {
    const Expression& one = *expression.parts[i];
    const Expression& other = *expression.parts[1 - i];
    if (expression.name == "is" || expression.name == "is not" || other.text == "None") {
      const int at = one.kind == Kind::kName ? scope.function.Find(one.name) : -1;
      if (other.text == "None" && at >= 0) {
        scope.usage.arguments[static_cast<size_t>(at)].none_checked = true;
        scope.usage.constexprs[static_cast<size_t>(at)].none_checked = true;
      }
      continue;
    }
    if (ConstexprUsage* usage = ConstexprOf(scope, one)) {
      const bool literal = other.kind == Kind::kString || other.kind == Kind::kNumber ||
                           other.kind == Kind::kConstant || other.kind == Kind::kAttribute ||
                           IsOfModule(scope, other);
      if (literal && usage->compared.size() < 32) usage->compared.push_back(&other);
      if (!literal) usage->number = true;
      if (expression.name == "==" && other.kind == Kind::kNumber && usage->choices.size() < 32) {
        usage->choices.push_back(&other);
      }
    }
  }
  // x < index says that x is an integer, x < 0 nothing; x == 0 does, x == index says nothing.
  const bool ordered = expression.name[0] == '<' || expression.name[0] == '>';
  for (size_t i = 0; i < 2; ++i) {
    const Expression& other = *expression.parts[1 - i];
    const bool literal = other.kind == Kind::kNumber;
    if (ordered == literal || ClassOf(scope, other) != Class::kInt) continue;
    Require(scope, *expression.parts[i], 0, ordered ? Need::kInt : Need::kStoredInt,
            "usage:compared");
  }
}

// A constant that the module names.
bool UsageFinder::IsOfModule(const Scope& scope, const Expression& name) const {
  return name.kind == Kind::kName && scope.function.Find(name.name) < 0 &&
         !scope.function.values.contains(name.name) &&
         module_.module_level().values.contains(name.name);
}

void UsageFinder::VisitCondition(Scope& scope, const Expression& expression) {
  if (--steps_left_ < 0) return;
  if (expression.kind == Kind::kBoolean ||
      (expression.kind == Kind::kUnary && expression.name == "not")) {
    for (const Expression* part : expression.parts) VisitCondition(scope, *part);
  } else if (expression.kind == Kind::kName) {
    if (ConstexprUsage* usage = ConstexprOf(scope, expression)) usage->condition = true;
    Require(scope, expression, 0, Need::kBool, "usage:condition");
  }
}

// What tensors are shaped by: names in it, and what they are made of.
void UsageFinder::VisitShape(Scope& scope, const Expression& expression) {
  if (--steps_left_ < 0) return;
  if (expression.kind == Kind::kName) {
    if (ConstexprUsage* usage = ConstexprOf(scope, expression)) {
      usage->shape = true;
    } else {
      RequireLeast(scope, expression, 1);
    }
    return;
  }
  if (expression.kind != Kind::kSequence && expression.kind != Kind::kKeyword &&
      expression.kind != Kind::kBinary) {
    return;
  }
  if (expression.name == "//") RequireLeast(scope, expression, 1);
  for (const Expression* part : expression.parts) VisitShape(scope, *part);
}

// Integers: each part of a list.
void UsageFinder::NeedNumbers(Scope& scope, const Expression& expression, absl::string_view rule) {
  if (expression.kind == Kind::kSequence) {
    for (const Expression* part : expression.parts) NeedNumbers(scope, *part, rule);
    return;
  }
  if (ConstexprUsage* usage = ConstexprOf(scope, expression)) {
    usage->number = usage->integer = true;
  }
  Require(scope, expression, 0, Need::kIndex, rule);
}

}  // namespace kernelmill::compiler
