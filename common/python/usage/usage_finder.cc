#include "common/python/usage/usage_finder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/python/usage/triton_calls.h"

namespace kernelmill::python {
namespace {

// Bounds of the recursions, far above what real kernels have.
constexpr int kMaxNames = 4;  // names in one another, up to a number or a type
constexpr int kMaxSumDepth = 12;
constexpr int kMaxAddressDepth = 20;
constexpr int kNameCost = 4;        // a name has several values, so it costs as much as some sums
constexpr size_t kMaxChoices = 32;  // numbers and names that a constexpr is compared with

}  // namespace

// clang-format off
// The walk has three directions:
//
//   Walk      over every expression of every statement. VisitX knows what an operation X needs of
//             its operands, and what it says about constexprs.
//   Require   from an operand to the parameters that its value is made of, which keep the need.
//   Classify  (ValueClassifier) from literals, casts and functions of known result upwards: is the
//             value a float, an integer or a flag? Some needs depend on the class of the other one.
//
// A need has a level: 0 for the value, 1 for what is loaded from it, 2 for what is loaded from
// where that points. tl.load(p + i) turns a need of its result at level 0 into one of p at level 1.
// Each function has a scope of its own. The needs of a helper's parameters are found once and
// carried over to the arguments of every call.
// clang-format on

// Walks the statements once. An entry exists before the walk, so that a function that calls itself
// finds what is known so far and the recursion ends; kMaxCalls bounds chains of helpers.
const FunctionUsage& UsageFinder::FindUsage(const Function& function) {
  std::unique_ptr<FunctionUsage>& known = known_[&function];
  if (known != nullptr) return *known;
  known = std::make_unique<FunctionUsage>();
  FunctionUsage& usage = *known;
  usage.arguments.resize(function.parameters.size());
  usage.constexprs.resize(function.parameters.size());
  // The chain of helpers is too long. The empty entry stays, so that later callers get it as well.
  if (calls_ >= kMaxCalls) return usage;
  ++calls_;
  Scope scope{function, usage, {}, ValueClassifier(function, &steps_left_)};
  for (const Statement& statement : function.statements) {
    if (statement.kind == Statement::kCondition) VisitCondition(scope, *statement.value);
    if (statement.target != nullptr) Walk(scope, *statement.target);
    Walk(scope, *statement.value);
  }
  VisitAlternatives(scope);
  --calls_;
  return usage;
}

// Visits an expression and all its parts: each operation requires something of its own operands,
// and Require follows that back to the parameters.
void UsageFinder::Walk(Scope& scope, const Expression& expression) {
  if (--steps_left_ < 0) return;
  switch (expression.kind) {
    case Expression::kCall:
      VisitCall(scope, expression);
      break;
    case Expression::kBinary:
      VisitBinary(scope, expression);
      break;
    case Expression::kCompare:
      VisitCompare(scope, expression);
      break;
    case Expression::kConditional:
      VisitCondition(scope, *expression.parts[1]);
      break;
    case Expression::kAttribute:
      // x.dtype.element_ty: only pointers and descriptors have one.
      if (expression.name == "element_ty" && expression.parts[0]->kind == Expression::kAttribute &&
          expression.parts[0]->name == "dtype") {
        Require(scope, *expression.parts[0]->parts[0], {1, Need::kAny, UsageRule::kElementType});
      }
      break;
    case Expression::kSubscript:
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

// x[0], x[i] of a loop that is unrolled: tensors are not indexed so. Places are numbers,
// constexprs, and variables of static_range. The largest one tells how many there are.
void UsageFinder::VisitPlace(Scope& scope, const Expression& of, const Expression& index) {
  const int at = of.kind == Expression::kName ? scope.function.Find(of.name) : -1;
  if (at < 0 || scope.function.values.contains(of.name)) return;
  TuplePlaces& places = scope.usage.arguments[static_cast<size_t>(at)].places;
  int64_t place = 0;
  if (index.kind == Expression::kNumber && absl::SimpleAtoi(index.text, &place) &&
      place < TuplePlaces::kMost) {
    places.count = std::max(places.count, place + 1);
  }
  if (index.kind != Expression::kName) return;
  if (ConstexprUsage* usage = FindConstexpr(scope, index)) {
    usage->place = true;
    places.count = std::max<int64_t>(places.count, 1);
  }
  const auto values = scope.function.values.find(index.name);
  if (values == scope.function.values.end() || LastName(*values->second[0]) != "static_range")
    return;
  const Expression& range = *values->second[0];
  if (range.kind != Expression::kCall || range.parts.size() < 2) return;
  const Expression& end = *range.parts[range.parts.size() > 2 ? 2 : 1];
  places.count =
      std::max(places.count, std::clamp<int64_t>(FindNumber(scope, end), 1, TuplePlaces::kMost));
  if (FindConstexpr(scope, end) != nullptr) places.constexpr_name = end.name;
}

// Requires what a called function needs of its arguments. Helpers of the module come first, since
// they may have the name of one of Triton's functions.
void UsageFinder::VisitCall(Scope& scope, const Expression& call) {
  const Expression& callee = *call.parts[0];
  const absl::string_view name = LastName(call);
  if (ConstexprUsage* usage = FindConstexpr(scope, callee)) usage->called = true;
  for (size_t i = 1; i < call.parts.size(); ++i) {
    if (call.parts[i]->kind != Expression::kKeyword) continue;
    ConstexprUsage* usage = FindConstexpr(scope, *call.parts[i]->parts[0]);
    if (usage == nullptr) continue;
    if (usage->keyword.empty()) usage->keyword = call.parts[i]->name;
    if (absl::StrContains(call.parts[i]->name, "dtype")) usage->dtype = true;
  }
  if (callee.kind == Expression::kName) {
    if (const Function* helper = module_.Find(name)) return VisitHelper(scope, call, *helper);
  }
  // Memory, casts and descriptors have rules of their own.
  if (VisitMemory(scope, call, name)) return;
  if (name == "to" || name == "cast") return VisitCast(scope, call);
  if (name == "make_block_ptr" || name == "make_tensor_descriptor") {
    return VisitDescriptor(scope, call);
  }
  if (callee.kind == Expression::kAttribute && (name == "__lshift__" || name == "__rshift__")) {
    Require(scope, *callee.parts[0], {0, Need::kBits, UsageRule::kBitwise});
  }
  // All other functions go by the table of triton_calls.cc.
  const CallTraits traits = GetCallTraits(name);
  for (size_t i = 1; i < call.parts.size(); ++i) {
    const Expression* part = call.parts[i];
    const Expression& value = part->kind == Expression::kKeyword ? *part->parts[0] : *part;
    if (traits.numbers) NeedNumbers(scope, value, traits.rule);
    if (traits.floats && part->kind != Expression::kKeyword) {
      Require(scope, value, {0, Need::kFloat, UsageRule::kMath});
    }
  }
  if (traits.shape) {
    for (size_t i = 1; i < call.parts.size(); ++i) VisitShape(scope, *call.parts[i]);
  }
  if (name == "reshape" || name == "view") VisitReshape(scope, call);
  if (name == "arange") VisitArange(scope, call);
  if (name == "dot_scaled") VisitDotScaled(scope, call);
  if (name == "dot") VisitDot(scope, call, FindArgument(call, "acc", 2));
  if (name == "static_assert" && call.parts.size() > 1) VisitAssertion(scope, *call.parts[1]);
  if (name == "static_range") {
    for (size_t i = 1; i < call.parts.size(); ++i) {
      if (ConstexprUsage* usage = FindConstexpr(scope, *call.parts[i])) usage->unrolled = true;
    }
  }
  if (name == "where") {
    if (const Expression* condition = FindArgument(call, "condition", 0)) {
      Require(scope, *condition, {0, Need::kBool, UsageRule::kCondition});
    }
  }
  if ((name == "zeros" || name == "full")) {
    const Expression* dtype = FindArgument(call, "dtype", name == "full" ? 2 : 1);
    if (ConstexprUsage* usage = dtype ? FindConstexpr(scope, *dtype) : nullptr) usage->dtype = true;
  }
}

// Carries the uses that a helper has of its parameters over to the arguments of the call: needs go
// to whatever an argument is made of, flags of constexprs to an argument that is a parameter
// itself.
void UsageFinder::VisitHelper(Scope& scope, const Expression& call, const Function& helper) {
  const FunctionUsage& usage = FindUsage(helper);
  scope.usage.three_dimensional |= usage.three_dimensional;
  AddHelperEquations(scope, call, helper, usage.equations);
  for (size_t i = 0; i < helper.parameters.size(); ++i) {
    const Expression* argument = FindArgument(call, helper.parameters[i].name, i);
    if (argument == nullptr) continue;
    const ArgumentUsage& asked = usage.arguments[i];
    for (size_t level = 0; level < ArgumentUsage::kLevels; ++level) {
      const ArgumentUsage::Level& at = asked.levels[level];
      if (at.rule != UsageRule::kNoRule) Require(scope, *argument, {level, at.need, at.rule});
    }
    if (argument->kind == Expression::kName) {
      const int at = scope.function.Find(argument->name);
      if (at >= 0) {
        ArgumentUsage& own = scope.usage.arguments[static_cast<size_t>(at)];
        own.descriptor |= asked.descriptor;
        own.none_checked |= asked.none_checked;
        own.places.count = std::max(own.places.count, asked.places.count);
        if (own.element.empty()) own.element = asked.element;
        // The helper's block sizes have other names in the caller.
        for (size_t d = 0; own.block.size() < asked.block.size(); ++d) {
          const int step = helper.Find(asked.block[d]);
          const Expression* given =
              step < 0 ? nullptr : FindArgument(call, asked.block[d], static_cast<size_t>(step));
          const bool named = given != nullptr && given->kind == Expression::kName;
          own.block.push_back(named ? given->name : absl::string_view());
        }
        if (usage.unit_strides.contains(helper.parameters[i].name)) {
          scope.usage.unit_strides.insert(argument->name);
        }
      }
    }
    if (usage.constexprs[i].least > 0) RequireLeast(scope, *argument, usage.constexprs[i].least);
    ConstexprUsage* own = FindConstexpr(scope, *argument);
    if (own == nullptr) continue;
    const ConstexprUsage& theirs = usage.constexprs[i];
    // A constexpr is used in all the ways in which the helper uses it.
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

// Operators tell types by what Python and Triton accept: // and shifts take integers, & and | of
// comparisons are masks and otherwise bits. + - * / take anything; only next to a float they tell
// that a scalar may be one.
void UsageFinder::VisitBinary(Scope& scope, const Expression& expression) {
  const absl::string_view sign = expression.name;
  const Expression& left = *expression.parts[0];
  const Expression& right = *expression.parts[1];
  for (const Expression* part : expression.parts) {
    if (ConstexprUsage* usage = FindConstexpr(scope, *part)) {
      usage->number = true;
      usage->integer |= sign == "//" || sign == "%" || sign == "<<" || sign == ">>";
    }
    const Expression& other = *expression.parts[part == expression.parts[0] ? 1 : 0];
    if (sign == "+" && part->kind == Expression::kCall && LastName(*part) == "dot") {
      VisitDot(scope, *part, &other);
    }
  }
  if (sign == "//" || sign == "<<" || sign == ">>") {
    const UsageRule rule = sign == "//" ? UsageRule::kDivides : UsageRule::kBitwise;
    const Need need = sign == "//" ? Need::kIndex : Need::kBits;
    Require(scope, left, {0, need, rule});
    Require(scope, right, {0, need, rule});
  } else if (sign == "%") {
    Require(scope, left, {0, Need::kInt, UsageRule::kDivides});
    Require(scope, right, {0, Need::kInt, UsageRule::kDivides});
  } else if (sign == "&" || sign == "|" || sign == "^") {
    const bool boolean = scope.classes.Classify(left) == ValueClass::kBool ||
                         scope.classes.Classify(right) == ValueClass::kBool;
    const Need need = boolean ? Need::kBool : Need::kBits;
    Require(scope, left, {0, need, boolean ? UsageRule::kMask : UsageRule::kBitwise});
    Require(scope, right, {0, need, boolean ? UsageRule::kMask : UsageRule::kBitwise});
  } else if (sign == "*" || sign == "/" || sign == "+" || sign == "-") {
    // Scalars alone: what floats are multiplied with.
    for (size_t i = 0; i < 2; ++i) {
      const Expression& other = *expression.parts[1 - i];
      if (expression.parts[i]->kind == Expression::kName &&
          scope.classes.Classify(other) == ValueClass::kFloat &&
          scope.function.Find(expression.parts[i]->name) >= 0) {
        Require(scope, *expression.parts[i], {0, Need::kStoredFloat, UsageRule::kArithmetic});
      }
    }
  }
}

// A constexpr that is compared has one of the values that it is compared with. An argument that is
// compared with an index is an integer.
void UsageFinder::VisitCompare(Scope& scope, const Expression& expression) {
  for (size_t i = 0; i < 2; ++i) {
    const Expression& one = *expression.parts[i];
    const Expression& other = *expression.parts[1 - i];
    if (expression.name == "is" || expression.name == "is not" || other.text == "None") {
      const int at = one.kind == Expression::kName ? scope.function.Find(one.name) : -1;
      if (other.text == "None" && at >= 0) {
        scope.usage.arguments[static_cast<size_t>(at)].none_checked = true;
        scope.usage.constexprs[static_cast<size_t>(at)].none_checked = true;
      }
      continue;
    }
    if (ConstexprUsage* usage = FindConstexpr(scope, one)) {
      const bool literal = other.kind == Expression::kString || other.kind == Expression::kNumber ||
                           other.kind == Expression::kConstant ||
                           other.kind == Expression::kAttribute || IsModuleConstant(scope, other);
      if (literal && usage->compared.size() < kMaxChoices) usage->compared.push_back(&other);
      if (!literal) usage->number = true;
      if (expression.name == "==" && other.kind == Expression::kNumber &&
          usage->choices.size() < kMaxChoices) {
        usage->choices.push_back(&other);
      }
    }
  }
  // x < index says that x is an integer, x < 0 nothing; x == 0 does, x == index says nothing.
  const bool ordered = expression.name[0] == '<' || expression.name[0] == '>';
  for (size_t i = 0; i < 2; ++i) {
    const Expression& other = *expression.parts[1 - i];
    const bool literal = other.kind == Expression::kNumber;
    if (ordered == literal || scope.classes.Classify(other) != ValueClass::kInt) continue;
    Require(scope, *expression.parts[i],
            {0, ordered ? Need::kInt : Need::kStoredInt, UsageRule::kCompared});
  }
}

// Returns whether the name is a constant of the module.
bool UsageFinder::IsModuleConstant(const Scope& scope, const Expression& name) const {
  return name.kind == Expression::kName && scope.function.Find(name.name) < 0 &&
         !scope.function.values.contains(name.name) &&
         module_.module_level().values.contains(name.name);
}

// A name that decides alone is a flag; in a comparison it is not.
void UsageFinder::VisitCondition(Scope& scope, const Expression& expression) {
  if (--steps_left_ < 0) return;
  if (expression.kind == Expression::kBoolean ||
      (expression.kind == Expression::kUnary && expression.name == "not")) {
    for (const Expression* part : expression.parts) VisitCondition(scope, *part);
  } else if (expression.kind == Expression::kName) {
    if (ConstexprUsage* usage = FindConstexpr(scope, expression)) usage->condition = true;
    Require(scope, expression, {0, Need::kBool, UsageRule::kCondition});
  }
}

// The sizes of a tensor: names in the expression, and what those are made of.
void UsageFinder::VisitShape(Scope& scope, const Expression& expression) {
  if (--steps_left_ < 0) return;
  if (expression.kind == Expression::kName) {
    if (ConstexprUsage* usage = FindConstexpr(scope, expression)) {
      usage->shape = true;
    } else {
      RequireLeast(scope, expression, 1);
    }
    return;
  }
  if (expression.kind != Expression::kSequence && expression.kind != Expression::kKeyword &&
      expression.kind != Expression::kBinary) {
    return;
  }
  if (expression.name == "//") RequireLeast(scope, expression, 1);
  for (const Expression* part : expression.parts) VisitShape(scope, *part);
}

// Requires integers: each part of a list.
void UsageFinder::NeedNumbers(Scope& scope, const Expression& expression, UsageRule rule) {
  if (expression.kind == Expression::kSequence) {
    for (const Expression* part : expression.parts) NeedNumbers(scope, *part, rule);
    return;
  }
  if (ConstexprUsage* usage = FindConstexpr(scope, expression)) {
    usage->number = usage->integer = true;
  }
  Require(scope, expression, {0, Need::kIndex, rule});
}

// A need is followed back to the parameters that the value is made of.

// Follows a need down an expression. `level` 0 is the value itself; 1 is what is loaded from there,
// so that the expression is an address: its need goes to the pointer in the sum, and the rest of
// the sum are offsets.
void UsageFinder::Require(Scope& scope, const Expression& expression, Demand demand) {
  const auto [level, need, rule] = demand;
  if (--steps_left_ < 0 || level >= ArgumentUsage::kLevels) return;
  const auto& parts = expression.parts;
  switch (expression.kind) {
    case Expression::kName:
      return RequireName(scope, expression.name, demand);
    case Expression::kSubscript:
      return Require(scope, *parts[0], demand);
    case Expression::kConditional:
      Require(scope, *parts[0], demand);
      return Require(scope, *parts[2], demand);
    case Expression::kUnary:
      if (expression.name == "-" || expression.name == "~") Require(scope, *parts[0], demand);
      return;
    case Expression::kCall:
      return RequireFromCall(scope, expression, demand);
    case Expression::kBinary:
      break;
    default:
      return;
  }
  if (level > 0) {
    if (expression.name != "+" && expression.name != "-") return;
    // The pointer is on the left, unless only the right side leads to one, or only the left side is
    // an integer.
    const bool right = expression.name == "+" && !LeadsToPointer(scope, *parts[0]) &&
                       (LeadsToPointer(scope, *parts[1]) ||
                        (scope.classes.Classify(*parts[0]) == ValueClass::kInt &&
                         scope.classes.Classify(*parts[1]) != ValueClass::kInt));
    Require(scope, *parts[right ? 1 : 0], demand);
    return Require(scope, *parts[right ? 0 : 1], {0, Need::kIndex, UsageRule::kOffset});
  }
  // Floats come of floats and integers alike, and so do true quotients.
  const bool passes =
      need == Need::kBool
          ? expression.name == "&" || expression.name == "|" || expression.name == "^"
          : need == Need::kInt || need == Need::kIndex || need == Need::kBits;
  if (!passes || expression.name == "/" || expression.name == "@") return;
  for (const Expression* part : parts)
    Require(scope, *part, {0, need == Need::kBits ? Need::kIndex : need, rule});
}

// Keeps the need if the name is a parameter, and follows it into all values of the name. The set of
// followed needs ends cycles such as x = x + 1.
void UsageFinder::RequireName(Scope& scope, absl::string_view name, Demand demand) {
  const auto [level, need, rule] = demand;
  if (!scope.followed.insert(absl::StrCat(name, " ", level, " ", static_cast<int>(need))).second) {
    return;
  }
  const int at = scope.function.Find(name);
  if (at >= 0) {
    ArgumentUsage& usage = scope.usage.arguments[static_cast<size_t>(at)];
    // Something is loaded from where it points to, or stored there.
    usage.pointer |= level > 0;
    ArgumentUsage::Level& known = usage.levels[level];
    if (known.rule == UsageRule::kNoRule || need > known.need) known = {need, rule};
  }
  const auto values = scope.function.values.find(name);
  if (values == scope.function.values.end()) return;
  // The variable of a loop is an item: its need is no need of the range.
  if (scope.function.loop_names.contains(name) && level == 0) return;
  for (const Expression* value : values->second) Require(scope, *value, demand);
}

// Follows a need of a call's result: a load passes it to the address, one level deeper; a helper to
// what it returns; a cast ends it, except for pointers.
void UsageFinder::RequireFromCall(Scope& scope, const Expression& call, Demand demand) {
  const auto [level, need, rule] = demand;
  const Expression& callee = *call.parts[0];
  const absl::string_view name = LastName(call);
  const bool method =
      callee.kind == Expression::kAttribute && IsMethodOfValue(scope.function, callee);
  if (callee.kind == Expression::kName) {
    if (const Function* helper = module_.Find(name)) {
      return RequireFromReturn(scope, call, *helper, demand);
    }
  }
  const MemoryAccess access = GetMemoryAccess(name);
  if (access == MemoryAccess::kLoad || access == MemoryAccess::kAtomic ||
      access == MemoryAccess::kBitwise) {
    const Expression* address = method ? callee.parts[0] : FindArgument(call, "pointer", 0);
    if (address != nullptr) Require(scope, *address, {level + 1, need, rule});
    return;
  }
  if (name == "where") {
    for (size_t i : {1, 2}) {
      if (const Expression* value = FindArgument(call, i == 1 ? "x" : "y", i))
        Require(scope, *value, demand);
    }
    return;
  }
  if ((name == "to" || name == "cast") && need == Need::kBits) {  // the type that is cast to
    const Expression* type = FindArgument(call, "dtype", method ? 0 : 1);
    ConstexprUsage* usage = type == nullptr ? nullptr : FindConstexpr(scope, *type);
    if (usage != nullptr) usage->integer = true;
  }
  if ((name == "to" || name == "cast") && level > 0) {
    const Expression* value = method ? callee.parts[0] : FindArgument(call, "input", 0);
    const Expression* type = FindArgument(call, "dtype", method ? 0 : 1);
    // A pointer stays one; only an integer's type has pointer_type in it, which VisitCast sees.
    if (value != nullptr && type != nullptr && LastName(*type) != "pointer_type") {
      Require(scope, *value, demand);
    }
    return;
  }
  const CallTraits traits = GetCallTraits(name);
  if (!traits.passes) return;
  if (method) return Require(scope, *callee.parts[0], demand);
  if (call.parts.size() < 2) return;
  const size_t count = traits.passes_two ? 2 : 1;
  for (size_t i = 1; i < call.parts.size() && i <= count; ++i) {
    const Expression* part = call.parts[i];
    Require(scope, part->kind == Expression::kKeyword ? *part->parts[0] : *part, demand);
  }
}

// The need of a helper's result becomes a need of the arguments that the result is made of.
void UsageFinder::RequireFromReturn(Scope& scope, const Expression& call, const Function& helper,
                                    Demand demand) {
  if (calls_ >= kMaxCalls) return;
  ++calls_;
  // The needs of one result are kept apart from those of the helper as a whole.
  FunctionUsage usage;
  usage.arguments.resize(helper.parameters.size());
  usage.constexprs.resize(helper.parameters.size());
  Scope inner{helper, usage, {}, ValueClassifier(helper, &steps_left_)};
  for (const Statement& statement : helper.statements) {
    if (statement.kind == Statement::kReturn) Require(inner, *statement.value, demand);
  }
  --calls_;
  for (size_t i = 0; i < helper.parameters.size(); ++i) {
    const Expression* argument = FindArgument(call, helper.parameters[i].name, i);
    if (argument == nullptr) continue;
    for (size_t at = 0; at < ArgumentUsage::kLevels; ++at) {
      const ArgumentUsage::Level& asked = usage.arguments[i].levels[at];
      if (asked.rule != UsageRule::kNoRule) Require(scope, *argument, {at, asked.need, asked.rule});
    }
  }
}

// Returns the number that an expression is: a literal, a parameter's default, or a name of one; 0
// for any other.
int64_t UsageFinder::FindNumber(Scope& scope, const Expression& expression, int depth) {
  if (--steps_left_ < 0 || depth > kMaxNames) return 0;
  if (expression.kind == Expression::kNumber) {
    int64_t number = 0;
    return absl::SimpleAtoi(expression.text, &number) && number > 0 ? number : 0;
  }
  if (expression.kind == Expression::kCall && LastName(expression) == "constexpr") {
    const Expression* value = FindArgument(expression, "value", 0);
    return value == nullptr ? 0 : FindNumber(scope, *value, depth + 1);
  }
  if (expression.kind != Expression::kName) return 0;
  if (const int at = scope.function.Find(expression.name); at >= 0) {
    const Expression* own = scope.function.parameters[static_cast<size_t>(at)].default_value;
    return own == nullptr ? 0 : FindNumber(scope, *own, depth + 1);
  }
  for (const Function* function : {&scope.function, &module_.module_level()}) {
    const auto values = function->values.find(expression.name);
    if (values == function->values.end()) continue;
    return values->second.size() == 1 ? FindNumber(scope, *values->second[0], depth + 1) : 0;
  }
  return 0;
}

// Requires that the parameter in a quotient or product is so large that the size is `least`.
void UsageFinder::RequireLeast(Scope& scope, const Expression& size, int64_t least, int depth) {
  static constexpr int64_t kMostLeast = 1024;  // larger ones are no sizes of blocks
  if (--steps_left_ < 0 || depth > kMaxSumDepth || least > kMostLeast) return;
  if (ConstexprUsage* usage = FindConstexpr(scope, size)) {
    usage->least = std::max(usage->least, least);
  } else if (size.kind == Expression::kName) {
    const auto values = scope.function.values.find(size.name);
    if (values == scope.function.values.end() || values->second.size() != 1) return;
    RequireLeast(scope, *values->second[0], least, depth + 1);
  } else if (size.kind == Expression::kBinary && (size.name == "//" || size.name == "*")) {
    const int64_t number = FindNumber(scope, *size.parts[1]);
    if (number <= 0 || number > kMostLeast) return;
    // a // n >= least holds from a = least * n on; a * n >= least from least / n on, rounded up.
    const int64_t of_left = size.name == "//" ? least * number : (least + number - 1) / number;
    RequireLeast(scope, *size.parts[0], of_left, depth + 1);
  }
}

// The needs of memory functions, casts and dot products.

// Scales are bytes, and so are pairs of numbers of the format e2m1.
void UsageFinder::VisitDotScaled(Scope& scope, const Expression& call) {
  static constexpr absl::string_view kSides[] = {"lhs", "rhs"};
  for (size_t side = 0; side < 2; ++side) {
    // dot_scaled(lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, ...)
    const size_t first = 3 * side;
    const std::string name(kSides[side]);
    const Expression* scale = FindArgument(call, name + "_scale", first + 1);
    if (scale != nullptr) Require(scope, *scale, {0, Need::kUint8, UsageRule::kDotScaled});
    const Expression* format = FindArgument(call, name + "_format", first + 2);
    const Expression* value = FindArgument(call, name, first);
    // If the format is a constexpr, bytes are numbers too: packed ones or float8.
    const bool bytes = format != nullptr && (absl::StrContains(format->text, "e2m1") ||
                                             FindConstexpr(scope, *format) != nullptr);
    if (value != nullptr && bytes) {
      Require(scope, *value, {0, Need::kUint8, UsageRule::kDotScaled});
    }
  }
}

// Returns whether the accumulator begins as an integer, also if it is made a float later.
bool UsageFinder::BeginsAsInteger(Scope& scope, const Expression& accumulator) {
  const auto values = accumulator.kind == Expression::kName
                          ? scope.function.values.find(accumulator.name)
                          : scope.function.values.end();
  const bool made = values != scope.function.values.end() && !values->second.empty() &&
                    values->second.front()->kind == Expression::kCall;
  return scope.classes.Classify(made ? *values->second.front() : accumulator) == ValueClass::kInt;
}

// A dot product that is summed up in integers multiplies integers.
void UsageFinder::VisitDot(Scope& scope, const Expression& call, const Expression* accumulator) {
  const Expression* out = FindArgument(call, "out_dtype", 5);
  const bool integers = (out != nullptr && LastName(*out) == "int32") ||
                        (accumulator != nullptr && BeginsAsInteger(scope, *accumulator));
  if (!integers) return;
  for (size_t i = 0; i < 2; ++i) {
    const Expression* operand = FindArgument(call, i == 0 ? "input" : "other", i);
    if (operand != nullptr) Require(scope, *operand, {0, Need::kInt8, UsageRule::kDot});
  }
}

// Returns the parameter whose element type an expression is: x.dtype.element_ty, or a name of that.
ArgumentUsage* UsageFinder::FindElementType(Scope& scope, const Expression& expression, int depth) {
  if (depth > kMaxNames || --steps_left_ < 0) return nullptr;
  if (expression.kind == Expression::kAttribute && expression.name == "element_ty") {
    const Expression& type = *expression.parts[0];
    if (type.kind != Expression::kAttribute || type.parts[0]->kind != Expression::kName)
      return nullptr;
    const int at = scope.function.Find(type.parts[0]->name);
    return at < 0 ? nullptr : &scope.usage.arguments[static_cast<size_t>(at)];
  }
  const auto values = expression.kind == Expression::kName
                          ? scope.function.values.find(expression.name)
                          : scope.function.values.end();
  if (values == scope.function.values.end() || values->second.size() != 1) return nullptr;
  return FindElementType(scope, *values->second[0], depth + 1);
}

// clang-format off
// If an assertion takes several types, the first counts.
// The forms that are read:
//
//   B, not B                      the value of the flag
//   C <= B, B % C == 0            B is a multiple of C
//   B >= n, B > n                 the least size
//   B == n                        the value
//   A == B * C                    an equation of sizes
//   x.dtype.element_ty == tl.T    the type of the elements of x
//   x.dtype == tl.T               the type of x, for uint32 and float32
// clang-format on
void UsageFinder::VisitAssertion(Scope& scope, const Expression& condition) {
  if (--steps_left_ < 0) return;
  if (condition.kind == Expression::kBoolean) {
    for (const Expression* part : condition.parts) VisitAssertion(scope, *part);
  } else if (condition.kind == Expression::kName) {
    // The first assertion about a flag counts.
    ConstexprUsage* flag = FindConstexpr(scope, condition);
    if (flag != nullptr && flag->asserted.empty()) flag->asserted = "True";
  } else if (condition.kind == Expression::kUnary && condition.name == "not") {
    ConstexprUsage* flag = FindConstexpr(scope, *condition.parts[0]);
    if (flag != nullptr && flag->asserted.empty()) flag->asserted = "False";
  } else if (condition.kind == Expression::kCompare && condition.name == "<=") {
    ConstexprUsage* size = FindConstexpr(scope, *condition.parts[1]);
    if (size != nullptr && size->multiple_of == nullptr) size->multiple_of = condition.parts[0];
  } else if (condition.kind == Expression::kCompare &&
             (condition.name == ">=" || condition.name == ">")) {
    const int64_t least = FindNumber(scope, *condition.parts[1]);
    if (least > 0) {
      RequireLeast(scope, *condition.parts[0], condition.name == ">" ? least + 1 : least);
    }
  } else if (condition.kind == Expression::kCompare && condition.name == "==") {
    const Expression& left = *condition.parts[0];
    AddEqualSizes(scope, left, *condition.parts[1]);
    ConstexprUsage* value = FindConstexpr(scope, left);
    if (value != nullptr && condition.parts[1]->kind == Expression::kNumber &&
        value->asserted.empty()) {
      value->asserted = condition.parts[1]->text;
    }
    if (left.kind == Expression::kBinary && left.name == "%" && condition.parts[1]->text == "0") {
      ConstexprUsage* size = FindConstexpr(scope, *left.parts[0]);
      if (size != nullptr && size->multiple_of == nullptr) size->multiple_of = left.parts[1];
      return;
    }
    ArgumentUsage* usage = FindElementType(scope, left);
    const absl::string_view type = LastName(*condition.parts[1]);
    if (left.kind == Expression::kAttribute && left.name == "dtype") {  // a value's type
      const Need need = type == "uint32"    ? Need::kUint32
                        : type == "float32" ? Need::kFloat32
                                            : Need::kAny;
      if (need != Need::kAny) Require(scope, *left.parts[0], {0, need, UsageRule::kAsserted});
    }
    if (usage != nullptr && usage->element.empty() && CountBits(type) > 0) usage->element = type;
  }
}

// A name that is given a tensor of float32 in one place and what is loaded in another has one type
// only where both are float32.
void UsageFinder::VisitAlternatives(Scope& scope) {
  for (const Statement& statement : scope.function.statements) {
    if (statement.kind != Statement::kAssign || statement.target->kind != Expression::kName)
      continue;
    const Expression& made = *statement.value;
    const absl::string_view name =
        made.kind == Expression::kCall ? LastName(made) : absl::string_view();
    if (name == "to" && made.text == absl::StrCat(statement.target->name, ".to(tl.int64)")) {
      Require(scope, *statement.target, {0, Need::kInt64, UsageRule::kAlternative});
    }
    if (name != "zeros" && name != "full") continue;
    const Expression* type = FindArgument(made, "dtype", name == "full" ? 2 : 1);
    if (type == nullptr || LastName(*type) != "float32") continue;
    for (const Expression* other : scope.function.values.find(statement.target->name)->second) {
      const bool loaded = other->kind == Expression::kCall &&
                          GetMemoryAccess(LastName(*other)) == MemoryAccess::kLoad;
      if (loaded) Require(scope, *other, {0, Need::kFloat32, UsageRule::kAlternative});
    }
  }
}

// x.to(tl.int64): what a block pointer points to has to be of that type.
bool IsInt64(const Expression& value) {
  const Expression* type = value.kind == Expression::kCall && LastName(value) == "to"
                               ? FindArgument(value, "dtype", 0)
                               : nullptr;
  return type != nullptr && LastName(*type) == "int64";
}

// Loads, stores and atomics, as functions and as methods of descriptors. False if the call accesses
// no memory, or if its address is not found.
bool UsageFinder::VisitMemory(Scope& scope, const Expression& call, absl::string_view name) {
  const MemoryAccess access = GetMemoryAccess(name);
  if (access == MemoryAccess::kNone) return false;
  const Expression& callee = *call.parts[0];
  const Expression* value = nullptr;
  const Expression* address = nullptr;
  if (callee.kind == Expression::kAttribute && IsMethodOfValue(scope.function, callee)) {
    address = callee.parts[0];
    value = FindArgument(call, "value", 1);
    const Expression* offsets = FindArgument(call, "offsets", 0);
    if (const int at = address->kind == Expression::kName ? scope.function.Find(address->name) : -1;
        at >= 0) {
      ArgumentUsage& usage = scope.usage.arguments[static_cast<size_t>(at)];
      usage.descriptor = true;
      if (usage.block.empty() && offsets != nullptr && offsets->kind == Expression::kSequence) {
        for (const Expression* part : offsets->parts) {
          usage.block.push_back(FindStep(scope, *part));
        }
      }
    }
    if (offsets != nullptr) NeedNumbers(scope, *offsets, UsageRule::kOffset);
  } else {
    address = call.parts.size() > 1 ? FindArgument(call, "pointer", 0) : nullptr;
    if (address == nullptr) address = FindArgument(call, "ptr", 0);
    value = FindArgument(call, access == MemoryAccess::kCompareAndSwap ? "cmp" : "value", 1);
    if (value == nullptr) value = FindArgument(call, "val", 1);
  }
  if (address == nullptr) return false;
  // A stored value tells the type of the elements. An integer that is multiplied by something that
  // was loaded does not: it may be a float.
  Need need = Need::kAny;
  if (access == MemoryAccess::kCompareAndSwap) need = Need::kIndex;
  if (access == MemoryAccess::kBitwise) need = Need::kBits;
  if (value != nullptr && (access == MemoryAccess::kStore || access == MemoryAccess::kAtomic)) {
    const ValueClass stored = scope.classes.Classify(*value);
    if (stored == ValueClass::kInt && !scope.classes.IsScaled(*value))
      need = IsInt64(*value) ? Need::kStoredInt64 : Need::kStoredInt;
    if (stored == ValueClass::kBool) need = Need::kStoredBool;
    if (stored == ValueClass::kFloat) need = Need::kStoredFloat;
  }
  Require(scope, *address,
          {1, need,
           access == MemoryAccess::kLoad || need == Need::kAny ? UsageRule::kAddress
           : access == MemoryAccess::kStore                    ? UsageRule::kStored
                                                               : UsageRule::kAtomic});
  // The mask of a load follows the address, the mask of a store the value.
  const Expression* mask = FindArgument(call, "mask", access == MemoryAccess::kLoad ? 1 : 2);
  if (mask != nullptr && mask->kind != Expression::kKeyword &&
      callee.kind == Expression::kAttribute && access != MemoryAccess::kCompareAndSwap &&
      !IsMethodOfValue(scope.function, callee)) {
    Require(scope, *mask, {0, Need::kBool, UsageRule::kMask});
  }
  return true;
}

// Returns the constexpr that an offset is a multiple of: BLOCK of pid * BLOCK, also in a sum.
absl::string_view UsageFinder::FindStep(Scope& scope, const Expression& offset, int depth) {
  if (--steps_left_ < 0 || depth > kMaxSumDepth) return "";
  if (offset.kind == Expression::kName) {
    const auto values = scope.function.values.find(offset.name);
    if (values == scope.function.values.end()) return "";
    for (const Expression* value : values->second) {
      const absl::string_view step = FindStep(scope, *value, depth + 1);
      if (!step.empty()) return step;
    }
    return "";
  }
  if (offset.kind == Expression::kCall && LastName(offset) == "range") {  // a loop's variable
    const Expression* step = FindArgument(offset, "step", 2);
    const bool named = step != nullptr && FindConstexpr(scope, *step) != nullptr;
    return named ? step->name : absl::string_view();
  }
  // A method is taken to keep the value that it is called of.
  if (offset.kind == Expression::kCall && offset.parts[0]->kind == Expression::kAttribute) {
    return FindStep(scope, *offset.parts[0]->parts[0], depth + 1);  // x.to(tl.int32)
  }
  if (offset.kind != Expression::kBinary) return "";
  for (size_t i = 0; i < 2; ++i) {
    const Expression& part = *offset.parts[1 - i];
    const int at = part.kind == Expression::kName ? scope.function.Find(part.name) : -1;
    if (offset.name == "*" && at >= 0 &&
        absl::StrContains(scope.function.parameters[static_cast<size_t>(at)].annotation,
                          "constexpr")) {
      return part.name;
    }
  }
  if (offset.name != "+" && offset.name != "-") return "";
  const absl::string_view step = FindStep(scope, *offset.parts[0], depth + 1);
  return step.empty() ? FindStep(scope, *offset.parts[1], depth + 1) : step;
}

// Shapes, strides and offsets are integers; block shapes are sizes. The last stride of a tensor
// descriptor has to be 1.
void UsageFinder::VisitDescriptor(Scope& scope, const Expression& call) {
  if (const Expression* base = FindArgument(call, "base", 0)) {
    Require(scope, *base, {1, Need::kAny, UsageRule::kAddress});
  }
  static constexpr std::pair<absl::string_view, size_t> kLists[] = {
      {"shape", 1}, {"strides", 2}, {"offsets", 3}};
  for (const auto& [keyword, position] : kLists) {
    // A tensor descriptor gets its offsets from each load and store.
    if (keyword == "offsets" && LastName(call) == "make_tensor_descriptor") continue;
    const Expression* list = FindArgument(call, keyword, position);
    if (list == nullptr) continue;
    NeedNumbers(scope, *list, UsageRule::kShape);
    if (keyword == "strides" && LastName(call) == "make_tensor_descriptor" &&
        list->kind == Expression::kSequence && !list->parts.empty() &&
        list->parts.back()->kind == Expression::kName) {
      scope.usage.unit_strides.insert(list->parts.back()->name);
    }
  }
  const bool block = LastName(call) == "make_block_ptr";
  if (const Expression* order = block ? FindArgument(call, "order", 5) : nullptr) {
    for (size_t i = 0; order->kind == Expression::kSequence && i < order->parts.size(); ++i) {
      ConstexprUsage* usage = FindConstexpr(scope, *order->parts[i]);
      if (usage != nullptr && usage->order < 0) usage->order = static_cast<int>(i);
    }
  }
  if (const Expression* shape = FindArgument(call, "block_shape", block ? 4 : 3))
    VisitShape(scope, *shape);
}

// x.to(T), tl.cast(x, T).
void UsageFinder::VisitCast(Scope& scope, const Expression& call) {
  const Expression& callee = *call.parts[0];
  const bool method = callee.kind == Expression::kAttribute && callee.name == "to";
  const Expression* value = method ? callee.parts[0] : FindArgument(call, "input", 0);
  const Expression* type = method ? FindArgument(call, "dtype", 0) : FindArgument(call, "dtype", 1);
  if (value == nullptr || type == nullptr) return;
  if (ConstexprUsage* usage = FindConstexpr(scope, *type)) usage->dtype = true;
  if (type->kind == Expression::kCall && LastName(*type) == "pointer_type") {
    return Require(scope, *value, {0, Need::kInt64, UsageRule::kMadePointer});
  }
  const Expression* bitcast = FindArgument(call, "bitcast", method ? 2 : 3);
  if (bitcast == nullptr || bitcast->text != "True") return;
  const int bits = CountBits(LastName(*type));
  // A value whose bits are read as an integer's is most often a float.
  const bool to_integer = absl::StrContains(LastName(*type), "int");
  if (bits == 32 && to_integer)
    return Require(scope, *value, {0, Need::kBits32, UsageRule::kFloatBits});
  const Need need = bits == 8    ? Need::kInt8
                    : bits == 16 ? Need::kInt16
                    : bits == 32 ? Need::kInt32
                    : bits == 64 ? Need::kInt64
                                 : Need::kAny;
  if (need != Need::kAny) Require(scope, *value, {0, need, UsageRule::kBitcast});
}

// Returns the use of the parameter of that name; null for any other expression. The table has an
// entry for each parameter, whether it is a constexpr or not.
ConstexprUsage* UsageFinder::FindConstexpr(Scope& scope, const Expression& expression) {
  if (expression.kind != Expression::kName) return nullptr;
  const int at = scope.function.Find(expression.name);
  return at < 0 ? nullptr : &scope.usage.constexprs[static_cast<size_t>(at)];
}

// A guess before all needs are known: a parameter counts as a pointer if one was found already, or
// if its name says so.
bool UsageFinder::LeadsToPointer(Scope& scope, const Expression& expression, int depth) {
  if (--steps_left_ < 0 || depth > kMaxAddressDepth) return false;
  if (expression.kind == Expression::kName) {
    const int at = scope.function.Find(expression.name);
    if (at >= 0)
      return scope.usage.arguments[static_cast<size_t>(at)].pointer ||
             NamesPointer(expression.name);
    const auto values = scope.function.values.find(expression.name);
    if (values == scope.function.values.end()) return false;
    return std::any_of(values->second.begin(), values->second.end(), [&](const Expression* value) {
      return value != &expression && LeadsToPointer(scope, *value, depth + kNameCost);
    });
  }
  if (expression.kind == Expression::kBinary &&
      (expression.name == "+" || expression.name == "-")) {
    return LeadsToPointer(scope, *expression.parts[0], depth + 1) ||
           LeadsToPointer(scope, *expression.parts[1], depth + 1);
  }
  return false;
}

}  // namespace kernelmill::python
