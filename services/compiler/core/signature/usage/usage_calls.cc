// Of UsageFinder: what Triton's functions of memory, casts and dot products ask of what they are
// given.
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/compiler/core/signature/usage/calls.h"
#include "services/compiler/core/signature/usage/usage_scope.h"

namespace kernelmill::compiler {

using Kind = Expression::Kind;

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
    // Of a format that is given as a constexpr bytes are numbers too, packed ones or of float8.
    const bool bytes = format != nullptr && (absl::StrContains(format->text, "e2m1") ||
                                             ConstexprOf(scope, *format) != nullptr);
    if (value != nullptr && bytes) {
      Require(scope, *value, 0, Need::kUint8, "usage:dot_scaled");
    }
  }
}

// Also of a name that is made a float later.
bool UsageFinder::BeginsAsInteger(Scope& scope, const Expression& accumulator) {
  const auto values = accumulator.kind == Kind::kName ? scope.function.values.find(accumulator.name)
                                                      : scope.function.values.end();
  const bool made = values != scope.function.values.end() && !values->second.empty() &&
                    values->second.front()->kind == Kind::kCall;
  return ClassOf(scope, made ? *values->second.front() : accumulator) == Class::kInt;
}

// What is summed up in integers is multiplied as such.
void UsageFinder::VisitDot(Scope& scope, const Expression& call, const Expression* accumulator) {
  const Expression* out = Argument(call, "out_dtype", 5);
  const bool integers = (out != nullptr && LastName(*out) == "int32") ||
                        (accumulator != nullptr && BeginsAsInteger(scope, *accumulator));
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
  } else if (condition.kind == Kind::kName) {
    ConstexprUsage* flag = ConstexprOf(scope, condition);
    if (flag != nullptr && flag->asserted.empty()) flag->asserted = "True";
  } else if (condition.kind == Kind::kUnary && condition.name == "not") {
    ConstexprUsage* flag = ConstexprOf(scope, *condition.parts[0]);
    if (flag != nullptr && flag->asserted.empty()) flag->asserted = "False";
  } else if (condition.kind == Kind::kCompare && condition.name == "<=") {
    ConstexprUsage* size = ConstexprOf(scope, *condition.parts[1]);
    if (size != nullptr && size->multiple_of == nullptr) size->multiple_of = condition.parts[0];
  } else if (condition.kind == Kind::kCompare &&
             (condition.name == ">=" || condition.name == ">")) {
    const int64_t least = NumberOf(scope, *condition.parts[1]);
    if (least > 0) {
      RequireLeast(scope, *condition.parts[0], condition.name == ">" ? least + 1 : least);
    }
  } else if (condition.kind == Kind::kCompare && condition.name == "==") {
    const Expression& left = *condition.parts[0];
    AddEqualSizes(scope, left, *condition.parts[1]);
    ConstexprUsage* value = ConstexprOf(scope, left);
    if (value != nullptr && condition.parts[1]->kind == Kind::kNumber && value->asserted.empty()) {
      value->asserted = condition.parts[1]->text;
    }
    if (left.kind == Kind::kBinary && left.name == "%" && condition.parts[1]->text == "0") {
      ConstexprUsage* size = ConstexprOf(scope, *left.parts[0]);
      if (size != nullptr && size->multiple_of == nullptr) size->multiple_of = left.parts[1];
      return;
    }
    ArgumentUsage* usage = OfElementType(scope, left);
    const absl::string_view type = LastName(*condition.parts[1]);
    if (left.kind == Kind::kAttribute && left.name == "dtype") {  // of a value
      const Need need = type == "uint32"    ? Need::kUint32
                        : type == "float32" ? Need::kFloat32
                                            : Need::kAny;
      if (need != Need::kAny) Require(scope, *left.parts[0], 0, need, "usage:asserted");
    }
    if (usage != nullptr && usage->element.empty() && BitsOf(type) > 0) usage->element = type;
  }
}

// A name that is given a tensor of float32 in one place and what is loaded in another has one type
// only where both are float32.
void UsageFinder::VisitAlternatives(Scope& scope) {
  for (const Statement& statement : scope.function.statements) {
    if (statement.kind != Statement::kAssign || statement.target->kind != Kind::kName) continue;
    const Expression& made = *statement.value;
    const absl::string_view name = made.kind == Kind::kCall ? LastName(made) : absl::string_view();
    if (name == "to" && made.text == absl::StrCat(statement.target->name, ".to(tl.int64)")) {
      Require(scope, *statement.target, 0, Need::kInt64, "usage:alternative");
    }
    if (name != "zeros" && name != "full") continue;
    const Expression* type = Argument(made, "dtype", name == "full" ? 2 : 1);
    if (type == nullptr || LastName(*type) != "float32") continue;
    for (const Expression* other : scope.function.values.find(statement.target->name)->second) {
      const bool loaded =
          other->kind == Kind::kCall && MemoryAccessOf(LastName(*other)) == MemoryAccess::kLoad;
      if (loaded) Require(scope, *other, 0, Need::kFloat32, "usage:alternative");
    }
  }
}

// x.to(tl.int64): what a block pointer points to has to be of that type.
bool IsInt64(const Expression& value) {
  const Expression* type =
      value.kind == Kind::kCall && LastName(value) == "to" ? Argument(value, "dtype", 0) : nullptr;
  return type != nullptr && LastName(*type) == "int64";
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
      if (usage.block.empty() && offsets != nullptr && offsets->kind == Kind::kSequence) {
        for (const Expression* part : offsets->parts) {
          usage.block.push_back(StepOf(scope, *part));
        }
      }
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
    if (stored == Class::kInt && !IsScaled(scope, *value))
      need = IsInt64(*value) ? Need::kStoredInt64 : Need::kStoredInt;
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

// The constexpr that an offset is a multiple of: BLOCK of pid * BLOCK, and of what adds to that.
absl::string_view UsageFinder::StepOf(Scope& scope, const Expression& offset, int depth) {
  if (--steps_left_ < 0 || depth > 12) return "";
  if (offset.kind == Kind::kName) {
    const auto values = scope.function.values.find(offset.name);
    if (values == scope.function.values.end()) return "";
    for (const Expression* value : values->second) {
      const absl::string_view step = StepOf(scope, *value, depth + 1);
      if (!step.empty()) return step;
    }
    return "";
  }
  if (offset.kind == Kind::kCall && LastName(offset) == "range") {  // of a loop's variable
    const Expression* step = Argument(offset, "step", 2);
    const bool named = step != nullptr && ConstexprOf(scope, *step) != nullptr;
    return named ? step->name : absl::string_view();
  }
  if (offset.kind == Kind::kCall && offset.parts[0]->kind == Kind::kAttribute) {
    return StepOf(scope, *offset.parts[0]->parts[0], depth + 1);  // x.to(tl.int32)
  }
  if (offset.kind != Kind::kBinary) return "";
  for (size_t i = 0; i < 2; ++i) {
    const Expression& part = *offset.parts[1 - i];
    const int at = part.kind == Kind::kName ? scope.function.Find(part.name) : -1;
    if (offset.name == "*" && at >= 0 &&
        absl::StrContains(scope.function.parameters[static_cast<size_t>(at)].annotation,
                          "constexpr")) {
      return part.name;
    }
  }
  if (offset.name != "+" && offset.name != "-") return "";
  const absl::string_view step = StepOf(scope, *offset.parts[0], depth + 1);
  return step.empty() ? StepOf(scope, *offset.parts[1], depth + 1) : step;
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
  if (const Expression* order = block ? Argument(call, "order", 5) : nullptr) {
    for (size_t i = 0; order->kind == Kind::kSequence && i < order->parts.size(); ++i) {
      ConstexprUsage* usage = ConstexprOf(scope, *order->parts[i]);
      if (usage != nullptr && usage->order < 0) usage->order = static_cast<int>(i);
    }
  }
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
  // Whose bits are read as an integer's is a float more often than not.
  const bool to_integer = absl::StrContains(LastName(*type), "int");
  if (bits == 32 && to_integer) return Require(scope, *value, 0, Need::kBits32, "usage:float_bits");
  const Need need = bits == 8    ? Need::kInt8
                    : bits == 16 ? Need::kInt16
                    : bits == 32 ? Need::kInt32
                    : bits == 64 ? Need::kInt64
                                 : Need::kAny;
  if (need != Need::kAny) Require(scope, *value, 0, need, "usage:bitcast");
}

}  // namespace kernelmill::compiler
