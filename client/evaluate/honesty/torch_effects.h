#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_TORCH_EFFECTS_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_TORCH_EFFECTS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// The effect of a function or a method of torch on the tensors that it is given.
enum class TorchEffect : uint8_t {
  kNothing,     // gives a number, a size, a type or a setting
  kAllocates,   // makes a tensor whose values are constants, random or not set
  kMoves,       // gives the same values in another shape, type or place
  kOverwrites,  // replaces the values of its first tensor
  kUpdates,     // changes the values of its first tensor
  kComputes,    // gives other values
};

// Returns the effect of a dotted name of torch: "torch.empty_like", "torch.nn.functional.softmax".
// Everything that the table lacks computes.
TorchEffect GetFunctionEffect(absl::string_view resolved);

// Returns the effect of a tensor's method: "view", "sum", "copy_".
TorchEffect GetMethodEffect(absl::string_view method);

// Returns whether a name of a package computes on tensors without any kernel of the answer.
bool IsOtherLibrary(absl::string_view resolved);

// Returns whether a keyword of a launch is an option of Triton or of a vendor's compiler, and not a
// parameter of the kernel.
bool IsLaunchOption(absl::string_view keyword);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_TORCH_EFFECTS_H_
