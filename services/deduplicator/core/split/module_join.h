#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MODULE_JOIN_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MODULE_JOIN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::deduplicator {

// A search for kernels whose source is contained in another kernel's source or module, or in a
// whole file: all its runs of 13 tokens are among the other's. A source of fewer tokens has no run;
// it is too generic to count.
//
// Add() all kernels to look for, then Build(), then Probe() with the kernels that may contain them.
// Memory holds the runs of the added kernels; the others are not kept. Not thread-safe.
class ModuleJoin {
 public:
  // Adds the next kernel; kernels are numbered from 0.
  void Add(const v1::KernelShingles& kernel);
  void Build();

  // Calls found(i) once for each added kernel whose source this one contains, if wanted(i) is true.
  // Calls wanted(i) first, before it compares runs.
  void Probe(const v1::KernelShingles& kernel, absl::FunctionRef<bool(uint32_t)> wanted,
             absl::FunctionRef<void(uint32_t)> found) const;

  size_t size() const { return ends_.size(); }

 private:
  absl::Span<const uint64_t> GetSource(uint32_t kernel) const;

  std::vector<uint64_t> runs_;  // the sources' runs, one after the other; each sorted, each once
  std::vector<size_t> ends_;    // the end of each source in `runs_`
  // The kernels by the smallest run of their source.
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> by_least_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MODULE_JOIN_H_
