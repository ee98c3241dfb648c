#ifndef KERNELMILL_COMMON_MANIFEST_REVIEWS_H_
#define KERNELMILL_COMMON_MANIFEST_REVIEWS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/manifest/curated_pairs.h"
#include "common/manifest/walk.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::manifest {

using Reviews = google::protobuf::RepeatedPtrField<v1::Review>;

// Finds on a walk what a person's decisions name: all kernels that each of their references does.
// Keeps a reference to `reviews`, and some numbers of each kernel found. Not thread-safe.
class ReviewedKernelFinder final : public DatasetVisitor {
 public:
  enum class Part { kKernel, kCuda, kTriton };  // of a decision
  struct Found {
    uint32_t number = 0;  // of the kernel
    int review = 0;       // its place in `reviews`
    Part part = Part::kKernel;
  };

  explicit ReviewedKernelFinder(const Reviews& reviews);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;

  // After the walk, by number.
  const std::vector<Found>& found() const { return found_; }

 private:
  struct Reference {
    const v1::KernelReference* kernel = nullptr;
    int review = 0;
    Part part = Part::kKernel;
  };

  void Add(const v1::KernelReference& kernel, int review, Part part);

  std::vector<Reference> references_;
  // References by what they are looked up by: a path, else an id.
  absl::flat_hash_map<std::string, std::vector<uint32_t>> by_key_;
  std::string repository_;  // of the source that is walked
  std::vector<Found> found_;
};

// A decision that has nothing to decide on, or that cannot be followed.
struct ReviewProblem {
  int review = 0;  // its place in the manifest
  std::string problem;
};

// What comes of a dataset's decisions.
struct FollowedReviews {
  std::vector<CuratedPair> accepted;  // pairs, in the manifest's order, those without a problem
  std::vector<std::pair<uint32_t, uint32_t>> rejected;  // of numbers: CUDA, Triton
  std::vector<ReviewProblem> problems;                  // by place
};

// An accepted pair needs two kept kernels, each the only one that is as its reference says; a
// rejected one, and a decision on a kernel, need no more than some kernel that is. Walks the
// dataset where there are decisions. Errors as WalkDataset.
absl::StatusOr<FollowedReviews> FollowReviews(cas::BlobStore& store,
                                              const v1::DatasetManifest& manifest,
                                              const v1::Clusters& clusters);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_REVIEWS_H_
