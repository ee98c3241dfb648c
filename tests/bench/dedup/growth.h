#ifndef KERNELMILL_TESTS_BENCH_DEDUP_GROWTH_H_
#define KERNELMILL_TESTS_BENCH_DEDUP_GROWTH_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::bench {

struct GrowthOptions {
  int64_t kernels = 10'000;
  std::string folder;      // for the blobs
  bool is_signed = false;  // the folder has the results of sign from an earlier run
  int processes = 1;       // that run tasks of one stage side by side
};

// Signs, pairs, resolves and splits made kernels by the stages themselves, and prints as JSON what
// each stage took of a processor, and its peak of memory. With `real`, the kernels are changed
// copies of these.
absl::Status Growth(const GrowthOptions& options, const v1::KernelShard& real);

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_DEDUP_GROWTH_H_
