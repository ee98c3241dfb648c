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

// Finds kernels whose source stands in another kernel's source or module, or in a whole file: all
// of its runs of 13 tokens are among that one's. A source of fewer tokens has no run and is
// anybody's text.
//
// Add() all kernels whose sources are looked for, then Build(), then Probe() with those in which
// they may stand, which are not kept. In memory are the runs of what was added. Not thread-safe.
class ModuleJoin {
 public:
  // The next kernel; they are numbered from 0.
  void Add(const v1::KernelShingles& kernel);
  void Build();

  // Calls found(i), once, for each of those added whose source the kernel has; of those alone for
  // which wanted(i) holds, which is asked before runs are compared.
  void Probe(const v1::KernelShingles& kernel, absl::FunctionRef<bool(uint32_t)> wanted,
             absl::FunctionRef<void(uint32_t)> found) const;

  size_t size() const { return ends_.size(); }

 private:
  absl::Span<const uint64_t> SourceOf(uint32_t kernel) const;

  std::vector<uint64_t> runs_;  // of each source; sorted, each once
  std::vector<size_t> ends_;    // of each source's in `runs_`
  // Kernels by the least run of their source.
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> by_least_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MODULE_JOIN_H_
