#ifndef KERNELMILL_DATASET_PAIRS_CUDA_TRITON_MATCHER_H_
#define KERNELMILL_DATASET_PAIRS_CUDA_TRITON_MATCHER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "dataset/pairs/kernel_traits.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// A CUDA kernel and a Triton kernel, by number, with what they have in common.
struct ScoredPair {
  uint32_t cuda = 0;
  uint32_t triton = 0;
  PairScore score;
  std::vector<std::string> words;  // of their names and their files'; sorted
  std::vector<std::string> tags;
  std::vector<std::string> parameters;
};

// Finds, among the kernels of one source, the CUDA kernels that a Triton kernel probably does the
// same as. Holds some hundred bytes a kernel; compares each CUDA kernel with at most kMaxCompared
// others. The outcome depends on the kernels and their order alone, not on that in which they were
// added. Not thread-safe.
class CudaTritonMatcher {
 public:
  // Whether one stands before the other, by number.
  using Order = std::function<bool(uint32_t, uint32_t)>;

  // A candidate's score in thousandths, and that of the names alone, at least; the latter where the
  // names have a single word in common.
  static constexpr int kThreshold = 600;
  static constexpr int kNamesThreshold = 500;
  static constexpr int kSingleWordThreshold = 800;
  // In percent of the best that either kernel has, at least.
  static constexpr int kNearBest = 95;
  static constexpr int kMaxPairs = 3;  // of one kernel
  // A CUDA kernel is compared with the Triton kernels that share a word with it, the rarest words'
  // first, as long as there are no more than this many.
  static constexpr size_t kMaxCompared = 4096;

  // Whether it compares kernels of that language.
  static bool Takes(v1::Dsl dsl) { return dsl == v1::DSL_CUDA || dsl == v1::DSL_TRITON; }

  // A kernel that it takes.
  void Add(uint32_t number, const KernelWords& words);

  // Ends the adding: call once, before what follows.
  void Prepare(const Order& before);

  // Pairs of kernels that are launched, neither of which is the backward pass of the other: by CUDA
  // kernel in order, the best first.
  std::vector<ScoredPair> FindCandidates() const;

  // Of any two that were added.
  ScoredPair ScorePair(uint32_t cuda, uint32_t triton) const;

 private:
  struct Match {
    uint32_t cuda;  // in traits_
    uint32_t triton;
    PairScore score;
  };

  void IndexWords();
  // Whether the names of two kernels, and those of their files, are alike enough for a candidate.
  bool NamesMatch(const Match& match) const;
  std::vector<uint32_t> Comparable(const KernelTraits& cuda) const;
  std::vector<Match> FindMatches(uint32_t cuda, std::vector<int>& best_of_triton) const;
  ScoredPair Describe(const Match& match) const;

  Vocabularies vocabularies_;
  std::vector<KernelTraits> traits_;  // in order once prepared
  absl::flat_hash_map<uint32_t, uint32_t> by_number_;
  std::vector<std::vector<uint32_t>> triton_by_word_;  // launched ones, in traits_
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PAIRS_CUDA_TRITON_MATCHER_H_
