#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_BRACKETS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_BRACKETS_H_

#include <cstdint>
#include <vector>

#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

inline constexpr uint32_t kNoToken = 0xffffffff;

// A conditional whose two branches open differently many brackets.
struct Uneven {
  uint32_t at;      // the token after #if
  uint32_t before;  // the token after #endif
  Condition condition;
  int difference;  // brackets open if the condition holds, minus those open if it does not
};

// The pairs of brackets of a text: (), [], {} and a launch's <<< >>>. Refers to the text.
struct Brackets {
  // For a bracket's token, the token of its partner; kNoToken for a bracket without a partner, and
  // for all other tokens.
  std::vector<uint32_t> match;
  // Tokens at which brackets do not fit; sorted.
  std::vector<uint32_t> errors;
  // In the order of the text. Differences of one condition that add up to 0 are no errors.
  std::vector<Uneven> uneven;

  // Returns whether [first, last] holds an error, or conditionals whose differences do not add up
  // to 0 within it.
  bool HasErrorIn(uint32_t first, uint32_t last) const;
};

// Pairs the brackets of a text. Linear in time, whatever the nesting.
//
// The basic idea: the branch that a compiler will see is not known, so each branch of an #if starts
// with the brackets that are open at the #if. The text after #endif continues from one of them, the
// main branch: the first branch whose condition holds, where a condition holds unless an earlier
// #if assumed its opposite. So alternatives that open the same brackets count once, functions
// within any branch are whole, and a loop that one #ifdef opens may be closed in another. The open
// brackets form a list, linked from the inside out and never changed, so that going back to those
// of an #if costs nothing.
Brackets MatchBrackets(const Code& code);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_BRACKETS_H_
