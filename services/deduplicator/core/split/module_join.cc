// The basic idea: a text contains a source if it contains all its runs, and then it contains the
// source's smallest run. So a look-up of each run of the text among the smallest runs of all
// sources finds the sources that it may contain, and all runs of these are compared.
//
// Runs in another order would match too. Runs are 13 tokens long and overlap, so that no real text
// has them in another order.

#include "services/deduplicator/core/split/module_join.h"

#include <algorithm>

namespace kernelmill::deduplicator {
namespace {

void MakeSet(std::vector<uint64_t>& runs) {
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
}

}  // namespace

absl::Span<const uint64_t> ModuleJoin::GetSource(uint32_t kernel) const {
  const size_t begin = kernel == 0 ? 0 : ends_[kernel - 1];
  return absl::MakeConstSpan(runs_).subspan(begin, ends_[kernel] - begin);
}

void ModuleJoin::Add(const v1::KernelShingles& kernel) {
  std::vector<uint64_t> runs(kernel.runs().begin(), kernel.runs().end());
  MakeSet(runs);
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  ends_.push_back(runs_.size());
}

// Indexes each source by its smallest run; a source without runs is never found.
void ModuleJoin::Build() {
  for (uint32_t i = 0; i < size(); ++i) {
    if (!GetSource(i).empty()) by_least_[GetSource(i).front()].push_back(i);
  }
}

// Calls `found` for each wanted source whose runs are all in the kernel's source or module.
void ModuleJoin::Probe(const v1::KernelShingles& kernel, absl::FunctionRef<bool(uint32_t)> wanted,
                       absl::FunctionRef<void(uint32_t)> found) const {
  std::vector<uint64_t> all(kernel.runs().begin(), kernel.runs().end());
  all.insert(all.end(), kernel.module_runs().begin(), kernel.module_runs().end());
  MakeSet(all);
  for (const uint64_t run : all) {
    const auto kernels = by_least_.find(run);
    if (kernels == by_least_.end()) continue;
    for (const uint32_t i : kernels->second) {
      const absl::Span<const uint64_t> source = GetSource(i);
      if (!wanted(i) || !std::includes(all.begin(), all.end(), source.begin(), source.end())) {
        continue;
      }
      found(i);
    }
  }
}

}  // namespace kernelmill::deduplicator
