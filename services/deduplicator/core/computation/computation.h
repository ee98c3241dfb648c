#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_COMPUTATION_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_COMPUTATION_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

namespace kernelmill::deduplicator {

// The computation of a kernel.
struct Computation {
  // A hash for each value that the kernel stores, returns or hands to a function for its effect;
  // sorted, with repeats. Kernels with the same hashes compute the same, whatever their names, the
  // order of their statements, their addresses and their block sizes (interpreter.h). Empty for a
  // text that cannot be followed: one that is too large or broken, or that has no function.
  std::vector<uint64_t> hashes;
  // The kernel only moves data: what it does is in its addresses, which the hashes leave out.
  bool only_moves = false;
};

Computation FindComputation(absl::string_view source, code::Language language,
                            absl::string_view kernel_name);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_COMPUTATION_H_
