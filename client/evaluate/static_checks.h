#ifndef KERNELMILL_CLIENT_EVALUATE_STATIC_CHECKS_H_
#define KERNELMILL_CLIENT_EVALUATE_STATIC_CHECKS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/evaluate/kernel_services.h"
#include "client/evaluate/sample_result.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::client {

// The extractor's limits on one call.
inline constexpr size_t kBatchSamples = 256;
inline constexpr size_t kBatchSampleBytes = 8 << 20;

// The validator's checks that are asked of generated code, in the order of v1::Checks. Licences,
// docstrings' and compilers' are not.
absl::Span<const absl::string_view> StaticChecks();

// Extracts and validates the texts of some samples, each by itself: a name of one is not found in
// another. Sets the static measures and the problems of `results`, one for each text, and gives the
// kernels of each, linked. At most kBatchSamples texts of kBatchSampleBytes together.
absl::StatusOr<std::vector<v1::KernelShard>> CheckSamples(absl::Span<const std::string> texts,
                                                          KernelServices& services,
                                                          absl::Span<SampleResult* const> results);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_STATIC_CHECKS_H_
