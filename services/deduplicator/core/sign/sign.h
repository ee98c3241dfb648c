#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SIGN_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SIGN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/manifest/fim.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/minhash.h"

namespace kernelmill::deduplicator {

// All that the search for duplicates needs of a shard's kernels, in their order.
struct SignedShard {
  v1::SignatureShard signatures;
  v1::ShingleShard shingles;
};

// Compares the distinct words of prompt and completion; a word is a run of non-blank characters.
Overlap WordOverlap(const manifest::FimPair& pair);

// Appends the signature of a kernel or of a whole file. A file has first line 0, which IsFile()
// tests. Its shingles are salted, so that no kernel shares one. Its runs are stored as a module's
// runs, since a holdout's text may be anywhere in it. It has no other sets.
void Sign(const v1::Kernel& kernel, SignedShard* shard);

SignedShard SignShard(const v1::KernelShard& kernels);

// Returns a hash of the kernel's name, or 0 if the name says nothing: the kernel has none, or it
// comes from generated code, a string or a JSON file.
uint64_t NameHash(const v1::Kernel& kernel);

// Counts the shard's entries, whole files included.
inline int KernelsIn(const v1::SignatureShard& shard) {
  return static_cast<int>(shard.sha256().size() / 32);
}

// Returns true if the shard's entry `i` is a whole file.
inline bool IsFile(const v1::SignatureShard& shard, int i) { return shard.first_lines(i) == 0; }

// Returns the MinHash of the shard's kernel `i`.
MinHashValues GetMinHash(const v1::TokenSets& sets, int i);

// Returns INVALID_ARGUMENT unless all columns have the same length.
absl::Status CheckSignatures(const v1::SignatureShard& shard);

// Returns INVALID_ARGUMENT unless the shingles are sorted, each once.
absl::Status CheckSet(absl::Span<const uint64_t> shingles);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SIGN_H_
