#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_CALL_KINDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_CALL_KINDS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// What a function of a kernel language does, as its last part says: dot of tl.dot and jnp.dot. The
// table is in call_kinds.cc. Bits, since one may be several.
enum CallKind : uint32_t {
  kLoad = 1 << 0,
  kStore = 1 << 1,
  kDot = 1 << 2,
  kReduce = 1 << 3,
  kSum = 1 << 4,
  kMax = 1 << 5,
  kScan = 1 << 6,
  kRandomCall = 1 << 7,
  kExp = 1 << 8,
  kRoot = 1 << 9,
  kSelect = 1 << 10,  // the largest or smallest of several
  kAtomicUpdate = 1 << 11,
  kCopyCall = 1 << 12,   // of memory as a whole
  kCast = 1 << 13,       // of type or shape: computes nothing
  kPlace = 1 << 14,      // programs, sizes, indices and constants: nothing that is loaded
  kCrossLane = 1 << 15,  // or what else moves values in ways that no store shows
};

uint32_t CallKindsOf(absl::string_view name);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_CALL_KINDS_H_
