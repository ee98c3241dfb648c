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
  uint32_t before;  // and the one after #endif
  Condition condition;
  int difference;  // of the branch where the condition holds to the one where it does not
};

// Which brackets belong together: (), [], {} and a launch's <<< >>>. Refers to the text.
struct Brackets {
  // Of a bracket's token the other bracket's; kNoToken of one that has none, and of other tokens.
  std::vector<uint32_t> match;
  // Tokens at which brackets do not fit; sorted.
  std::vector<uint32_t> errors;
  // In the order of the text. Those of one condition that make up for one another are no errors.
  std::vector<Uneven> uneven;

  // Whether an error lies at a token of [first, last], or conditionals in there do not make up for
  // one another.
  bool HasErrorIn(uint32_t first, uint32_t last) const;
};

// Linear in time, whatever the nesting.
//
// The basic idea: every branch of a conditional starts with the brackets that were open at its #if;
// what follows #endif goes on from the branch that counts, which is the first unless an earlier #if
// asked the same. So alternatives that open the same brackets count once, functions within any
// branch are whole, and a loop that one #ifdef opens another one may close. The open brackets form
// a list linked from the inside out, never changed: going back to an #if's costs nothing.
Brackets MatchBrackets(const Code& code);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_BRACKETS_H_
