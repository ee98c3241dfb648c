#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_OPERATIONS_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_OPERATIONS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "services/deduplicator/core/sign/tokenizer.h"

namespace kernelmill::deduplicator {

// Returns the operations that a kernel computes with, as a set of hashes: sorted, each once.
// Kernels with different operations do different things, however many tokens they share.
//
//   functions   called functions, by the last part of their names, except the kernel itself and
//               those in kPlumbing
//   operators   + - * / // % ** @ & | ^ ~ << >> not and or ! && ||, alone or in an assignment
//   comparisons < > <= >= == !=
//   constants   numbers with a fraction that are at least 0.001: 0.044715, but not 1e-6 or 2.0
//
// For a Python function only the body counts: decorators and defaults say how it is compiled.
std::vector<uint64_t> Operations(absl::Span<const Token> tokens, Language language,
                                 absl::string_view kernel_name);

// Functions that load, store, shape, convert, count or locate: nearly every kernel calls some, and
// they do not tell what it computes.
inline constexpr absl::string_view kPlumbing[] = {
    "Config",
    "advance",
    "append",
    "arange",
    "assume",
    "autotune",
    "bool",
    "broadcast_to",
    "cast",
    "cdiv",
    "constexpr",
    "debug_barrier",
    "device_assert",
    "device_print",
    "expand_dims",
    "float32",
    "full",
    "full_like",
    "heuristics",
    "int",
    "isinstance",
    "jit",
    "len",
    "load",
    "make_block_ptr",
    "make_tensor_descriptor",
    "max_constancy",
    "max_contiguous",
    "multiple_of",
    "next_power_of_2",
    "num_programs",
    "permute",
    "print",
    "program_id",
    "range",
    "reshape",
    "static_assert",
    "static_print",
    "static_range",
    "store",
    "to",
    "trans",
    "view",
    "zeros",
    "zeros_like",
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_OPERATIONS_H_
