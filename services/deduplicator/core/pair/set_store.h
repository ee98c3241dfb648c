#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SET_STORE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SET_STORE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::deduplicator {

// Room on disk for what does not fit into memory, gone with this object. Not thread-safe.
class SpillSpace {
 public:
  virtual ~SpillSpace() = default;
  virtual absl::Status Append(absl::string_view bytes) = 0;
  // Fills `bytes` with what was appended from there on. INTERNAL: there is not as much.
  virtual absl::Status Read(uint64_t offset, absl::Span<char> bytes) = 0;
};

// Shingle sets, numbered in the order in which they are added: in memory up to a number of bytes,
// the rest in a spill space. Not thread-safe.
class SetStore {
 public:
  // `spill` outlives the store; null: all in memory.
  SetStore(size_t memory_bytes, SpillSpace* spill) : limit_(memory_bytes), spill_(spill) {}

  absl::Status Add(absl::Span<const uint64_t> set);
  size_t size() const { return ends_.size(); }
  size_t spilled() const { return size() - in_memory_; }

  // Valid until `buffer` changes.
  absl::StatusOr<absl::Span<const uint64_t>> Get(size_t index, std::vector<uint64_t>* buffer);

 private:
  const size_t limit_;
  SpillSpace* const spill_;
  size_t in_memory_ = 0;  // sets; those that follow are spilled
  std::vector<uint64_t> shingles_;
  std::vector<uint64_t> ends_;  // of each set, counted in shingles over all of them
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SET_STORE_H_
