#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_WORD_OVERLAP_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_WORD_OVERLAP_H_

#include "common/dataset/fim.h"
#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {

// From here on a prompt gives its completion away: the write-up's leakage filter flags such pairs
// for review.
inline constexpr double kLeakage = 0.8;

// The distinct words, runs of anything but white space, of the two sides of a pair.
Overlap WordOverlap(const dataset::FimPair& pair);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_WORD_OVERLAP_H_
