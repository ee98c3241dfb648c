#ifndef KERNELMILL_DATASET_PAIRS_CUDA_TRITON_MATCHER_H_
#define KERNELMILL_DATASET_PAIRS_CUDA_TRITON_MATCHER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/dsl/names.h"
#include "dataset/pairs/kernel_traits.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// A CUDA kernel and a Triton kernel, by number, with the words that they share.
struct ScoredPair {
  uint32_t cuda = 0;
  uint32_t triton = 0;
  PairScore score;
  std::vector<std::string> words;  // in their names and their files' names; sorted
  std::vector<std::string> tags;
  std::vector<std::string> parameters;
};

// A search for pairs of a CUDA kernel and a Triton kernel of one source that probably do the same
// (kernel_traits.h). It holds some hundred bytes per kernel, and compares each CUDA kernel with at
// most kMaxCompared others. The result depends on the kernels and the given order only, not on the
// order in which they were added. Not thread-safe.
class CudaTritonMatcher {
 public:
  // Returns true if the first kernel, by number, comes before the second.
  using Order = std::function<bool(uint32_t, uint32_t)>;

  // The lowest scores of a candidate, in thousandths: the total, that of the names, and that of the
  // names if these share a single word.
  static constexpr int kThreshold = 600;
  static constexpr int kNamesThreshold = 500;
  static constexpr int kSingleWordThreshold = 800;
  // The lowest score in percent of the best score of either kernel.
  static constexpr int kNearBest = 95;
  static constexpr int kMaxPairs = 3;  // for each kernel
  // A CUDA kernel is compared with Triton kernels that share a word with it: word by word, the
  // rarest first, while there are at most this many.
  static constexpr size_t kMaxCompared = 4096;

  // Returns true if it compares kernels of that language.
  static bool Takes(absl::string_view dsl) { return dsl == dsl::kCuda || dsl == dsl::kTriton; }

  // Adds a kernel of such a language.
  void Add(uint32_t number, const KernelWords& words);

  // Ends the adding. Call it once.
  void Prepare(const Order& before);

  // Returns pairs of launched kernels, either both forward or both backward passes: by CUDA kernel
  // in order, the best first.
  std::vector<ScoredPair> FindCandidates() const;

  // Scores any two added kernels.
  ScoredPair ScorePair(uint32_t cuda, uint32_t triton) const;

 private:
  struct Match {
    uint32_t cuda;  // an index in traits_
    uint32_t triton;
    PairScore score;
  };

  void IndexWords();
  // Returns true if the names of two kernels and of their files are similar enough for a candidate.
  bool NamesMatch(const Match& match) const;
  std::vector<uint32_t> Comparable(const KernelTraits& cuda) const;
  std::vector<Match> FindMatches(uint32_t cuda, std::vector<int>& best_of_triton) const;
  ScoredPair Describe(const Match& match) const;

  Vocabularies vocabularies_;
  std::vector<KernelTraits> traits_;  // sorted after Prepare()
  absl::flat_hash_map<uint32_t, uint32_t> by_number_;
  std::vector<std::vector<uint32_t>> triton_by_word_;  // launched kernels, as indices in traits_
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PAIRS_CUDA_TRITON_MATCHER_H_
