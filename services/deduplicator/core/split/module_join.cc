// The basic idea: a text contains a source if it contains all its runs, and then it contains any
// one of them. So a look-up of each run of the text among one run of every source finds the sources
// that it may contain, and all runs of these are compared. The run of a source is its rarest one
// among all sources: thousands of kernels begin alike, and would all be met by such a run.
//
// Runs in another order would match too. Runs are 13 tokens long and overlap, so that no real text
// has them in another order.

#include "services/deduplicator/core/split/module_join.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "common/base/status.h"
#include "services/deduplicator/core/sign/shingles.h"
#include "services/deduplicator/core/split/huge_array.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kLeastRunCounts = size_t{1} << 10;
constexpr size_t kMostRunCounts = size_t{1} << 26;  // 128 MiB
constexpr uint16_t kMostRunCount = std::numeric_limits<uint16_t>::max();

}  // namespace

absl::Status ModuleJoin::Add(const v1::KernelShingles& kernel) {
  std::vector<uint64_t> runs(kernel.runs().begin(), kernel.runs().end());
  MakeSet(&runs);
  runs_ += runs.size();
  return sources_.Add(runs);
}

// Indexes each source by its rarest run; a source without runs is never found. Runs are counted by
// their lower bits: a count that is too high costs time alone.
absl::Status ModuleJoin::Build() {
  HugeArray<uint16_t> counts(std::clamp(std::bit_ceil(runs_), kLeastRunCounts, kMostRunCounts));
  const auto count_of = [&](uint64_t run) -> uint16_t& {
    return counts[run & (counts.size() - 1)];
  };
  for (size_t i = 0; i < size(); ++i) {
    ASSIGN_OR_RETURN(const auto source, sources_.Get(i, &buffer_));
    for (const uint64_t run : source) {
      if (count_of(run) < kMostRunCount) ++count_of(run);
    }
  }
  std::vector<std::pair<uint64_t, uint32_t>> rarest;  // and the kernel
  for (uint32_t i = 0; i < size(); ++i) {
    ASSIGN_OR_RETURN(const auto source, sources_.Get(i, &buffer_));
    if (source.empty()) continue;
    rarest.emplace_back(*std::min_element(source.begin(), source.end(),
                                          [&](uint64_t x, uint64_t y) {
                                            return std::make_pair(count_of(x), x) <
                                                   std::make_pair(count_of(y), y);
                                          }),
                        i);
  }
  by_rarest_ = HashIndex(rarest.size());
  for (int round = 0; round < 2; ++round) {
    for (const auto& [run, kernel] : rarest) by_rarest_.Add(HashIndex::MakeKey(run), kernel);
    by_rarest_.EndRound();
  }
  return absl::OkStatus();
}

// Calls `found` for each wanted source whose runs are all in the kernel's source or module. Most
// kernels meet no source, so that their runs need not be sorted.
absl::Status ModuleJoin::Probe(const v1::KernelShingles& kernel,
                               absl::FunctionRef<bool(uint32_t)> wanted,
                               absl::FunctionRef<void(uint32_t)> found) {
  met_.clear();
  for (const auto* runs : {&kernel.runs(), &kernel.module_runs()}) {
    for (const uint64_t run : *runs) {
      const uint64_t key = HashIndex::MakeKey(run);
      if (!by_rarest_.MayHave(key)) continue;
      by_rarest_.ForEach(key, [&](uint32_t i) {
        if (wanted(i)) met_.push_back(i);
      });
    }
  }
  if (met_.empty()) return absl::OkStatus();
  std::sort(met_.begin(), met_.end());
  met_.erase(std::unique(met_.begin(), met_.end()), met_.end());
  std::vector<uint64_t> all(kernel.runs().begin(), kernel.runs().end());
  all.insert(all.end(), kernel.module_runs().begin(), kernel.module_runs().end());
  MakeSet(&all);
  for (const uint32_t i : met_) {
    ++candidates_;
    ASSIGN_OR_RETURN(const auto source, sources_.Get(i, &buffer_));
    if (std::includes(all.begin(), all.end(), source.begin(), source.end())) found(i);
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator
