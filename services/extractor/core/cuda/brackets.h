#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_BRACKETS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_BRACKETS_H_

#include <cstdint>
#include <vector>

#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

inline constexpr uint32_t kNoToken = 0xffffffff;

// Which brackets belong together: (), [], {} and a launch's <<< >>>.
struct Brackets {
  // Of a bracket's token the other bracket's; kNoToken of one that has none, and of other tokens.
  std::vector<uint32_t> match;
  // Tokens at which brackets do not fit, and between which preprocessor branches open and close
  // differently many; sorted.
  std::vector<uint32_t> errors;

  // Whether an error lies at a token of [first, last].
  bool HasErrorIn(uint32_t first, uint32_t last) const;
};

// Linear in time, whatever the nesting.
//
// The basic idea: every branch of a conditional starts with the brackets that were open at its #if;
// what follows #endif goes on from the first branch. So alternatives that open the same brackets
// count once, and functions within any branch are whole. The open brackets form a list linked from
// the inside out, never changed: going back to an #if's costs nothing.
Brackets MatchBrackets(const Code& code);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_BRACKETS_H_
