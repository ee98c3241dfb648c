#ifndef KERNELMILL_TESTS_BENCH_STORE_LOAD_H_
#define KERNELMILL_TESTS_BENCH_STORE_LOAD_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/digest.h"
#include "tests/bench/store/connection.h"

namespace kernelmill::bench {

// The kind of content: random bytes, or text like a program's, which compresses well.
enum class Kind { kRandom, kSource };

// A generator of pseudo-random numbers that depend only on the seed. They do not compress.
class Numbers {
 public:
  explicit Numbers(uint64_t seed);
  uint64_t Next();

 private:
  uint64_t state_;
};

// Makes `size` bytes that depend only on the seed and the kind.
std::string MakeContent(Kind kind, uint64_t seed, size_t size);

// Many large blobs that differ only in their tails. So a load of gigabytes does not need that
// memory, and no time for hashing while it is measured. Immutable, and so thread-safe.
class LargeBlobs {
 public:
  static constexpr size_t kTail = 64;
  LargeBlobs(Kind kind, uint64_t seed, size_t size);

  size_t size() const { return body_.size() + kTail; }
  // The common begin of all blobs, and the end of blob `index`.
  absl::string_view body() const { return body_; }
  std::string Tail(uint64_t index) const;
  // Hashes the whole blob: call it before the clock starts.
  cas::Digest GetDigest(uint64_t index) const;

 private:
  const uint64_t seed_;
  const std::string body_;
};

inline constexpr int kDigestsPerFind = 100;
inline constexpr int kBlobsPerBatch = 64;
inline constexpr int kSmallBlob = 4096;
inline constexpr int kLargeBlob = 16 << 20;

// The options of a load.
struct LoadOptions {
  Kind kind = Kind::kRandom;
  uint64_t seed = 1;  // for the stored blobs, or for those to store
  int operations = 100;
  int stored =
      16'384;  // the number of blobs of this seed on the server: small, or large for streams
  int message_bytes = 1 << 20;  // the size of a stream's messages to the server
};

// A number of calls of one kind, encoded before the clock starts. Many threads may call Run() at
// once with different numbers. A wrong answer of the server is an error.
class Load {
 public:
  virtual ~Load() = default;
  // Makes call number `operation`. Returns the number of bytes that it moved.
  virtual absl::StatusOr<int64_t> Run(int operation, Connection& connection) const = 0;
};

// Makes a load by name: find, find-half, update, read (64 blobs of 4 KiB per call), write, stream
// (a blob of 16 MiB per call). Half of find-half's digests are missing on the server. update and
// write store blobs 0 to operations*64, or operations. Returns INVALID_ARGUMENT for another name.
absl::StatusOr<std::unique_ptr<Load>> MakeLoad(const std::string& name, const LoadOptions& options);

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_STORE_LOAD_H_
