#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SHINGLES_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SHINGLES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "services/deduplicator/core/sign/tokenizer.h"

namespace kernelmill::deduplicator {

inline constexpr int kShingleTokens = 5;
inline constexpr int kRunTokens = 13;

// Hashes of tokens as written. That of "ab", "c" is not that of "a", "bc".
std::vector<uint64_t> TokenHashes(absl::Span<const Token> tokens);

// The set of 5-token shingles of a token sequence, as 64-bit hashes: sorted, each once. A sequence
// of one to four tokens is one shingle; an empty one has none.
std::vector<uint64_t> Shingles(absl::Span<const uint64_t> token_hashes);

// The same with numbers and strings each counted as one, and the tokens that `local` marks by their
// pattern alone: within
// a shingle a name is told by how far back it stood before, so that renaming changes nothing while
// which of the names are the same still counts.
std::vector<uint64_t> StructuralShingles(absl::Span<const Token> tokens,
                                         absl::Span<const uint64_t> token_hashes,
                                         const std::vector<bool>& local);

// A hash of the whole sequence with the tokens that `local` marks numbered in the order in which
// they first come: equal for texts that are equal up to renaming, numbers and strings included.
uint64_t RenamedHash(absl::Span<const uint64_t> token_hashes, const std::vector<bool>& local);

// Hashes of all runs of 13 tokens, in their order, repeats included.
std::vector<uint64_t> Runs(absl::Span<const uint64_t> token_hashes);

// A hash of a whole set. Equal sets have equal hashes.
uint64_t SetHash(absl::Span<const uint64_t> shingles);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SHINGLES_H_
