#ifndef KERNELMILL_COMMON_MANIFEST_WORD_OVERLAP_H_
#define KERNELMILL_COMMON_MANIFEST_WORD_OVERLAP_H_

#include <cstdint>

#include "common/manifest/fim.h"

namespace kernelmill::manifest {

// The words of a prompt and its completion, which are what white space is between, each counted
// once: how many are in both, and in either.
struct WordCounts {
  uint32_t common = 0;
  uint32_t total = 0;
};
WordCounts CountWords(const FimPair& pair);

// From this overlap of words on (common over total) a prompt gives its completion away: the
// write-up's leakage filter flags such pairs for review.
inline constexpr double kWordOverlapFlag = 0.8;

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_WORD_OVERLAP_H_
