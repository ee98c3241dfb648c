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

// All that duplicate search needs of a shard's kernels, in their order.
struct SignedShard {
  v1::SignatureShard signatures;
  v1::ShingleShard shingles;
};

// The distinct words, runs of anything but white space, of the two sides of a pair.
Overlap WordOverlap(const manifest::FimPair& pair);

// Appends a kernel, or a whole file. Of a file the first line is 0, by which IsFile tells; its
// shingles are hashed so that no kernel has one of them, and its runs stand where those of a module
// do: a holdout's text may stand anywhere in it. It has no other sets.
void Sign(const v1::Kernel& kernel, SignedShard* shard);

SignedShard SignShard(const v1::KernelShard& kernels);

// Of the kernel's name. 0 where it has none of its own: that of generated code, and of code in a
// string or a JSON file, says nothing.
uint64_t NameHash(const v1::Kernel& kernel);

inline int KernelsIn(const v1::SignatureShard& shard) {
  return static_cast<int>(shard.sha256().size() / 32);
}

// Whether the shard's entry `i` is a whole file.
inline bool IsFile(const v1::SignatureShard& shard, int i) { return shard.first_lines(i) == 0; }

// The MinHash of the shard's kernel `i`.
MinHashValues MinHashOf(const v1::TokenSets& sets, int i);

// INVALID_ARGUMENT unless the columns are as long as each other.
absl::Status CheckSignatures(const v1::SignatureShard& shard);

// INVALID_ARGUMENT unless a set of shingles is sorted, each once.
absl::Status CheckSet(absl::Span<const uint64_t> shingles);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SIGN_H_
