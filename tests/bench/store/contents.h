#ifndef KERNELMILL_TESTS_BENCH_STORE_CONTENTS_H_
#define KERNELMILL_TESTS_BENCH_STORE_CONTENTS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/cas/digest.h"

namespace kernelmill::bench {

enum class Kind {
  kRandom,
  kSource
};  // bytes that do not shrink; text like a program's, which does

// Pseudo-random numbers that are the same for a seed everywhere; good enough to defeat compression.
class Numbers {
 public:
  explicit Numbers(uint64_t seed);
  uint64_t Next();

 private:
  uint64_t state_;
};

// `size` bytes that depend on the seed and the kind alone.
std::string MakeContent(Kind kind, uint64_t seed, size_t size);

// Many large blobs that share all but their tails, so that a load of gigabytes needs neither that
// memory nor the time to hash it while it is measured. Immutable.
class LargeBlobs {
 public:
  static constexpr size_t kTail = 64;
  LargeBlobs(Kind kind, uint64_t seed, size_t size);

  size_t size() const { return body_.size() + kTail; }
  // What all of them begin with; and what blob `index` ends with.
  absl::string_view body() const { return body_; }
  std::string Tail(uint64_t index) const;
  // Hashes the whole blob: call it before the clock starts.
  cas::Digest GetDigest(uint64_t index) const;

 private:
  const uint64_t seed_;
  const std::string body_;
};

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_STORE_CONTENTS_H_
