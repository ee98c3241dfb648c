#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SIGN_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SIGN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/dataset/fim.h"
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
Overlap WordOverlap(const dataset::FimPair& pair);

// Appends a kernel.
void Sign(const v1::Kernel& kernel, SignedShard* shard);

SignedShard SignShard(const v1::KernelShard& kernels);

// Of the kernel's name. 0 where it has none of its own: that of generated code, and of code in a
// string or a JSON file, says nothing.
uint64_t NameHash(const v1::Kernel& kernel);

inline int KernelsIn(const v1::SignatureShard& shard) {
  return static_cast<int>(shard.sha256().size() / 32);
}

// The MinHash of the shard's kernel `i`.
MinHashValues MinHashOf(const v1::TokenSets& sets, int i);

// INVALID_ARGUMENT unless the columns are as long as each other.
absl::Status CheckSignatures(const v1::SignatureShard& shard);

// INVALID_ARGUMENT unless a set of shingles is sorted, each once.
absl::Status CheckSet(absl::Span<const uint64_t> shingles);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SIGN_H_
