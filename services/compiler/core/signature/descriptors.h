#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_DESCRIPTORS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_DESCRIPTORS_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "services/compiler/core/signature/argument_types.h"

namespace kernelmill::compiler {

// "tensordesc<fp16[64, 32]>" of the parameter at `place`; empty: the block's size is not known. The
// sizes are the first that are told whole:
//
//   a hook before the launch sets them          nargs["x"].block_shape = [BLOCK, 64]
//   the launch makes the descriptor with them   TensorDescriptor.from_tensor(x, [BLOCK, 64]); not
//                                               all 1, which stands in until a hook sets them
//   offsets are multiples of them               x.load([pid * BLOCK, 0]): a dimension without one
//                                               is 1, if another one has one
//
// `value_of` gives the value of the constexpr at a place.
std::string TypeOfDescriptor(const KernelFacts& facts, size_t place, absl::string_view element,
                             const std::function<std::string(size_t)>& value_of);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_DESCRIPTORS_H_
