#ifndef KERNELMILL_COMMON_MANIFEST_CURATED_PAIRS_H_
#define KERNELMILL_COMMON_MANIFEST_CURATED_PAIRS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "common/manifest/walk.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::manifest {

// A pair that a person made, with the kernels that it names.
struct CuratedPair {
  uint32_t cuda = 0;  // the kernels' numbers
  uint32_t triton = 0;
  std::string problem;  // the reason why the dataset cannot have it, and the side; empty if it can
};

// A visitor that finds the kernels which the manifest's pairs name. A side is found if exactly one
// kept kernel of its DSL matches its reference. Both arguments must outlive it. It holds a few
// numbers per side and no text. Not thread-safe.
class CuratedPairFinder final : public DatasetVisitor {
 public:
  CuratedPairFinder(const v1::DatasetManifest& manifest, const v1::Clusters& clusters);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;

  // Returns a result for each pair, in the manifest's order. Call it after the walk.
  std::vector<CuratedPair> Find() const;

 private:
  // A side of a pair, with the kernels that match it so far.
  struct Side {
    const v1::KernelReference* reference = nullptr;
    std::string dsl;
    uint32_t number = 0;  // the first usable kernel
    int taken = 0;        // the number of usable kernels
    std::string unfit;    // the reason why the first unusable kernel cannot be taken
  };

  void AddSide(const v1::KernelReference& reference, absl::string_view dsl);
  void Meet(const v1::Kernel& kernel, uint32_t number, Side& side) const;
  static std::string FindProblem(const Side& side);

  const v1::Clusters& clusters_;
  std::vector<Side> sides_;  // the sides of pair i are at 2i and 2i + 1
  std::string repository_;   // the repository of the current source
  // The sides by their key: the path, or the id if they have no path.
  absl::flat_hash_map<std::string, std::vector<uint32_t>> by_key_;
};

// Finds the pairs of a whole dataset. Errors are those of WalkDataset.
absl::StatusOr<std::vector<CuratedPair>> FindCuratedPairs(cas::BlobStore& store,
                                                          const v1::DatasetManifest& manifest,
                                                          const v1::Clusters& clusters);

// Returns true if every field that the reference gives matches the kernel, which has its id, and
// its `repository`. An id is the kernel's id, or "sha256:" and the hash of its source. A line must
// be one of the kernel's lines. A name must be its name or its qualified name.
bool NamesKernel(const v1::KernelReference& reference, const std::string& repository,
                 const v1::Kernel& kernel);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_CURATED_PAIRS_H_
