#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SHINGLES_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SHINGLES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "services/deduplicator/core/sign/tokenizer.h"

namespace kernelmill::deduplicator {

// Shingles and runs are windows of tokens, as hashes. Shingles, of 5 tokens, tell how similar two
// whole texts are. Runs, of 13 tokens, tell whether one text contains another: so long a run hardly
// occurs twice by chance. The hashes are stored and enter digests: changing one needs a new version
// of the sign stage.
inline constexpr int kShingleTokens = 5;
inline constexpr int kRunTokens = 13;

// Makes a set of hashes: sorts them and removes repeats.
void MakeSet(std::vector<uint64_t>* hashes);

// Returns a hash of each token as written. The hashes of "ab", "c" differ from those of "a", "bc".
std::vector<uint64_t> TokenHashes(absl::Span<const Token> tokens);

// Returns the set of 5-token shingles of a token sequence: sorted, each once. A sequence of one to
// four tokens is one shingle; an empty sequence has none.
std::vector<uint64_t> Shingles(absl::Span<const uint64_t> token_hashes);

// Returns the shingles with their content folded: all numbers count as one number, all strings as
// one string, and each token that `local` marks counts by its pattern alone. Within a shingle, a
// name is given by the distance to its previous use. So renaming changes nothing, while it still
// counts which of the names are the same.
std::vector<uint64_t> StructuralShingles(absl::Span<const Token> tokens,
                                         absl::Span<const uint64_t> token_hashes,
                                         const std::vector<bool>& local);

// Returns a hash of the whole sequence in which the tokens that `local` marks are numbered by first
// use: equal for texts that differ only in those names. Numbers and strings still count.
uint64_t RenamedHash(absl::Span<const uint64_t> token_hashes, const std::vector<bool>& local);

// Returns the hashes of all runs of 13 tokens, in their order, with repeats.
std::vector<uint64_t> Runs(absl::Span<const uint64_t> token_hashes);

// Returns a hash of a whole set. Equal sets have equal hashes.
uint64_t SetHash(absl::Span<const uint64_t> shingles);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SHINGLES_H_
