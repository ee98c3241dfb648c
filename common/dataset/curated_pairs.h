#ifndef KERNELMILL_COMMON_DATASET_CURATED_PAIRS_H_
#define KERNELMILL_COMMON_DATASET_CURATED_PAIRS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "common/dataset/kernel_reference.h"
#include "common/dataset/walk.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// A pair that a person made, as far as the dataset has it.
struct CuratedPair {
  uint32_t cuda = 0;  // the kernels' numbers
  uint32_t triton = 0;
  std::string problem;  // why the dataset cannot have it, and of which side; empty: it can
  // The place in the manifest's reviews of the decision that made it; -1: the job's list did.
  int review = -1;
  bool rejected = false;  // by that decision: it is no candidate any more
};

// Finds the kernels that the manifest's pairs, and its decisions on pairs, name, on a walk. A side
// is found if exactly one kept kernel of its DSL is as it says; of a rejected pair all that are so
// are meant. Keeps references to both arguments; holds a few numbers a side and no text. Not
// thread-safe.
class CuratedPairFinder final : public DatasetVisitor {
 public:
  CuratedPairFinder(const v1::DatasetManifest& manifest, const v1::Clusters& clusters);

  bool empty() const { return sides_.empty(); }

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;

  // After the walk: one a pair, in the manifest's order, then those of accepted pairs, then those
  // of rejected ones.
  std::vector<CuratedPair> Find() const;

 private:
  // A side of a pair, and what was met that it names.
  struct Side {
    v1::Dsl dsl = v1::DSL_UNSPECIFIED;
    uint32_t number = 0;            // of the first that can be taken
    int taken = 0;                  // how many can be
    std::string unfit;              // why the first of the others cannot
    std::vector<uint32_t> numbers;  // of a rejected pair: of all that can be
  };

  void AddPair(const v1::KernelReference& cuda, const v1::KernelReference& triton, int review);
  void AddSide(const v1::KernelReference& reference, v1::Dsl dsl);
  void Meet(const v1::Kernel& kernel, uint32_t number, Side& side) const;
  static std::string ProblemOf(const Side& side);
  static std::string ProblemOf(const Side& cuda, const Side& triton, bool rejected);
  void FindRejected(size_t pair, std::vector<CuratedPair>* pairs) const;

  const v1::DatasetManifest& manifest_;
  const v1::Clusters& clusters_;
  KernelReferences references_;
  std::vector<Side> sides_;   // of pair i: at 2i and 2i + 1
  std::vector<int> reviews_;  // of pair i: the place of its decision, or -1
  std::string repository_;    // of the source that is walked
};

// The pairs of a whole dataset and the decisions on them. Errors as WalkDataset.
absl::StatusOr<std::vector<CuratedPair>> FindCuratedPairs(cas::BlobStore& store,
                                                          const v1::DatasetManifest& manifest,
                                                          const v1::Clusters& clusters);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_COMMON_DATASET_CURATED_PAIRS_H_
