#ifndef KERNELMILL_TESTS_BENCH_STORE_LOAD_H_
#define KERNELMILL_TESTS_BENCH_STORE_LOAD_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/store/connection.h"
#include "tests/bench/store/contents.h"

namespace kernelmill::bench {

inline constexpr int kDigestsPerFind = 100;
inline constexpr int kBlobsPerBatch = 64;
inline constexpr int kSmallBlob = 4096;
inline constexpr int kLargeBlob = 16 << 20;

// What a load is made of.
struct LoadOptions {
  Kind kind = Kind::kRandom;
  uint64_t seed = 1;  // of what was, or is to be, stored
  int operations = 100;
  int stored = 16'384;  // blobs of this seed that the server holds: small, or large for streams
  int message_bytes = 1 << 20;  // of a stream's messages to the server
};

// A number of calls of one kind, encoded before the clock starts. Run may be called from many
// threads at once with different numbers; an answer that is not what the server owes is an error.
class Load {
 public:
  virtual ~Load() = default;
  // Makes call number `operation`; the content that it moved, in bytes.
  virtual absl::StatusOr<int64_t> Run(int operation, Connection& connection) const = 0;
};

// `name`: find, find-half, update, read (64 blobs of 4 KiB each), write, stream (a blob of 16 MiB
// each). find-half asks for as many digests that nobody stored. update and write store blobs 0 to
// operations*64, or operations. INVALID_ARGUMENT: another name.
absl::StatusOr<std::unique_ptr<Load>> MakeLoad(const std::string& name, const LoadOptions& options);

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_STORE_LOAD_H_
