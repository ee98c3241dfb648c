#include "tests/bench/dedup/join.h"

#include <sys/resource.h>
#include <time.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/status.h"
#include "common/dsl/languages.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/sign/shingles.h"
#include "services/deduplicator/core/sign/tokenizer.h"
#include "services/deduplicator/core/split/module_join.h"
#include "services/deduplicator/core/split/set_join.h"
#include "tests/bench/dedup/made_kernels.h"

namespace kernelmill::bench {
namespace {

constexpr double kThreshold = 0.7;
constexpr int64_t kShard = 64;    // kernels that are held out together
constexpr int64_t kHeldOut = 10;  // one shard in so many

v1::KernelShingles MakeShingles(const v1::Kernel& kernel) {
  const auto hashes = deduplicator::TokenHashes(
      deduplicator::Tokenize(kernel.source(), dsl::GetSyntax(kernel.dsl())));
  const std::vector<uint64_t> near = deduplicator::Shingles(hashes);
  const std::vector<uint64_t> runs = deduplicator::Runs(hashes);
  v1::KernelShingles shingles;
  shingles.mutable_near()->Add(near.begin(), near.end());
  shingles.mutable_runs()->Add(runs.begin(), runs.end());
  return shingles;
}

// Adds up the processor time of what it is called with.
class Timer {
 public:
  template <typename Work>
  absl::Status Time(Work work) {
    const double begin = Now();
    const absl::Status status = work();
    seconds_ += Now() - begin;
    return status;
  }
  double seconds() const { return seconds_; }

 private:
  static double Now() {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  double seconds_ = 0;
};

}  // namespace

absl::Status Join(int64_t kernels, int64_t probes, const v1::KernelShard& real) {
  const MadeKernels made(real);
  deduplicator::SetJoin alike(kThreshold);
  deduplicator::ModuleJoin modules;
  Timer build_alike, build_modules, probe_alike, probe_modules;
  for (int64_t i = 0; i < kernels; ++i) {
    if (i / kShard % kHeldOut != 0) continue;
    const v1::KernelShingles shingles = MakeShingles(made.Make(i));
    RETURN_IF_ERROR(build_alike.Time([&] { return alike.Add(shingles.near()); }));
    RETURN_IF_ERROR(build_modules.Time([&] { return modules.Add(shingles); }));
  }
  RETURN_IF_ERROR(build_alike.Time([&] { return alike.Build(); }));
  RETURN_IF_ERROR(build_modules.Time([&] { return modules.Build(); }));
  int64_t probed = 0, found = 0, contained = 0;
  const int64_t shards = kernels / kShard;
  // One more than some tens, so that a tenth of these shards is held out too.
  const int64_t tens = (kernels / probes + kHeldOut - 1) / kHeldOut;
  const int64_t step = tens * kHeldOut + 1;
  for (int64_t shard = 1; shard < shards; shard += step) {
    for (int64_t i = shard * kShard; i < (shard + 1) * kShard; ++i) {
      const v1::KernelShingles shingles = MakeShingles(made.Make(i));
      ++probed;
      RETURN_IF_ERROR(probe_alike.Time([&] {
        return alike.Probe(
            shingles.near(), [](uint32_t) { return true; }, [&](uint32_t) { ++found; });
      }));
      RETURN_IF_ERROR(probe_modules.Time([&] {
        return modules.Probe(
            shingles, [](uint32_t) { return true; }, [&](uint32_t) { ++contained; });
      }));
    }
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const Timer& timer, int64_t of) { return 1e6 * timer.seconds() / of; };
  std::cout << nlohmann::json{{"kernels", kernels},
                              {"held_out", alike.size()},
                              {"probed", probed},
                              {"build_alike_us", us(build_alike, kernels)},
                              {"build_modules_us", us(build_modules, kernels)},
                              {"probe_alike_us", us(probe_alike, probed)},
                              {"probe_modules_us", us(probe_modules, probed)},
                              {"candidates", alike.candidates()},
                              {"found", found},
                              {"contained", contained},
                              {"peak_mib", usage.ru_maxrss / 1024}}
            << "\n";
  return absl::OkStatus();
}

}  // namespace kernelmill::bench
