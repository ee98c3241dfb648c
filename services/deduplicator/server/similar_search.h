#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SIMILAR_SEARCH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SIMILAR_SEARCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/stages.pb.h"

namespace kernelmill::deduplicator {

// Answers Deduplicator.Similar from a dataset's blobs. It reads the dataset once, a shard at a
// time. Then it reads the shards again that contain a result, or the kernel that a result
// duplicates. It signs kernels as it reads them: their stored shingles would be no fewer bytes than
// their texts, and the manifest does not name them.
//
// Returns CANCELLED if `cancelled` returns true; it is called for each shard. Other errors are
// those of stages.proto and of the store.
absl::StatusOr<v1::SimilarResponse> FindSimilar(cas::BlobStore& store,
                                                const v1::SimilarRequest& request,
                                                absl::FunctionRef<bool()> cancelled);

// A comparison as Deduplicator.Similar makes it, for a program that has its kernels in memory and
// not in a store. Not thread-safe.
class KernelComparison {
 public:
  // A kernel that was found. `number` counts added kernels from 0; the rest is as in SimilarKernel.
  struct Match {
    int64_t number = 0;
    std::string kind;
    double similarity = 0;
    double near = 0;
    double structural = 0;
  };

  // `request` names no dataset and may have any number of kernels. Returns INVALID_ARGUMENT if its
  // threshold or `top` is out of bounds.
  static absl::StatusOr<std::unique_ptr<KernelComparison>> Open(const v1::SimilarRequest& request);
  ~KernelComparison();

  // Adds kernels to compare with the request's.
  void Add(const v1::KernelShard& kernels);
  // Returns the most similar added kernels for each kernel of the request, best first.
  std::vector<std::vector<Match>> Matches() const;

 private:
  struct State;
  explicit KernelComparison(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SIMILAR_SEARCH_H_
