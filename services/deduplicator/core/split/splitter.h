#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SPLITTER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/split/module_join.h"
#include "services/deduplicator/core/split/repository_sides.h"
#include "services/deduplicator/core/split/set_join.h"

namespace kernelmill::deduplicator {

// Divides the kernels of a job into train, validation and test, so that no two that are alike are
// of different splits. The .cc says how. In this order:
//
//   AddShard      all of the job, in its order
//   AddPairs      all that the pair stage found
//   EndAdding
//   BeginPass     until it answers false:
//     Load          the kernels that Loads() names, ascending
//     EndLoading
//     Probe         the kernels that Probes() names
//   Take
//
// A pass has in memory some kernels of those alone that may end in another split than train: as
// many shingles as `shingles` says. Not thread-safe.
class Splitter {
 public:
  // `clusters` must outlive it.
  Splitter(const v1::SplitPolicy& policy, double threshold, const v1::Clusters& clusters,
           int64_t shingles = int64_t{1} << 24);

  // INVALID_ARGUMENT: the shard does not fit together, or the clusters have no such kernel.
  absl::Status AddShard(const v1::SignatureShard& signatures, const v1::ShardOrigin& origin);
  // INVALID_ARGUMENT: no pair of the kernels that were added.
  absl::Status AddPairs(const v1::PairSet& pairs);
  // INVALID_ARGUMENT: the clusters are of more kernels, or a kernel repeats one that is not kept.
  absl::Status EndAdding();

  bool BeginPass();
  bool Loads(uint32_t number) const { return number >= begin_ && number < end_ && IsOpen(number); }
  bool Probes(uint32_t number) const { return sides_[number] != v1::SPLIT_UNSPECIFIED; }
  // INVALID_ARGUMENT: not a set, or of another size than its signature says.
  absl::Status Load(uint32_t number, const v1::KernelShingles& shingles);
  void EndLoading();
  absl::Status Probe(uint32_t number, const v1::KernelShingles& shingles);

  v1::Splits Take();

  // Of the kernels that were added; their numbers end here.
  size_t size() const { return sides_.size(); }
  // How many kept kernels of a repository that is of another split are of train.
  int64_t joined() const { return joined_; }
  int64_t candidates() const { return candidates_; }
  int passes() const { return passes_; }

 private:
  // What is known of a kernel's group, by the number that names it.
  v1::Split SideOf(uint32_t number) const { return sides_[RootOf(number)]; }
  uint32_t RootOf(uint32_t number) const;
  // Whether the kernel may still be of another split than train.
  bool IsOpen(uint32_t number) const;
  void Join(uint32_t a, uint32_t b);
  // Moves what stands in the text of another split to train, until nothing does.
  void MoveHeld();
  absl::Status JoinAll(const google::protobuf::RepeatedPtrField<v1::Pair>& pairs,
                       bool across_sources);
  absl::Status CheckShingles(uint32_t number, absl::Span<const uint64_t> shingles) const;

  const RepositorySides repositories_;
  const double threshold_;
  const v1::Clusters& clusters_;
  const int64_t shingles_;

  // By number. UNSPECIFIED: neither kept nor the duplicate of one that is. Of a group's root, the
  // group's; else where the kernel begins.
  std::vector<v1::Split> sides_;
  std::vector<v1::Split> begun_;
  mutable std::vector<uint32_t> parents_;
  std::vector<uint32_t> sizes_;  // of the sets of shingles
  std::vector<int32_t> sources_;
  // The first kernel of each text, while kernels are added.
  absl::flat_hash_map<std::string, uint32_t> by_pair_;
  absl::flat_hash_map<uint64_t, uint32_t> by_renamed_;

  uint32_t begin_ = 0;  // the numbers of the pass
  uint32_t end_ = 0;
  std::optional<SetJoin> alike_;
  std::optional<ModuleJoin> modules_;
  std::vector<uint32_t> loaded_;  // the number of each kernel in these
  // A kernel that stands in the text of another, and that one, while both may be of one split.
  std::vector<std::pair<uint32_t, uint32_t>> held_;
  int passes_ = 0;
  int64_t joined_ = 0;
  int64_t candidates_ = 0;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SPLITTER_H_
