#include "common/python/usage/usage_rules.h"

#include <algorithm>
#include <iterator>

namespace kernelmill::python {
namespace {

// clang-format off
constexpr UsageRuleInfo kRules[] = {
    // The record wants the name that the address begins with; the compiler wants every level that is
    // loaded from, and infers no type of the address alone.
    {UsageRule::kAddress, "usage:address", "tl.load(x + i)", "pointer", "memory is there"},
    {UsageRule::kDescriptor, "usage:descriptor", "x.load([i])", "pointer", ""},
    // Pallas is never compiled here.
    {UsageRule::kReference, "usage:reference", "Pallas: x[...], x.at[...], x copied from or to", "pointer", ""},
    // The compiler does not tell strides from shapes: both are integers.
    {UsageRule::kStrides, "usage:strides", "make_block_ptr(p, shape, (x, 1), ...)", "stride", ""},
    {UsageRule::kShape, "usage:shape", "make_block_ptr(p, (x, n), ...)", "size", "i32, also of strides and offsets", true},
    // In a record each name inside the argument counts; for a type the value has to get there.
    {UsageRule::kCdiv, "usage:cdiv", "tl.cdiv(x, BLOCK)", "size", "i32", true},
    // arange bounds a tensor and not a loop: it gives no role, but an integer.
    {UsageRule::kRange, "usage:range", "for i in range(x)", "size", "i32, also of arange", true},
    // A role needs an index on the other side, as in a mask. An integer there is enough for a type,
    // and so is x == 0; of a constexpr the literal that it is compared with is the value.
    {UsageRule::kCompared, "usage:compared", "i < x", "size", "i32; the value of a constexpr"},
    // A role needs an index that x divides. Both sides of a division are integers.
    {UsageRule::kDivides, "usage:divides", "i // x, i % x", "size", "i32, also of the dividend", true},
    // Products are of floats too: the compiler learns nothing.
    {UsageRule::kMultiplies, "usage:multiplies", "i * x, if x is named as a dimension or a stride is", "size or stride", ""},

    {UsageRule::kAsserted, "usage:asserted", "static_assert(x.dtype.element_ty == tl.T)", "", "*T; *u32, *fp32 of what is loaded", true},
    {UsageRule::kDotScaled, "usage:dot_scaled", "tl.dot_scaled(a, x, \"e2m1\", ...)", "", "*u8: a scale, or packed numbers", true},
    {UsageRule::kDot, "usage:dot", "tl.dot(x, y), summed in integers", "", "*i8", true},
    {UsageRule::kBitcast, "usage:bitcast", "x.to(tl.int16, bitcast=True)", "", "*i8, *i16, *i32, *i64: as many bits", true},
    {UsageRule::kMadePointer, "usage:made_pointer", "tl.load(x).to(tl.pointer_type(T))", "", "*i64", true},
    {UsageRule::kBitwise, "usage:bitwise", "x & y, x << y", "", "*i32, i32", true},
    {UsageRule::kOffset, "usage:offset", "tl.load(p + x)", "", "i32", true},
    {UsageRule::kRandom, "usage:random", "tl.rand(x, i)", "", "i32", true},
    {UsageRule::kMask, "usage:mask", "tl.load(p, mask=x)", "", "*i1", true},
    {UsageRule::kAtomic, "usage:atomic", "tl.atomic_cas(x, 0, 1)", "", "*i32", true},
    {UsageRule::kAlternative, "usage:alternative", "a = tl.zeros(..., tl.float32); a = tl.load(x)", "", "*fp32", true},
    {UsageRule::kMath, "usage:math", "tl.exp(x)", "", "a float", true},
    {UsageRule::kFloatBits, "usage:float_bits", "x.to(tl.int32, bitcast=True)", "", "a float: its bits are read"},
    {UsageRule::kTuple, "usage:tuple", "x[0], x[i] of an unrolled loop", "", "(T, T); (16, 16) and 0 of constexprs"},
    {UsageRule::kCondition, "usage:condition", "if x:", "", "i1; False, then True of a constexpr"},
    {UsageRule::kStored, "usage:stored", "tl.store(x, i)", "", "*i32, *i64, *i1: not scaled by what is loaded"},
    {UsageRule::kArithmetic, "usage:arithmetic", "x * 0.5", "", "fp32"},
    {UsageRule::kElementType, "usage:element_type", "x.dtype.element_ty", "", "memory is there"},

    {UsageRule::kCalled, "usage:called", "x(a)", "", "None: it is called under a condition"},
    {UsageRule::kEquals, "usage:equals", "static_assert(x == 1), static_assert(x)", "", "1, True, False"},
    {UsageRule::kOrder, "usage:order", "make_block_ptr(..., order=(x, y))", "", "its place there"},
    {UsageRule::kDtype, "usage:dtype", "a.to(x), dtype=x", "", "the type of the pointers"},
    {UsageRule::kKeyword, "usage:keyword", "tl.dot(a, b, input_precision=x)", "", "the value that names.cc has for the keyword"},
    {UsageRule::kUnrolled, "usage:unrolled", "static_range(x)", "", "2"},
    {UsageRule::kComparedWithNone, "usage:none", "x is None", "", "None"},
    {UsageRule::kSize, "usage:size", "tl.arange(0, x)", "", "64"},
    {UsageRule::kThreeDimensional, "usage:three_dimensional", "tl.arange(0, x), where a tensor is a[:, None, None]", "", "16"},
    {UsageRule::kDivided, "usage:divided", "tl.arange(0, x // 32)", "", "a power of two that leaves 1 or more"},
    {UsageRule::kReshape, "usage:reshape", "tl.reshape(a, (x, y)), static_assert(x == y * z)", "", "the size that makes both sides equal"},
    {UsageRule::kMultiple, "usage:multiple", "static_assert(x % c == 0), static_assert(c <= x)", "", "a multiple of c"},
};
// clang-format on

static_assert(std::size(kRules) == static_cast<size_t>(UsageRule::kMultiple));

}  // namespace

std::span<const UsageRuleInfo> UsageRules() { return kRules; }

const char* RuleName(UsageRule rule) {
  return rule == UsageRule::kNoRule ? "" : kRules[static_cast<size_t>(rule) - 1].name;
}

const UsageRuleInfo* FindUsageRule(absl::string_view name) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const UsageRuleInfo& rule) { return rule.name == name; });
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace kernelmill::python
