#ifndef KERNELMILL_COMMON_MANIFEST_OPT_OUT_COUNT_H_
#define KERNELMILL_COMMON_MANIFEST_OPT_OUT_COUNT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/job/opt_out.h"
#include "common/manifest/walk.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::manifest {

// The effect of an entry of the job's opt_out. A kernel that several entries name counts with each.
struct OptOutCount {
  int64_t sources = 0;   // the job's sources that it concerns
  int64_t kernels = 0;   // the kernels that it names
  int64_t copies = 0;    // kernels elsewhere that are like one of these
  int64_t carriers = 0;  // kernels that would have taken a text along that it names
};

// A visitor that counts the effect of opt_out. Both arguments must outlive it. Not thread-safe.
class OptOutCounter final : public DatasetVisitor {
 public:
  OptOutCounter(const v1::DatasetManifest& manifest, const v1::Clusters& clusters);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;
  // Returns a count for each entry, in their order, once the walk is over.
  std::vector<OptOutCount> Counts() const;

 private:
  // Returns the entries that name the file, by their places in the manifest.
  std::vector<int> FindEntries(absl::string_view path, absl::string_view sha256) const;
  void Add(uint32_t number, const v1::Kernel& kernel, const v1::Decision& decision);

  const v1::DatasetManifest& manifest_;
  const v1::Clusters& clusters_;
  const job::OptOutIndex index_;
  // The source at hand.
  std::vector<int> naming_;
  job::SourceOptOut names_;
  absl::flat_hash_map<std::string, std::string> hashes_;  // the hashes of its files, by path

  std::vector<OptOutCount> counts_;
  absl::flat_hash_map<uint32_t, std::vector<int>> named_;  // the entries of kernels that are named
  std::vector<std::pair<uint32_t, bool>>
      others_;  // the kernel that it is like, and whether it is a copy
};

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_OPT_OUT_COUNT_H_
