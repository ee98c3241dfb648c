#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SHINGLE_SETS_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SHINGLE_SETS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/file.h"

namespace kernelmill::deduplicator {

struct SpillOptions {
  size_t memory_bytes = size_t{64} << 20;  // for each kind of set; the rest goes to disk
  std::string folder;                      // for that rest; default: the system's temp folder
};

// A list of shingle sets, numbered in the order in which they are added. It keeps them in memory up
// to a number of bytes and the rest in a temp file, which it creates for the first set that does
// not fit. The file has no name, so that the system frees it however this process ends, and nothing
// is synced. A plain file is enough: sets are written once, in order, and read by offset, and the
// page cache keeps what there is memory for. Errors are those of the disk (ErrnoStatus). Not
// thread-safe.
class ShingleSets {
 public:
  explicit ShingleSets(SpillOptions options) : options_(std::move(options)) {}
  ShingleSets(const ShingleSets&) = delete;
  ShingleSets& operator=(const ShingleSets&) = delete;

  absl::Status Add(absl::Span<const uint64_t> set);
  size_t size() const { return ends_.size(); }
  size_t spilled() const { return size() - in_memory_; }

  // Returns a set, which is valid until `buffer` changes.
  absl::StatusOr<absl::Span<const uint64_t>> Get(size_t index, std::vector<uint64_t>* buffer);

 private:
  absl::Status OpenFile();
  absl::Status Append(absl::string_view bytes);
  absl::Status Flush();
  // Fills `bytes` with the appended bytes from `offset` on.
  absl::Status Read(uint64_t offset, absl::Span<char> bytes);

  const SpillOptions options_;
  size_t in_memory_ = 0;            // the number of sets in memory; later ones are in the file
  std::vector<uint64_t> shingles_;  // the sets in memory, one after the other
  std::vector<uint64_t> ends_;      // the end of each set, counted in shingles over all sets
  FileDescriptor file_;
  std::string unwritten_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SHINGLE_SETS_H_
