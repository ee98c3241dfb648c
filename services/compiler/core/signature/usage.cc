#include "services/compiler/core/signature/usage.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/compiler/core/signature/calls.h"

namespace kernelmill::compiler {

using Kind = Expression::Kind;

struct UsageFinder::Scope {
  const Function& function;
  FunctionUsage& usage;
  absl::flat_hash_set<std::string> followed;  // names with level and need
  absl::flat_hash_map<absl::string_view, Class> classes;
};

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
    default:
      break;
  }
  for (const Expression* part : expression.parts) Walk(scope, *part);
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

// Scales are bytes, and so are two numbers of the format e2m1.
void UsageFinder::VisitDotScaled(Scope& scope, const Expression& call) {
  static constexpr absl::string_view kSides[] = {"lhs", "rhs"};
  for (size_t side = 0; side < 2; ++side) {
    const size_t first = 3 * side;
    const std::string name(kSides[side]);
    const Expression* scale = Argument(call, name + "_scale", first + 1);
    if (scale != nullptr) Require(scope, *scale, 0, Need::kUint8, "usage:dot_scaled");
    const Expression* format = Argument(call, name + "_format", first + 2);
    const Expression* value = Argument(call, name, first);
    if (value != nullptr && format != nullptr && absl::StrContains(format->text, "e2m1")) {
      Require(scope, *value, 0, Need::kUint8, "usage:dot_scaled");
    }
  }
}

// What is summed up in integers is multiplied as such.
void UsageFinder::VisitDot(Scope& scope, const Expression& call, const Expression* accumulator) {
  const Expression* out = Argument(call, "out_dtype", 5);
  const bool integers = (out != nullptr && LastName(*out) == "int32") ||
                        (accumulator != nullptr && ClassOf(scope, *accumulator) == Class::kInt);
  if (!integers) return;
  for (size_t i = 0; i < 2; ++i) {
    const Expression* operand = Argument(call, i == 0 ? "input" : "other", i);
    if (operand != nullptr) Require(scope, *operand, 0, Need::kInt8, "usage:dot");
  }
}

// The parameter whose element type an expression is: x.dtype.element_ty, or a name of that.
ArgumentUsage* UsageFinder::OfElementType(Scope& scope, const Expression& expression, int depth) {
  if (depth > 4 || --steps_left_ < 0) return nullptr;
  if (expression.kind == Kind::kAttribute && expression.name == "element_ty") {
    const Expression& type = *expression.parts[0];
    if (type.kind != Kind::kAttribute || type.parts[0]->kind != Kind::kName) return nullptr;
    const int at = scope.function.Find(type.parts[0]->name);
    return at < 0 ? nullptr : &scope.usage.arguments[static_cast<size_t>(at)];
  }
  const auto values = expression.kind == Kind::kName ? scope.function.values.find(expression.name)
                                                     : scope.function.values.end();
  if (values == scope.function.values.end() || values->second.size() != 1) return nullptr;
  return OfElementType(scope, *values->second[0], depth + 1);
}

// Of several types that are taken the first.
void UsageFinder::VisitAssertion(Scope& scope, const Expression& condition) {
  if (--steps_left_ < 0) return;
  if (condition.kind == Kind::kBoolean) {
    for (const Expression* part : condition.parts) VisitAssertion(scope, *part);
  } else if (condition.kind == Kind::kCompare && condition.name == "==") {
    ArgumentUsage* usage = OfElementType(scope, *condition.parts[0]);
    const absl::string_view type = LastName(*condition.parts[1]);
    if (usage != nullptr && usage->element.empty() && BitsOf(type) > 0) usage->element = type;
  }
}

// Loads, stores and atomics, as functions and as methods of descriptors.
bool UsageFinder::VisitMemory(Scope& scope, const Expression& call, absl::string_view name) {
  const MemoryAccess access = MemoryAccessOf(name);
  if (access == MemoryAccess::kNone) return false;
  const Expression& callee = *call.parts[0];
  const Expression* value = nullptr;
  const Expression* address = nullptr;
  if (callee.kind == Kind::kAttribute && IsMethodOfValue(scope.function, callee)) {
    address = callee.parts[0];
    value = Argument(call, "value", 1);
    const Expression* offsets = Argument(call, "offsets", 0);
    if (const int at = address->kind == Kind::kName ? scope.function.Find(address->name) : -1;
        at >= 0) {
      ArgumentUsage& usage = scope.usage.arguments[static_cast<size_t>(at)];
      usage.descriptor = true;
      if (offsets != nullptr && offsets->kind == Kind::kSequence)
        usage.dimensions = offsets->parts.size();
    }
    if (offsets != nullptr) NeedNumbers(scope, *offsets, "usage:offset");
  } else {
    address = call.parts.size() > 1 ? Argument(call, "pointer", 0) : nullptr;
    if (address == nullptr) address = Argument(call, "ptr", 0);
    value = Argument(call, access == MemoryAccess::kCompareAndSwap ? "cmp" : "value", 1);
    if (value == nullptr) value = Argument(call, "val", 1);
  }
  if (address == nullptr) return false;
  Need need = Need::kAny;
  if (access == MemoryAccess::kCompareAndSwap) need = Need::kIndex;
  if (access == MemoryAccess::kBitwise) need = Need::kBits;
  if (value != nullptr && (access == MemoryAccess::kStore || access == MemoryAccess::kAtomic)) {
    const Class stored = ClassOf(scope, *value);
    if (stored == Class::kInt) need = Need::kStoredInt;
    if (stored == Class::kBool) need = Need::kStoredBool;
    if (stored == Class::kFloat) need = Need::kStoredFloat;
  }
  Require(scope, *address, 1, need,
          access == MemoryAccess::kLoad || need == Need::kAny ? "usage:address"
          : access == MemoryAccess::kStore                    ? "usage:stored"
                                                              : "usage:atomic");
  const Expression* mask = Argument(call, "mask", access == MemoryAccess::kLoad ? 1 : 2);
  if (mask != nullptr && mask->kind != Kind::kKeyword && callee.kind == Kind::kAttribute &&
      access != MemoryAccess::kCompareAndSwap && !IsMethodOfValue(scope.function, callee)) {
    Require(scope, *mask, 0, Need::kBool, "usage:mask");
  }
  return true;
}

void UsageFinder::VisitDescriptor(Scope& scope, const Expression& call) {
  if (const Expression* base = Argument(call, "base", 0)) {
    Require(scope, *base, 1, Need::kAny, "usage:address");
  }
  static constexpr std::pair<absl::string_view, size_t> kLists[] = {
      {"shape", 1}, {"strides", 2}, {"offsets", 3}};
  for (const auto& [keyword, position] : kLists) {
    if (keyword == "offsets" && LastName(call) == "make_tensor_descriptor") continue;
    const Expression* list = Argument(call, keyword, position);
    if (list == nullptr) continue;
    NeedNumbers(scope, *list, "usage:shape");
    if (keyword == "strides" && LastName(call) == "make_tensor_descriptor" &&
        list->kind == Kind::kSequence && !list->parts.empty() &&
        list->parts.back()->kind == Kind::kName) {
      scope.usage.unit_strides.insert(list->parts.back()->name);
    }
  }
  const bool block = LastName(call) == "make_block_ptr";
  if (const Expression* shape = Argument(call, "block_shape", block ? 4 : 3))
    VisitShape(scope, *shape);
}

// x.to(T), tl.cast(x, T).
void UsageFinder::VisitCast(Scope& scope, const Expression& call) {
  const Expression& callee = *call.parts[0];
  const bool method = callee.kind == Kind::kAttribute && callee.name == "to";
  const Expression* value = method ? callee.parts[0] : Argument(call, "input", 0);
  const Expression* type = method ? Argument(call, "dtype", 0) : Argument(call, "dtype", 1);
  if (value == nullptr || type == nullptr) return;
  if (ConstexprUsage* usage = ConstexprOf(scope, *type)) usage->dtype = true;
  if (type->kind == Kind::kCall && LastName(*type) == "pointer_type") {
    return Require(scope, *value, 0, Need::kInt64, "usage:made_pointer");
  }
  const Expression* bitcast = Argument(call, "bitcast", method ? 2 : 3);
  if (bitcast == nullptr || bitcast->text != "True") return;
  const int bits = BitsOf(LastName(*type));
  const Need need = bits == 8    ? Need::kInt8
                    : bits == 16 ? Need::kInt16
                    : bits == 32 ? Need::kInt32
                                 : Need::kAny;
  if (need != Need::kAny) Require(scope, *value, 0, need, "usage:bitcast");
}

void UsageFinder::VisitHelper(Scope& scope, const Expression& call, const Function& helper) {
  const FunctionUsage& usage = Of(helper);
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
        if (own.element.empty()) own.element = asked.element;
        if (own.dimensions == 0) own.dimensions = asked.dimensions;
        if (usage.unit_strides.contains(helper.parameters[i].name)) {
          scope.usage.unit_strides.insert(argument->name);
        }
      }
    }
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
  const Expression& left = *expression.parts[0];
  const Expression& right = *expression.parts[1];
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
                           other.kind == Kind::kConstant || other.kind == Kind::kAttribute;
      if (literal && usage->compared.size() < 32) usage->compared.push_back(&other);
      if (!literal) usage->number = true;
    }
  }
  const bool ordered = expression.name[0] == '<' || expression.name[0] == '>';
  if (ClassOf(scope, left) == Class::kInt && (ordered || left.kind == Kind::kNumber)) {
    Require(scope, right, 0, ordered ? Need::kInt : Need::kStoredInt, "usage:compared");
  }
  if (ClassOf(scope, right) == Class::kInt && (ordered || right.kind == Kind::kNumber)) {
    Require(scope, left, 0, ordered && right.kind != Kind::kNumber ? Need::kInt : Need::kStoredInt,
            "usage:compared");
  }
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
    if (ConstexprUsage* usage = ConstexprOf(scope, expression)) usage->shape = true;
    return;
  }
  if (expression.kind != Kind::kSequence && expression.kind != Kind::kKeyword &&
      expression.kind != Kind::kBinary) {
    return;
  }
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
