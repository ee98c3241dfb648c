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

// A pair that a person made, as far as the dataset has it.
struct CuratedPair {
  uint32_t cuda = 0;  // the kernels' numbers
  uint32_t triton = 0;
  std::string problem;  // why the dataset cannot have it, and of which side; empty: it can
};

// Finds the kernels that the manifest's pairs name, on a walk. A side is found if exactly one kept
// kernel of its DSL is as it says. Keeps references to both arguments; holds a few numbers a side
// and no text. Not thread-safe.
class CuratedPairFinder final : public DatasetVisitor {
 public:
  CuratedPairFinder(const v1::DatasetManifest& manifest, const v1::Clusters& clusters);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;

  // After the walk: one a pair, in the manifest's order.
  std::vector<CuratedPair> Find() const;

 private:
  // A side of a pair, and what was met that it names.
  struct Side {
    const v1::KernelReference* reference = nullptr;
    v1::Dsl dsl = v1::DSL_UNSPECIFIED;
    uint32_t number = 0;  // of the first that can be taken
    int taken = 0;        // how many can be
    std::string unfit;    // why the first of the others cannot
  };

  void AddSide(const v1::KernelReference& reference, v1::Dsl dsl);
  void Meet(const v1::Kernel& kernel, uint32_t number, Side& side) const;
  static std::string FindProblem(const Side& side);

  const v1::Clusters& clusters_;
  std::vector<Side> sides_;  // of pair i: at 2i and 2i + 1
  std::string repository_;   // of the source that is walked
  // Sides by what they are looked up by: an id, else a path.
  absl::flat_hash_map<std::string, std::vector<uint32_t>> by_key_;
};

// The pairs of a whole dataset. Errors as WalkDataset.
absl::StatusOr<std::vector<CuratedPair>> FindCuratedPairs(cas::BlobStore& store,
                                                          const v1::DatasetManifest& manifest,
                                                          const v1::Clusters& clusters);

// Whether the reference names the kernel, which has its id, of `repository`: all that it gives
// holds. Its id is the kernel's, or "sha256:" and the hash of the kernel's source; the repository
// and the path are the kernel's, which stands on the line; the name is its name or qualified name.
bool NamesKernel(const v1::KernelReference& reference, const std::string& repository,
                 const v1::Kernel& kernel);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_CURATED_PAIRS_H_
