// The basic idea. A source stands in a text if all of its runs do, and then the least of its runs
// does. So one look-up of that run among the runs of all texts finds those that may have a source,
// and a look-up of each run of a text among the least runs of all sources finds those that it may
// have. Where they meet all runs are compared.
//
// Runs that are the same in another order would be found, too: of 13 tokens each, this is nobody's
// text.

#include "services/deduplicator/core/split/module_join.h"

#include <algorithm>

#include "services/deduplicator/core/sign/hash_sort.h"

namespace kernelmill::deduplicator {
namespace {

void MakeSet(std::vector<uint64_t>& runs) {
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
}

std::vector<uint64_t> SourceRuns(const v1::KernelShingles& kernel) {
  std::vector<uint64_t> runs(kernel.runs().begin(), kernel.runs().end());
  MakeSet(runs);
  return runs;
}

// Of its source and its module.
std::vector<uint64_t> AllRuns(const v1::KernelShingles& kernel) {
  std::vector<uint64_t> runs(kernel.runs().begin(), kernel.runs().end());
  runs.insert(runs.end(), kernel.module_runs().begin(), kernel.module_runs().end());
  MakeSet(runs);
  return runs;
}

bool Has(absl::Span<const uint64_t> all, absl::Span<const uint64_t> source) {
  return std::includes(all.begin(), all.end(), source.begin(), source.end());
}

}  // namespace

ModuleJoin::Runs ModuleJoin::SourceOf(uint32_t kernel) const {
  const Place& place = places_[kernel];
  return absl::MakeConstSpan(runs_).subspan(place.source, place.all - place.source);
}

ModuleJoin::Runs ModuleJoin::AllOf(uint32_t kernel) const {
  const Place& place = places_[kernel];
  return absl::MakeConstSpan(runs_).subspan(place.all, place.end - place.all);
}

void ModuleJoin::Add(const v1::KernelShingles& kernel) {
  const std::vector<uint64_t> source = SourceRuns(kernel);
  const std::vector<uint64_t> all = AllRuns(kernel);
  Place& place = places_.emplace_back();
  place.source = runs_.size();
  runs_.insert(runs_.end(), source.begin(), source.end());
  place.all = runs_.size();
  runs_.insert(runs_.end(), all.begin(), all.end());
  place.end = runs_.size();
}

void ModuleJoin::Build() {
  for (uint32_t i = 0; i < size(); ++i) {
    for (const uint64_t run : AllOf(i)) entries_.push_back({run, i});
    if (!SourceOf(i).empty()) by_least_[SourceOf(i).front()].push_back(i);
  }
  SortByHash(absl::MakeSpan(entries_), [](const Entry& entry) { return entry.run; });
}

void ModuleJoin::FindWithin(Runs source, absl::FunctionRef<bool(uint32_t)> wanted,
                            absl::FunctionRef<void(uint32_t)> found) const {
  auto entry = std::partition_point(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.run < source.front(); });
  for (; entry != entries_.end() && entry->run == source.front(); ++entry) {
    if (wanted(entry->kernel) && Has(AllOf(entry->kernel), source)) found(entry->kernel);
  }
}

void ModuleJoin::FindHeld(Runs all, absl::FunctionRef<bool(uint32_t)> wanted,
                          absl::FunctionRef<void(uint32_t)> found) const {
  for (const uint64_t run : all) {
    const auto kernels = by_least_.find(run);
    if (kernels == by_least_.end()) continue;
    for (const uint32_t i : kernels->second) {
      if (wanted(i) && Has(all, SourceOf(i))) found(i);
    }
  }
}

void ModuleJoin::Probe(const v1::KernelShingles& kernel, absl::FunctionRef<bool(uint32_t)> wanted,
                       absl::FunctionRef<void(uint32_t)> found) {
  const std::vector<uint64_t> source = SourceRuns(kernel);
  if (!source.empty()) FindWithin(source, wanted, found);
  FindHeld(AllRuns(kernel), wanted, found);
}

}  // namespace kernelmill::deduplicator
