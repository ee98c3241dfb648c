#ifndef KERNELMILL_TESTS_BENCH_DEDUP_JOIN_H_
#define KERNELMILL_TESTS_BENCH_DEDUP_JOIN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::bench {

// Measures the two joins of the stage split as in a job of so many made kernels: indexes a tenth,
// as if it were held out, and looks for about `probes` of all kernels there. So a million kernels
// need no disk and not the minutes in which they are signed. Prints as JSON what a kernel costs.
// With `real`, the kernels are changed copies of these.
absl::Status Join(int64_t kernels, int64_t probes, const v1::KernelShard& real);

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_DEDUP_JOIN_H_
