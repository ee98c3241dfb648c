#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIMILAR_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIMILAR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/stages.pb.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {

inline constexpr int kMaxQueries = 1024;
inline constexpr int kMaxSimilar = 16384;  // results of one call, for all its kernels together
inline constexpr int kDefaultTop = 10;

// How similar two kernels are, as stages.proto's SimilarKernel says it.
struct KernelSimilarity {
  enum class Kind : uint8_t { kExact, kNear, kStructural };
  Kind kind = Kind::kExact;
  double similarity = 0;
  double near = 0;
  double structural = 0;
};

absl::string_view KindName(KernelSimilarity::Kind kind);

// A search for the kernels that are most similar to those of a request. It signs kernels as the
// sign stage does and compares them a shard at a time, so that it needs memory for one shard's
// shingles, whatever the dataset's size. It compares the exact sets of every kernel; no MinHash
// leaves one out. Not thread-safe.
class SimilarFinder {
 public:
  struct Found {
    KernelSimilarity scores;
    int source = 0;
    uint32_t number = 0;
    std::string path;
    int first_line = 0;
  };

  // Returns INVALID_ARGUMENT if the request exceeds a limit that stages.proto names.
  static absl::Status Check(const v1::SimilarRequest& request);

  // Takes a request that Check() accepts.
  explicit SimilarFinder(const v1::SimilarRequest& request);

  // Compares the next kernels of a dataset: those of `source`, numbered from `first_number`.
  void Add(const v1::KernelShard& kernels, int source, uint32_t first_number);

  int64_t compared() const { return compared_; }
  // The most similar added kernels for each kernel of the request, in SimilarKernels' order.
  const std::vector<std::vector<Found>>& found() const { return found_; }

 private:
  void Enter(Found found, std::vector<Found>* best) const;

  const size_t top_;
  const double threshold_;
  // The request's kernels, signed for the comparison with either language.
  const SignedShard python_;
  const SignedShard c_;
  int64_t compared_ = 0;
  std::vector<std::vector<Found>> found_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIMILAR_H_
