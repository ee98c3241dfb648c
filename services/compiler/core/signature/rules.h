#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_RULES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_RULES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler {

// The rules that infer a signature: for each parameter the first of its list that holds. The rules
// "usage:..." are those of common/python/usage/usage_rules.h, whose table says which code shows
// them. rules.cc has all others, with how sure they are.
//
// clang-format off
//   type of an argument    gives
//   inductor               what triton_meta says of it
//   annotation             x: tl.int32, tl.pointer_type(tl.float32)
//   launch:none            None: the launch gives it, or may, in a try without such arguments
//   usage:asserted         *T; *u32, *fp32
//   usage:dot_scaled       *u8
//   usage:dot              *i8
//   launch:dtype           *T: the launch makes the tensor with that type
//   usage:bitcast          *i8, *i16, *i32, *i64
//   usage:made_pointer     *i64
//   usage:bitwise          *i32, i32
//   usage:offset           i32. *i32: what is loaded is part of an address; so of the next five
//   usage:range, usage:divides, usage:shape, usage:cdiv, usage:random
//   usage:mask             *i1
//   usage:atomic           *i32
//   usage:alternative      *fp32; i64: q = q.to(tl.int64)
//   usage:math             a float
//   launch:type            the launch gives a float, an integer or a flag
//   default                the type of the parameter's own default
//   descriptor             tensordesc<T[b]>: loaded by its own methods, or the launch gives one.
//                          argument_types.h says what gives b
//   usage:float_bits       as guess:float, fp32
//   usage:tuple            (T, T). T by the other rules
//   usage:compared         i32
//   usage:condition        i1
//   usage:stored           *i32, *i64, *i1
//   name:FRAGMENT          names.cc: idx, offsets, labels, mask; eps, scale, dropout
//   usage:arithmetic       fp32
//   role:ROLE              i32: the record says that it is a size or a stride
//   guess:float            *fp32, *bf16, *fp16, at last *i32, *fp8e4nv: nothing more is known
//   guess:int              i32
//   guess:second           as for constexprs
//
//   value of a constexpr   gives
//   inductor               what triton_meta says
//   autotune               the first configuration, or another one in a later try
//   heuristics             the function of @triton.heuristics, called with the other values and with
//                          what it is given itself. Numbers are 1024, 128 if several sizes are made of
//                          them, 12 in a later try; a function that asks for types or
//                          shapes hears of tensors
//   heuristics:small       the same in the last tries, with numbers of 12
//   heuristics:flag        True, in tries with flags: numbers decide whether sizes divide one another
//   launch                 the launch gives a literal, or an expression that is one: 2 * SIZE
//   launch:present         `x is not None` of the launch, as the try gives x or not
//   default                the parameter's default
//   launch:likely          the launch may give it: the first of several values, a default of the host
//                          function, a bound: min(n, 512), of a size at most 8192. A flag: False, then
//                          True
//   unit_stride            1: the last stride of a tensor descriptor
//   launch:none            as above
//   usage:called           None
//   usage:equals           1, True, False
//   usage:order            its place in the order
//   usage:dtype            the type of the pointers; int32 if a value that is cast to it is shifted,
//                          except in tries with flags; in a late try the first type that it is
//                          compared with
//   usage:compared         the first literal, or constant of the module, that it is compared with
//   usage:condition        False, then True
//   usage:keyword          names.cc: input_precision, eviction_policy; a layout of Gluon
//   usage:unrolled         2
//   usage:none             None
//   name:FRAGMENT          names.cc: BLOCK, HEAD_DIM, GROUP, num_warps
//   usage:size             64
//   usage:tuple            (16, 16): x[0], x[1]. 0: a[x]
//   usage:three_dimensional  16
//   usage:divided          256: a shape has x // 32 // 8, or static_assert(x >= 256), and the guess is
//                          less
//   usage:reshape          of the sizes that are guessed the last parameter. Not in a late try
//   usage:multiple         a multiple of c, if the guess is not one
//   guess:int              16
//   guess:small            16, in the last tries, if the guess is more
//   guess:second           another guess, after the compiler refused the first where its value counts
//                          (second_guesses.h)
//
//   option                 gives
//   inductor, autotune, launch   as above: num_warps, num_stages, num_ctas, maxnreg
// clang-format on
//
// An argument whose type no rule tells is missing, such as a descriptor that is loaded at one name:
// it may have any number of dimensions.
enum class Certainty : uint8_t {
  kGuessed,  // another value may be right
  kTold,     // the code says so
  kRead,     // it is written down as the value
};

// Returns how sure a rule is; kGuessed for an unknown one.
Certainty GetCertainty(absl::string_view rule);

// Returns whether another launch may give another value: it is guessed, or the try chose it, such
// as a default, or what a function of @triton.heuristics makes of the arguments of the try.
bool MayDiffer(absl::string_view rule);

// Returns whether the name is one of the rules above. Every inferred value has such a rule.
bool IsKnownRule(absl::string_view rule);

// Returns whether the signature is one of the last tries, in which sizes that nothing tells are
// small.
bool HasSmallSizes(const v1::KernelSignature& signature);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_RULES_H_
