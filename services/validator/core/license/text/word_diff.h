#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORD_DIFF_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORD_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kernelmill::validator {

// A run of words that both texts have: a[at_a, at_a + size) is b[at_b, at_b + size).
struct EqualRun {
  size_t at_a = 0;
  size_t at_b = 0;
  size_t size = 0;
};

// The runs of a shortest edit script from `a` to `b`, in order, found with at most `max_edits`
// words taken out or put in; false if more are needed. Adds what it took to *steps, about
// max_edits^2 at most, and gives up (false) where that exceeds `max_steps`.
bool DiffWords(absl::Span<const uint16_t> a, absl::Span<const uint16_t> b, size_t max_edits,
               size_t max_steps, size_t* steps, std::vector<EqualRun>* runs);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORD_DIFF_H_
