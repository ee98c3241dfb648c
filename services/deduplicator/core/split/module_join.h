#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MODULE_JOIN_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MODULE_JOIN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/pair/shingle_sets.h"
#include "services/deduplicator/core/split/hash_index.h"

namespace kernelmill::deduplicator {

// A search for kernels whose source is contained in another kernel's source or module, or in a
// whole file: all its runs of 13 tokens are among the other's. A source of fewer tokens has no run;
// it is too generic to count.
//
// Add() all kernels to look for, then Build(), then Probe() with the kernels that may contain them.
// Memory holds an entry and a few counts for each added kernel, and as many of their runs as the
// spill options allow; the other kernels are not kept. Errors are those of the spill file. Not
// thread-safe.
class ModuleJoin {
 public:
  explicit ModuleJoin(const SpillOptions& spill = {}) : sources_(spill) {}

  // Adds the next kernel; kernels are numbered from 0.
  absl::Status Add(const v1::KernelShingles& kernel);
  absl::Status Build();

  // Calls found(i) once for each added kernel whose source this one contains, if wanted(i) is true.
  // Calls wanted(i) first, before it compares runs.
  absl::Status Probe(const v1::KernelShingles& kernel, absl::FunctionRef<bool(uint32_t)> wanted,
                     absl::FunctionRef<void(uint32_t)> found);

  size_t size() const { return sources_.size(); }
  // The number of compared pairs.
  int64_t candidates() const { return candidates_; }

 private:
  ShingleSets sources_;  // the runs of each source
  size_t runs_ = 0;      // of all sources
  HashIndex by_rarest_;  // the kernels by the rarest run of their source
  std::vector<uint32_t> met_;
  std::vector<uint64_t> buffer_;
  int64_t candidates_ = 0;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MODULE_JOIN_H_
