#ifndef KERNELMILL_COMMON_BASE_HASH_H_
#define KERNELMILL_COMMON_BASE_HASH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Return the SHA-256 of `bytes`, as 32 raw bytes or as 64 lowercase hexadecimal digits.
std::string Sha256(absl::string_view bytes);
std::string Sha256Hex(absl::string_view bytes);

// Returns the SHA-1 of `bytes`, 20 raw bytes; only for ids that are defined with SHA-1.
std::string Sha1(absl::string_view bytes);

// Returns a 64-bit hash that is the same on every machine and in every release (XXH3, seeded).
uint64_t StableHash64(absl::string_view bytes, uint64_t seed = 0);

// The SHA-256 of a stream. Not thread-safe.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;

  void Update(absl::string_view bytes);
  // Ends the stream and returns its hash; call once.
  std::string FinishHex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_HASH_H_
