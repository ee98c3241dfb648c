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
inline constexpr int kMaxSimilar = 16384;  // that one call finds, of all its kernels
inline constexpr int kDefaultTop = 10;

// How alike two kernels are, as SimilarKernel has it.
struct KernelSimilarity {
  enum class Kind : uint8_t { kExact, kNear, kStructural };
  Kind kind = Kind::kExact;
  double similarity = 0;
  double near = 0;
  double structural = 0;
};

absl::string_view KindName(KernelSimilarity::Kind kind);

// Compares kernels, a shard at a time, with the few that were asked for, by what the sign stage
// makes of both, and keeps of each of these the most similar ones: memory for one shard's shingles,
// whatever the dataset's size. Every kernel is compared by its sets, none is left out by its
// MinHash. Not thread-safe.
class SimilarFinder {
 public:
  struct Found {
    KernelSimilarity scores;
    int source = 0;
    uint32_t number = 0;
    std::string path;
    int first_line = 0;
  };

  // INVALID_ARGUMENT: a limit that stages.proto names is passed.
  static absl::Status Check(const v1::SimilarRequest& request);

  // Of a request that Check accepts.
  explicit SimilarFinder(const v1::SimilarRequest& request);

  // The next kernels of a dataset: of its source, numbered from `first_number`.
  void Add(const v1::KernelShard& kernels, int source, uint32_t first_number);

  int64_t compared() const { return compared_; }
  // Of each of the request's kernels, the most similar of those added, in SimilarKernels' order.
  const std::vector<std::vector<Found>>& found() const { return found_; }

 private:
  void Enter(Found found, std::vector<Found>* best) const;

  const size_t top_;
  const double threshold_;
  // The request's kernels, to be compared with those of each language.
  const SignedShard python_;
  const SignedShard c_;
  int64_t compared_ = 0;
  std::vector<std::vector<Found>> found_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIMILAR_H_
