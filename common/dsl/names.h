#ifndef KERNELMILL_COMMON_DSL_NAMES_H_
#define KERNELMILL_COMMON_DSL_NAMES_H_

namespace kernelmill::dsl {

// The names of the languages that code of other folders asks about: values of Kernel.dsl. All
// languages are in common/dsl/languages; a folder that needs another one's name asks for a property
// of the language instead.
inline constexpr char kTriton[] = "triton";
inline constexpr char kGluon[] = "gluon";
inline constexpr char kPallas[] = "pallas";
inline constexpr char kCuda[] = "cuda";

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_NAMES_H_
