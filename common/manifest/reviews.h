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

// A visitor that finds the kernels which people's decisions name: all that match each reference.
// `reviews` must outlive it. It holds a few numbers per found kernel. Not thread-safe.
class ReviewedKernelFinder final : public DatasetVisitor {
 public:
  enum class Part { kKernel, kCuda, kTriton };  // the reference of a decision
  struct Found {
    uint32_t number = 0;  // the kernel's
    int review = 0;       // the index in `reviews`
    Part part = Part::kKernel;
  };

  explicit ReviewedKernelFinder(const Reviews& reviews);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;

  // The found kernels by number, after the walk.
  const std::vector<Found>& found() const { return found_; }

 private:
  struct Reference {
    const v1::KernelReference* kernel = nullptr;
    int review = 0;
    Part part = Part::kKernel;
  };

  void Add(const v1::KernelReference& kernel, int review, Part part);

  std::vector<Reference> references_;
  // The references by their key: the path, or the id if they have no path.
  absl::flat_hash_map<std::string, std::vector<uint32_t>> by_key_;
  std::string repository_;  // the repository of the current source
  std::vector<Found> found_;
};

// A decision that matches no kernel or cannot be applied.
struct ReviewProblem {
  int review = 0;  // the index in the manifest
  std::string problem;
};

// The results of a dataset's decisions.
struct FollowedReviews {
  std::vector<CuratedPair> accepted;                    // without problems, in the manifest's order
  std::vector<std::pair<uint32_t, uint32_t>> rejected;  // the numbers: CUDA, Triton
  std::vector<ReviewProblem> problems;                  // by index
};

// Applies the decisions. An accepted pair needs two kept kernels, each the only match of its
// reference. A rejected pair, and a decision on a kernel, need at least one match per reference.
// Walks the dataset if it has decisions. Errors are those of WalkDataset.
absl::StatusOr<FollowedReviews> FollowReviews(cas::BlobStore& store,
                                              const v1::DatasetManifest& manifest,
                                              const v1::Clusters& clusters);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_REVIEWS_H_
