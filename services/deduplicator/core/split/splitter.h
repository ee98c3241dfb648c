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
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "services/deduplicator/core/pair/shingle_sets.h"
#include "services/deduplicator/core/split/module_join.h"
#include "services/deduplicator/core/split/set_join.h"

namespace kernelmill::deduplicator {

// A map from repositories to splits: the split whose list names the repository, or else one by the
// repository's place. Thread-safe.
//
// A repository's place is a number in [0, 1), from the SHA-256 of seed and name. Places below the
// test share are test, places in the last part of the line, as long as the validation share, are
// validation, and the rest is train. So a repository's split does not depend on other repositories,
// and raising a share only takes repositories from train.
class RepositorySides {
 public:
  explicit RepositorySides(const v1::SplitPolicy& policy);

  // Returns the split of a repository. `repository` is the name in records, `url` its web address
  // or empty. All sources with one URL are one repository, whatever their names.
  v1::Split GetSide(absl::string_view repository, absl::string_view url) const;

 private:
  // `key`: a result of RepositoryKey().
  double GetPlace(absl::string_view key) const;

  const double validation_;
  const double test_;
  const std::string seed_;
  absl::flat_hash_map<std::string, v1::Split> named_;  // by key
};

// Divides the kernels of a job into train, validation and test, so that similar kernels are never
// in different splits. The .cc explains it. Call in this order:
//
//   AddShard      for every shard, in the job's order
//   AddPairs      for everything that the pair stage found
//   EndAdding
//   BeginPass     until it returns false:
//     Load          for each kernel for which Loads() is true, ascending
//     EndLoading
//     Probe         for each kernel for which Probes() is true
//   Take
//
// A pass indexes up to `shingles` shingles, only of kernels that may still end in another split
// than train, at some four bytes each; the sets themselves spill. Not thread-safe.
class Splitter {
 public:
  // `clusters` must outlive the splitter.
  Splitter(const v1::SplitPolicy& policy, double threshold, const v1::Clusters& clusters,
           int64_t shingles = int64_t{1} << 26, SpillOptions spill = {});

  // Returns INVALID_ARGUMENT for a malformed shard, or if the clusters have no such kernel.
  absl::Status AddShard(const v1::SignatureShard& signatures, const v1::ShardOrigin& origin);
  // Returns INVALID_ARGUMENT for a pair of kernels that were not added.
  absl::Status AddPairs(const v1::PairSet& pairs);
  // Returns INVALID_ARGUMENT if the clusters have more kernels than were added, or if a kernel is a
  // duplicate of one that is not kept.
  absl::Status EndAdding();

  bool BeginPass();
  bool Loads(uint32_t number) const { return number >= begin_ && number < end_ && IsOpen(number); }
  bool Probes(uint32_t number) const { return sides_[number] != v1::SPLIT_UNSPECIFIED; }
  // Load() and Probe() return INVALID_ARGUMENT if the shingles are not sorted, each once, or if
  // their number is not the signature's. All three return errors of the spill file.
  absl::Status Load(uint32_t number, const v1::KernelShingles& shingles);
  absl::Status EndLoading();
  absl::Status Probe(uint32_t number, const v1::KernelShingles& shingles);

  v1::Splits Take();

  // The number of added kernels.
  size_t size() const { return sides_.size(); }
  // The number of kept kernels that moved to train from a repository of another split.
  int64_t joined() const { return joined_; }
  int64_t candidates() const { return candidates_; }
  int passes() const { return passes_; }

 private:
  // Returns the split that the kernel's component has so far.
  v1::Split GetSide(uint32_t number) const { return sides_[FindRoot(number)]; }
  uint32_t FindRoot(uint32_t number) const;
  // Returns true if the kernel may still end in another split than train.
  bool IsOpen(uint32_t number) const;
  void Join(uint32_t a, uint32_t b);
  // Moves kernels that a text of another split contains to train, until there are no more.
  void MoveHeld();
  absl::Status JoinAll(const google::protobuf::RepeatedPtrField<v1::Pair>& pairs,
                       bool across_sources);
  absl::Status CheckShingles(uint32_t number, absl::Span<const uint64_t> shingles) const;

  const RepositorySides repositories_;
  const double threshold_;
  const v1::Clusters& clusters_;
  const int64_t shingles_;
  const SpillOptions spill_;

  // By kernel number. UNSPECIFIED: neither kept nor a duplicate of a kept kernel. For the root of a
  // component: the component's split. Otherwise: the split of the kernel's repository.
  std::vector<v1::Split> sides_;
  std::vector<v1::Split> begun_;
  mutable std::vector<uint32_t> parents_;
  std::vector<uint32_t> sizes_;  // the sizes of shingle sets, by kernel number
  std::vector<int32_t> sources_;
  // The first kernel with each text. Empty after EndAdding().
  absl::flat_hash_map<std::string, uint32_t> by_pair_;
  absl::flat_hash_map<uint64_t, uint32_t> by_renamed_;

  uint32_t begin_ = 0;  // the pass loads kernels of [begin_, end_)
  uint32_t end_ = 0;
  std::optional<SetJoin> alike_;
  std::optional<ModuleJoin> modules_;
  std::vector<uint32_t> loaded_;  // the kernel number of each entry of alike_ and modules_
  // Pairs of a kernel and another whose text contains it, with different components when found.
  std::vector<std::pair<uint32_t, uint32_t>> held_;
  int passes_ = 0;
  int64_t joined_ = 0;
  int64_t candidates_ = 0;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SPLITTER_H_
