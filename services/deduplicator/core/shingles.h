#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SHINGLES_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SHINGLES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::deduplicator {

inline constexpr int kShingleTokens = 5;

// The set of 5-token shingles of a token sequence, as 64-bit hashes: sorted, each once. A sequence
// of one to four tokens is one shingle; an empty one has none. A shingle's hash is taken over the
// hashes of its tokens, so that where a token ends counts: ("ab", "c") is not ("a", "bc").
std::vector<uint64_t> Shingles(absl::Span<const absl::string_view> tokens);

// A hash of a whole set. Equal sets have equal hashes.
uint64_t SetHash(absl::Span<const uint64_t> shingles);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SHINGLES_H_
