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

// Finds kernels whose source stands in another's module, or in a whole file: all of its runs of 13
// tokens are among the other's. One of fewer tokens has no run and is anybody's text.
//
// Add() all kernels that are looked for, then Build(), then Probe() with as many others as there
// are, which are not kept. In memory are the runs of those that were added, three numbers each. Not
// thread-safe.
class ModuleJoin {
 public:
  // The next kernel; they are numbered from 0.
  void Add(const v1::KernelShingles& kernel);
  void Build();

  // Calls found(i), once or twice, for each kernel of those added that has the other's source or
  // whose source the other has; of those alone for which wanted(i) holds, which is asked before
  // two are compared.
  void Probe(const v1::KernelShingles& kernel, absl::FunctionRef<bool(uint32_t)> wanted,
             absl::FunctionRef<void(uint32_t)> found);

  size_t size() const { return places_.size(); }
  size_t runs() const { return runs_.size(); }  // that are held

 private:
  using Runs = absl::Span<const uint64_t>;
  struct Entry {
    uint64_t run;
    uint32_t kernel;
  };
  // In runs_: those of the source, then those of all of its texts; each sorted, each once.
  struct Place {
    size_t source = 0;
    size_t all = 0;
    size_t end = 0;
  };

  Runs SourceOf(uint32_t kernel) const;
  Runs AllOf(uint32_t kernel) const;
  void FindWithin(Runs source, absl::FunctionRef<bool(uint32_t)> wanted,
                  absl::FunctionRef<void(uint32_t)> found) const;
  void FindHeld(Runs all, absl::FunctionRef<bool(uint32_t)> wanted,
                absl::FunctionRef<void(uint32_t)> found) const;

  std::vector<uint64_t> runs_;
  std::vector<Place> places_;
  std::vector<Entry> entries_;  // of all texts; sorted by run
  // Kernels by the least run of their source.
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> by_least_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MODULE_JOIN_H_
