#ifndef KERNELMILL_COMMON_PYTHON_USAGE_USAGE_RULES_H_
#define KERNELMILL_COMMON_PYTHON_USAGE_USAGE_RULES_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"

namespace kernelmill::python {

// The rules by which a kernel's body says what a parameter is. Two passes find them:
//
//   ParameterPlaces   the places where the parameter's name is written. The extractor gives it a
//   role by that
//                     (describe/parameters.h), for people and for training.
//   UsageFinder       the needs that operations have of the parameter's value, through local names,
//   loads and
//                     helpers. The compiler infers its type or value by that (signature/rules.h).
//
// If both ask for a rule they may disagree, and have to: a role must follow from the text that a
// reader sees, so that a name alone counts; a type must hold for the value, so that a name counts
// only if its value gets there, and everything that its value is made of counts as well. The table
// (usage_rules.cc) says so for each.
enum class UsageRule : uint8_t {
  kNoRule,
  // Roles and types.
  kAddress,
  kDescriptor,
  kReference,
  kStrides,
  kShape,
  kCdiv,
  kRange,
  kCompared,
  kDivides,
  kMultiplies,
  // Types of arguments.
  kAsserted,
  kDotScaled,
  kDot,
  kBitcast,
  kMadePointer,
  kBitwise,
  kOffset,
  kRandom,
  kMask,
  kAtomic,
  kAlternative,
  kMath,
  kFloatBits,
  kTuple,
  kCondition,
  kStored,
  kArithmetic,
  kElementType,
  // Values of constexprs.
  kCalled,
  kEquals,
  kOrder,
  kDtype,
  kKeyword,
  kUnrolled,
  kComparedWithNone,
  kSize,
  kThreeDimensional,
  kDivided,
  kReshape,
  kMultiple,
};

// A row of the table.
struct UsageRuleInfo {
  UsageRule rule;
  const char* name;      // as records and signatures have it: "usage:cdiv"
  const char* evidence;  // the code that shows it; x: the parameter
  const char* role;      // what it makes of x in a record; empty if the extractor does not ask
  const char* inferred;  // what the compiler infers of x; empty if it does not ask
  bool told = false;     // whether the compiler takes that for sure, not for a guess
};

// Returns the table, in the order of UsageRule and without kNoRule.
std::span<const UsageRuleInfo> UsageRules();

// Returns the rule's name; empty for kNoRule.
const char* RuleName(UsageRule rule);

// Returns the row of that name; null if there is no such rule.
const UsageRuleInfo* FindUsageRule(absl::string_view name);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_USAGE_USAGE_RULES_H_
