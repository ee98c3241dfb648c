#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_RESOLVE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_RESOLVE_H_

#include <cstdint>
#include <string>
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

// Decides the fate of every kernel of a job: add all shards in order, then all pairs in any order,
// then resolve once. Holds some hundred bytes a kernel and no shingles. Not thread-safe.
//
//   holdout        of a holdout's shard
//   rejected       "opt_out": its verdict says that somebody opted out, or it is like a kernel of
//                  which one does, by any of the rules for duplicates; "opt_out:<text>": such a
//                  kernel's text comes with it. Else its verdict does not accept it; the reason is
//                  the verdict's first. Or a person rejected it
//   contaminated   it or its module by a holdout's text, as contamination.h tells; unless the
//   policy
//                  only labels
//   duplicate      of a kept kernel: the same bytes ("exact"), the same normalized pair ("pair"),
//                  the same tokens up to the names that it chose ("renamed"), as similar as the
//                  threshold and the same by same_kernel.h ("near"), of the same name and place in
//                  another tree ("version", version_finder.h), or, where the policy asks for it, as
//                  similar as its threshold once folded ("structural")
//   kept           the rest
//
// in this order: the first that holds. So a copy of a rejected or a contaminated kernel is judged
// for itself, and never vanishes with it, unless people asked for that.
//
// Whole files are decided on once all kernels are, and are duplicates of files alone ("exact",
// "near"). One that holds a kernel that must not get out is rejected with it: "holds:contaminated",
// "holds:license", "holds:sensitive", "holds:opt_out".
class Resolver {
 public:
  // The policy's defaults are filled in.
  explicit Resolver(const v1::DedupPolicy& policy);

  // The next shard's kernels; `verdicts` is null for a holdout's shard alone. INVALID_ARGUMENT:
  // verdicts and kernels are not as many, or the signatures are malformed.
  absl::Status AddShard(const v1::SignatureShard& signatures, const v1::VerdictShard* verdicts,
                        const v1::ShardOrigin& origin);
  // Follows a person's decision on a kernel of the shards that were added: a rejected one that its
  // verdict accepts is rejected, "review:FLAG" the reason; an accepted one loses its flag.
  // INVALID_ARGUMENT: there is no such kernel.
  absl::Status Review(uint32_t number, const v1::Review& review);
  // INVALID_ARGUMENT: a pair of kernels that there are not.
  absl::Status AddPairs(const v1::PairSet& pairs);

  // Once all is added, where the job has an opt_out: the kernels that are opted out, ascending:
  // those whose verdict says so, and their copies.
  std::vector<uint32_t> OptedOut();
  // Whether that one is opted out by its verdict, and no copy.
  bool IsNamed(uint32_t number) const { return kernels_[number].opted_out; }
  // The kernel's `text` has the text of one of them.
  void RejectWith(uint32_t number, absl::string_view text, uint32_t opted_out);

  v1::Clusters Resolve();

  // Whether the number is a whole file's.
  bool IsFile(uint32_t number) const { return kernels_[number].file; }

 private:
  struct Candidate {
    bool holdout = false;
    bool file = false;  // no kernel but a whole file
    bool accepted = false;
    bool opted_out = false;
    // What its rank is made of, but for its number.
    bool vendored = false;
    bool for_vendor = false;  // written for one vendor's hardware
    bool adapted = false;     // its file says that it comes from elsewhere
    bool aside = false;       // a test, an example or the like
    int certainty = 0;        // of the licence, in tenths
    int tier = 0;
    int compiles = 0;  // -1: it does; 1: no compiler takes it; 0: nothing is known
    int quality = 0;   // thousandths
    int source = 0;
    uint32_t path = 0;
    int first_line = 0;

    uint32_t exact = 0;    // equal for kernels of equal bytes
    uint32_t pair = 0;     // equal for kernels of equal normalized pairs
    uint32_t renamed = 0;  // equal for kernels that are equal up to renaming
    double word_overlap = 0;
    std::string rejection;
    std::string taint;  // why its file is rejected with it
  };
  struct Match {
    uint32_t number;
    absl::string_view kind;
    double similarity;
  };
  // Kernels found again by what they have in common; kNone where there is none.
  struct Index {
    std::vector<uint32_t> by_exact;
    std::vector<uint32_t> by_pair;
    std::vector<uint32_t> by_renamed;
    std::vector<uint32_t> by_near;
    std::vector<uint32_t> by_structural;
    // Of another source than by_near's; empty where none can be.
    std::vector<uint32_t> by_near_elsewhere;
  };
  using Ids = absl::flat_hash_map<std::string, uint32_t>;

  static void Rank(const v1::Verdict& verdict, Candidate* kernel);
  absl::Status AddTo(SimilarityGraph* graph, double threshold,
                     const google::protobuf::RepeatedPtrField<v1::Pair>& pairs);
  template <typename Message>
  absl::Status CheckCandidate(const Message& match) const;
  // What was rejected for the sake of another kernel, which is opted out.
  struct Withheld {
    uint32_t of;
    double similarity;
  };

  void Build();
  Index EmptyIndex() const;
  bool IsCopy(uint32_t number, const Index& opted_out);
  void Enter(uint32_t number, Index* index);
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
  Ids exact_ids_;
  Ids pair_ids_;
  absl::flat_hash_map<uint64_t, uint32_t> renamed_ids_;
  Ids paths_;
  SimilarityGraph near_;
  SimilarityGraph versions_;  // between the groups of near_
  SimilarityGraph structural_;
  Contaminations contaminations_;
  absl::flat_hash_map<uint32_t, Withheld> withheld_;
  bool built_ = false;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_RESOLVE_H_
