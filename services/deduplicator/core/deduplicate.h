#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_DEDUPLICATE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_DEDUPLICATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/stages.pb.h"

namespace kernelmill::deduplicator {

inline constexpr int kMaxTexts = 16384;
inline constexpr int64_t kMaxTextBytes = 8 << 20;
inline constexpr double kDefaultThreshold = 0.7;

// Signs, pairs and resolves some kernel texts in memory, as one source whose kernels are all
// accepted. Thread-safe. Returns INVALID_ARGUMENT for more than kMaxTexts texts or kMaxTextBytes
// bytes, or for a threshold outside (0, 1].
absl::StatusOr<v1::Clusters> Deduplicate(const v1::DeduplicateRequest& request);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_DEDUPLICATE_H_
