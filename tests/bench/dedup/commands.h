#ifndef KERNELMILL_TESTS_BENCH_DEDUP_COMMANDS_H_
#define KERNELMILL_TESTS_BENCH_DEDUP_COMMANDS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace kernelmill::bench {

// Reads the "source" and "dsl" of each line of `records` (kernels.jsonl), writes their shingle sets
// to `shingles` (each a 32-bit count and 64-bit hashes, little-endian) for others to start from,
// and prints as JSON: how long sign and pair take from the sets on, and from the text on; and the
// pairs found against all there are, by brute force.
absl::Status Compare(const std::string& records, const std::string& shingles, double threshold);

// Signs, pairs and resolves `kernels` synthetic kernels by the stages themselves over a store in
// `folder`, and prints as JSON what each stage took and the peak of memory.
absl::Status Growth(int64_t kernels, const std::string& folder);

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_DEDUP_COMMANDS_H_
