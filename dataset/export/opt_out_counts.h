#ifndef KERNELMILL_DATASET_EXPORT_OPT_OUT_COUNTS_H_
#define KERNELMILL_DATASET_EXPORT_OPT_OUT_COUNTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/job/opt_out.h"
#include "common/manifest/walk.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::dataset {

// What came of an entry of the job's opt_out. A kernel that several name counts with each.
struct OptOutCount {
  int64_t sources = 0;   // of the job that it concerns
  int64_t kernels = 0;   // that it names
  int64_t copies = 0;    // kernels elsewhere that are like one of these
  int64_t carriers = 0;  // kernels that would have taken a text along that it names
};

// Counts on a walk. Keeps references to both arguments.
class OptOutCounter final : public manifest::DatasetVisitor {
 public:
  OptOutCounter(const v1::DatasetManifest& manifest, const v1::Clusters& clusters);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const manifest::ShardView& view) override;
  // Once the walk is over: one an entry, in their order.
  std::vector<OptOutCount> Counts() const;

 private:
  // The entries that name what stands there, by their places in the manifest.
  std::vector<int> EntriesOf(absl::string_view path, absl::string_view sha256) const;
  void Add(uint32_t number, const v1::Kernel& kernel, const v1::Decision& decision);

  const v1::DatasetManifest& manifest_;
  const v1::Clusters& clusters_;
  const job::OptOutIndex index_;
  // Of the source at hand.
  std::vector<int> naming_;
  job::SourceOptOut names_;
  absl::flat_hash_map<std::string, std::string> hashes_;  // of its files, by path

  std::vector<OptOutCount> counts_;
  absl::flat_hash_map<uint32_t, std::vector<int>> named_;  // the entries of kernels that are named
  std::vector<std::pair<uint32_t, bool>> others_;  // of which kernel's sake, and whether a copy
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_OPT_OUT_COUNTS_H_
