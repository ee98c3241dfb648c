#include "services/deduplicator/core/sign.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/base/hash.h"
#include "common/dataset/fim.h"
#include "services/deduplicator/core/minhash.h"
#include "services/deduplicator/core/shingles.h"
#include "services/deduplicator/core/tokenizer.h"

namespace kernelmill::deduplicator {

v1::Signature Sign(const v1::Kernel& kernel) {
  v1::Signature signature;
  signature.set_sha256(Sha256(kernel.source()));
  signature.set_pair_sha1(dataset::FimPairSha1(dataset::MakeFimPair(kernel)));
  const std::vector<uint64_t> shingles = Shingles(Tokenize(kernel.source()));
  signature.mutable_shingles()->Add(shingles.begin(), shingles.end());
  const MinHashValues values = MinHash(shingles);
  signature.mutable_minhash()->Add(values.begin(), values.end());
  return signature;
}

v1::SignatureShard SignShard(const v1::KernelShard& shard) {
  v1::SignatureShard signatures;
  signatures.mutable_signatures()->Reserve(shard.kernels_size());
  for (const v1::Kernel& kernel : shard.kernels()) *signatures.add_signatures() = Sign(kernel);
  return signatures;
}

absl::Status CheckSignature(const v1::Signature& signature) {
  if (signature.sha256().size() != 32 || signature.pair_sha1().size() != 20 ||
      signature.minhash_size() != kPermutations) {
    return absl::InvalidArgumentError("a signature has hashes of the wrong size");
  }
  const auto& shingles = signature.shingles();
  if (std::adjacent_find(shingles.begin(), shingles.end(), std::greater_equal<uint64_t>()) !=
      shingles.end()) {
    return absl::InvalidArgumentError("a signature's shingles are not sorted, each once");
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator
