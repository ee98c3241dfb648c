#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_RULES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_RULES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler {

// How the types and values of a signature are told: for each parameter the first rule that holds.
//
//   type of an argument
//   rule                sure     gives
//   inductor            read     what triton_meta says of it
//   annotation          read     x: tl.int32, tl.pointer_type(tl.float32)
//   launch:none         read     None: the launch gives it, or may, in a try without such arguments
//   usage:asserted      told     *T: static_assert(x.dtype.element_ty == tl.T). *u32, *fp32: what
//                                is loaded is, static_assert(y.dtype == tl.uint32)
//   usage:dot_scaled    told     *u8: a scale of tl.dot_scaled, or packed numbers (e2m1, or a
//                                format that is a constexpr)
//   usage:dot           told     *i8: multiplied by tl.dot that sums in integers
//   launch:dtype        guessed  *T: the launch makes the tensor with that type
//   usage:bitcast       told     *i8, *i16, *i32, *i64: read as another type of as many bits
//   usage:made_pointer  told     *i64: what is loaded becomes a pointer
//   usage:bitwise       told     *i32, i32: & | ^ << >> are done with it
//   usage:offset        told     i32: in an address. *i32: what is loaded is; so of the next five
//   usage:range         told     a bound of a loop or arange
//   usage:divides       told     divided by an integer, or an index is by it
//   usage:shape         told     in the shape or strides of a block pointer or descriptor
//   usage:cdiv          told     in an argument of cdiv
//   usage:random        told     a seed or an offset of random numbers
//   usage:mask          told     *i1: a mask
//   usage:atomic        told     *i32: of compare-and-swap, or an integer is added
//   usage:alternative   told     *fp32: a name is given what is loaded or zeros of float32. i64:
//                                q = q.to(tl.int64)
//   usage:math          told     float: exp, log and the like are taken of it
//   launch:type         told     the launch gives a float, an integer or a flag
//   default             told     of the parameter's own default
//   descriptor          guessed  tensordesc<T[b]>: loaded by its own methods, or the launch gives
//   one.
//                                descriptors.h says what gives b
//   usage:float_bits    guessed  as guess:float, fp32: read as an integer of 32 bits
//   usage:tuple         guessed  (T, T): x[0], x[i] of an unrolled loop. T by the other rules
//   usage:compared      guessed  i32: ordered against an index
//   usage:condition     guessed  i1: an if depends on it
//   usage:stored        guessed  *i32, *i64, *i1: an integer, not scaled by what is loaded, or a
//                                comparison is stored there
//   name:FRAGMENT       guessed  names.cc: idx, offsets, labels, mask; eps, scale, dropout
//   usage:arithmetic    guessed  fp32: multiplied with floats
//   role:ROLE           guessed  i32: the record says that it is a size or a stride
//   guess:float         guessed  *fp32, *bf16, *fp16, at last *i32, *fp8e4nv: nothing more is known
//   guess:int           guessed  i32
//
//   value of a constexpr
//   inductor             read     what triton_meta says
//   autotune             read     the first configuration, or another one in a later try
//   heuristics           read     the function of @triton.heuristics, called with the other values,
//                                 and what it is given itself. Numbers are 1024, 128 where several
//                                 sizes are made of them, 12 in a later try; one that asks for
//                                 types hears of tensors
//   heuristics:small     guessed  the same in the last tries, with numbers of 12
//   heuristics:flag      guessed  True, in tries with flags: whether sizes divide one another is
//                                 told of numbers
//   launch               read     the launch gives a literal, or what comes to one: 2 * SIZE
//   launch:present       told     `x is not None` of the launch, as the try gives x or does not
//   default              told     of the parameter
//   launch:likely        guessed  the launch may give it: the first of several values, a default of
//                                 the host function's, a bound: min(n, 512), of a size at most
//                                 8192. A flag: False, then True
//   unit_stride          told     1: the last stride of a tensor descriptor
//   launch:none          read     as above
//   usage:called         guessed  None: a function that is called under a condition
//   usage:equals         guessed  1, True, False: static_assert(it == 1), static_assert(it)
//   usage:order          guessed  its place in the order of a block pointer
//   usage:dtype          guessed  a type, that of the pointers; int32 where what is cast to it is
//                                 shifted, but in tries with flags; in a late try the first that it
//                                 is compared with
//   usage:compared       guessed  the first literal, or constant of the module, that it is compared
//                                 with
//   usage:condition      guessed  False, then True
//   usage:keyword        guessed  names.cc: of a call's argument: input_precision, eviction_policy
//   usage:unrolled       guessed  2
//   usage:none           guessed  None: it is compared with None
//   name:FRAGMENT        guessed  names.cc: BLOCK, HEAD_DIM, GROUP, num_warps
//   usage:size           guessed  64: a shape has it
//   usage:tuple          guessed  (16, 16): it[0], it[1]. 0: x[it]
//   usage:three_dimensional  guessed  16: a shape has it, and a tensor has three dimensions
//   usage:divided        guessed  256: a shape has it // 32 // 8, or static_assert(it >= 256), and
//                                 the guess is less
//   usage:reshape        guessed  what is reshaped has as many elements as before, or
//                                 static_assert(A == B * C), or arange(A, B) has A: of the sizes
//                                 that are guessed the last parameter. Not in a late try
//   usage:multiple       guessed  a multiple of C: static_assert(it % C == 0) or (C <= it), and the
//                                 guess is none
//   guess:int            guessed  16
//   guess:small          guessed  16, in the last tries, where the guess is more
//
//   option
//   inductor, autotune, launch    as above: num_warps, num_stages, num_ctas, maxnreg
//
// An argument of which no rule tells the type, such as a descriptor of blocks that no offset tells
// the size of, is missing.
enum class Certainty : uint8_t { kGuessed, kTold, kRead };

// Of a rule of the tables.
Certainty CertaintyOf(absl::string_view rule);

// Whether the signature is of the last tries, where sizes of which nothing is known are small.
bool HasSmallSizes(const v1::KernelSignature& signature);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_RULES_H_
