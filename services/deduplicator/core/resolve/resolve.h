#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_RESOLVE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_RESOLVE_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/core/resolve/contamination.h"
#include "services/deduplicator/core/resolve/similarity_graph.h"

namespace kernelmill::deduplicator {

// Numbers keys by first use, from 0. Not thread-safe.
template <typename Key>
class KeyNumbers {
 public:
  uint32_t GetNumber(const Key& key) {
    const auto [place, is_new] = numbers_.try_emplace(key, count_);
    count_ += is_new;
    return place->second;
  }
  // The number of keys, also after Clear.
  uint32_t count() const { return count_; }
  const absl::flat_hash_map<Key, uint32_t>& numbers() const { return numbers_; }
  // Frees the keys, once all are numbered.
  void Clear() { numbers_ = {}; }

 private:
  absl::flat_hash_map<Key, uint32_t> numbers_;
  uint32_t count_ = 0;
};

// Decides the fate of every kernel of a job. Add all shards in order, then all pairs in any order,
// then resolve once. It holds some 300 bytes per kernel and no shingles. Not thread-safe.
// The first fate that applies:
//
// clang-format off
//   holdout       the kernel is in a holdout's shard
//   rejected      "opt_out": its verdict says that its author opted out, or it is a duplicate, by
//                 any rule below, of a kernel whose author did. "opt_out:<text>": it includes such a
//                 kernel's text. Otherwise its verdict does not accept it (the reason is the
//                 verdict's gravest), or a person rejected it
//   contaminated  it or its module contains a holdout's text (contamination.h), unless the policy
//                 only labels
//   duplicate     it repeats a kept kernel: "exact", the same bytes; "pair", the same normalized
//                 pair; "renamed", the same tokens except local names; "near", similarity at the
//                 threshold and the same by same_kernel.h; "version", the same name and place in
//                 another tree, or the same computation (version_finder.h); "structural", if the policy asks for it,
//                 similarity at its threshold with names, numbers and strings folded
//   kept          everything else
// clang-format on
//
// So a copy of a rejected or contaminated kernel is judged on its own and does not vanish with it,
// except for opt-outs.
//
// Whole files are decided after all kernels, and are duplicates of files only ("exact", "near"). A
// file that contains a kernel that must not be published is rejected: "holds:contaminated",
// "holds:license", "holds:sensitive", "holds:opt_out".
class Resolver {
 public:
  // `policy` has its defaults filled in.
  explicit Resolver(const v1::DedupPolicy& policy);

  // Adds the next shard's kernels. `verdicts` is null for a holdout's shard only. Returns
  // INVALID_ARGUMENT if the numbers of verdicts and kernels differ, or for malformed signatures.
  absl::Status AddShard(const v1::SignatureShard& signatures, const v1::VerdictShard* verdicts,
                        const v1::ShardOrigin& origin);
  // Applies a person's decision on an added kernel. Rejecting a kernel that its verdict accepts
  // rejects it with the reason "review:FLAG"; accepting one removes its flag. Returns
  // INVALID_ARGUMENT if the kernel does not exist.
  absl::Status Review(uint32_t number, const v1::Review& review);
  // Returns INVALID_ARGUMENT for a pair of kernels that do not exist.
  absl::Status AddPairs(const v1::PairSet& pairs);

  // Returns the opted-out kernels, ascending: those whose verdict says so, and their copies. For
  // jobs with opt_out; after everything is added.
  std::vector<uint32_t> OptedOut();
  // Returns true if the kernel's verdict says that it is opted out: it is not just a copy.
  bool IsNamed(uint32_t number) const { return kernels_[number].opted_out; }
  // Rejects a kernel whose `text` includes the text of an opted-out kernel.
  void RejectWith(uint32_t number, absl::string_view text, uint32_t opted_out);

  v1::Clusters Resolve();

  // Returns true if the number is a whole file's.
  bool IsFile(uint32_t number) const { return kernels_[number].file; }

 private:
  struct Candidate {
    bool holdout = false;
    bool file = false;  // a whole file and not a kernel
    bool accepted = false;
    bool opted_out = false;
    // Its rank, together with its number; see the .cc.
    bool vendored = false;
    bool named = false;       // others say that they have it from there
    bool for_vendor = false;  // written for one vendor's hardware
    bool adapted = false;     // its file says that it was adapted from elsewhere
    bool aside = false;       // a test, an example or the like
    int8_t compiles = 0;      // -1: it does; 1: no compiler accepts it; 0: unknown
    int16_t certainty = 0;    // of the licence, in tenths
    int16_t quality = 0;      // thousandths
    int tier = 0;
    int source = 0;
    uint32_t path = 0;
    int first_line = 0;
    uint64_t name = 0;         // a hash
    uint64_t computation = 0;  // a hash; 0: unknown

    // Equal for kernels with equal bytes, equal normalized pairs, and equal tokens after renaming.
    uint32_t exact = 0;
    uint32_t pair = 0;
    uint32_t renamed = 0;
    // Reasons, by GetReason; taint: the one for which its whole file is rejected too.
    uint32_t rejection = 0;
    uint32_t taint = 0;
    double word_overlap = 0;
  };
  struct Match {
    uint32_t number;
    absl::string_view kind;
    double similarity;
  };
  // An index of kernels by what they have in common with others: for each id or group the first
  // kernel that was entered, or kNone.
  struct Index {
    std::vector<uint32_t> by_exact;
    std::vector<uint32_t> by_pair;
    std::vector<uint32_t> by_renamed;
    std::vector<uint32_t> by_near;
    std::vector<uint32_t> by_structural;
    // The first kernel of another source than by_near's. Empty if the caller does not need it.
    std::vector<uint32_t> by_near_elsewhere;
  };
  using ExactKey = std::array<char, 33>;  // a SHA-256, and whether it is a whole file's
  using PairKey = std::array<char, 20>;   // a SHA-1

  // Kernels share few reasons, so each is kept once. 0 is the empty one.
  uint32_t AddReason(const std::string& reason);
  const std::string& GetReason(uint32_t reason) const { return reasons_[reason]; }

  static void Rank(const v1::Verdict& verdict, Candidate* kernel);
  void AddOrigins(const v1::Verdict& verdict, const Candidate& kernel);
  void FindNamed();
  static bool IsVersion(const Candidate& a, const Candidate& b, double similarity);
  absl::Status AddTo(SimilarityGraph* graph, double threshold,
                     const google::protobuf::RepeatedPtrField<v1::Pair>& pairs);
  template <typename Message>
  absl::Status CheckCandidate(const Message& match) const;
  // The opted-out kernel that another one is rejected for.
  struct Withheld {
    uint32_t of;
    double similarity;
  };

  void Build();
  Index EmptyIndex() const;
  bool IsCopy(uint32_t number, const Index& opted_out);
  void Enter(uint32_t number, Index* index);
  struct Property {
    absl::string_view name;  // as in Decision.preferred_by
    int64_t value;           // the least is best
  };
  using Properties = std::array<Property, 13>;
  Properties GetProperties(uint32_t number) const;
  absl::string_view FindPreference(uint32_t leader, uint32_t other) const;
  std::vector<uint32_t> Ranked() const;
  template <typename Callback>
  void ForEachMatch(uint32_t number, const Index& leaders, Callback callback);
  bool Duplicate(uint32_t number, const Index& leaders, const std::vector<uint32_t>& rank,
                 v1::Decision* decision);
  void Describe(uint32_t number, v1::Decision* decision) const;
  void RejectHolders(v1::Clusters* clusters) const;
  void DecideInOrder(bool files, const std::vector<uint32_t>& order, Index* leaders,
                     v1::Clusters* clusters);

  const v1::DedupPolicy policy_;
  std::vector<Candidate> kernels_;
  std::map<int, std::string> source_keys_;  // by source, as GetOriginKey has it
  // The origins that kernels say they come from, with the kernels' names.
  std::set<std::pair<std::string, uint64_t>> origins_;
  std::vector<uint32_t> path_places_;  // by path the place among all paths
  // Empty after Build().
  KeyNumbers<ExactKey> exact_ids_;
  KeyNumbers<PairKey> pair_ids_;
  KeyNumbers<uint64_t> renamed_ids_;
  KeyNumbers<std::string> paths_;
  std::vector<std::string> reasons_ = {""};
  absl::flat_hash_map<std::string, uint32_t> reason_numbers_ = {{"", 0}};
  SimilarityGraph near_;
  SimilarityGraph versions_;  // its groups are those of near_
  SimilarityGraph structural_;
  Contaminations contaminations_;
  absl::flat_hash_map<uint32_t, Withheld> withheld_;
  bool built_ = false;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_RESOLVE_H_
