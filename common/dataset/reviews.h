#ifndef KERNELMILL_COMMON_DATASET_REVIEWS_H_
#define KERNELMILL_COMMON_DATASET_REVIEWS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/dataset/curated_pairs.h"
#include "common/dataset/kernel_reference.h"
#include "common/dataset/walk.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::dataset {

using Reviews = google::protobuf::RepeatedPtrField<v1::Review>;

// Finds on a walk the kernels that decisions on single kernels name; decisions on pairs are
// CuratedPairFinder's. A decision holds of every kernel that it names. Keeps a reference to
// `reviews`. Not thread-safe.
class ReviewedKernelFinder final : public DatasetVisitor {
 public:
  explicit ReviewedKernelFinder(const Reviews& reviews);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;

  bool empty() const { return references_.empty(); }

  // After the walk: kernels' numbers, each with the place of a decision on it in `reviews`; by
  // number, then place.
  const std::vector<std::pair<uint32_t, int>>& found() const { return found_; }
  // The places of decisions that name no kernel, ascending.
  std::vector<int> Unmatched() const;

 private:
  KernelReferences references_;
  std::vector<int> places_;  // in `reviews`, by reference
  std::string repository_;   // of the source that is walked
  std::vector<std::pair<uint32_t, int>> found_;
};

// A decision that has nothing to decide on, or that cannot be followed.
struct ReviewProblem {
  int review = 0;  // its place in the manifest
  std::string problem;
};

// What of the manifest's reviews cannot be followed, by place; `pairs` is what FindCuratedPairs
// gave, `kernels` has walked the dataset.
std::vector<ReviewProblem> ReviewProblems(const std::vector<CuratedPair>& pairs,
                                          const ReviewedKernelFinder& kernels);

// The same, with a walk where decisions on kernels need one. Errors as WalkDataset.
absl::StatusOr<std::vector<ReviewProblem>> FindReviewProblems(
    cas::BlobStore& store, const v1::DatasetManifest& manifest,
    const std::vector<CuratedPair>& pairs);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_COMMON_DATASET_REVIEWS_H_
