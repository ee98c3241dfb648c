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
  size_t memory_bytes = size_t{256} << 20;  // of shingles, by each kind of set; more go to disk
  std::string folder;  // where there is room for them; default: the system's for temporary files
};

// Shingle sets, numbered in the order in which they are added: in memory up to a number of bytes,
// the rest in a temp file, which the first set that does not fit makes. The file has no name, so
// that the system takes it back however this process ends, and nothing is synced. It is a plain
// file, since sets are written once, in order, and read by their place: nothing is there for a
// database to sort or compact, and the system's page cache keeps what there is memory for. Errors:
// those of the disk, as ErrnoStatus. Not thread-safe.
class ShingleSets {
 public:
  explicit ShingleSets(SpillOptions options) : options_(std::move(options)) {}
  ShingleSets(const ShingleSets&) = delete;
  ShingleSets& operator=(const ShingleSets&) = delete;

  absl::Status Add(absl::Span<const uint64_t> set);
  size_t size() const { return ends_.size(); }
  size_t spilled() const { return size() - in_memory_; }

  // Valid until `buffer` changes.
  absl::StatusOr<absl::Span<const uint64_t>> Get(size_t index, std::vector<uint64_t>* buffer);

 private:
  absl::Status OpenFile();
  absl::Status Append(absl::string_view bytes);
  absl::Status Flush();
  // Fills `bytes` with what was appended from `offset` on.
  absl::Status Read(uint64_t offset, absl::Span<char> bytes);

  const SpillOptions options_;
  size_t in_memory_ = 0;  // sets; those that follow are in the file
  std::vector<uint64_t> shingles_;
  std::vector<uint64_t> ends_;  // of each set, counted in shingles over all of them
  FileDescriptor file_;
  std::string unwritten_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SHINGLE_SETS_H_
