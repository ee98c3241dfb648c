#ifndef KERNELMILL_DATASET_PAIRS_PARALLEL_MATCHER_H_
#define KERNELMILL_DATASET_PAIRS_PARALLEL_MATCHER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "dataset/pairs/kernel_traits.h"

namespace kernelmill::dataset {

// Two kernels of different languages, by number, with what they share. The language of `a` comes
// first by name.
struct ParallelPair {
  uint32_t a = 0;
  uint32_t b = 0;
  PairScore score;
  std::string operation;  // words that their names share, or else their files: "rmsnorm_quant"
  bool backward = false;
  // Sorted.
  std::vector<std::string> words;  // in their names and contexts
  std::vector<std::string> tags;
  std::vector<std::string> parameters;
  std::vector<std::string> path;
  std::vector<std::string> launcher;
  std::vector<std::string> tests;
  std::vector<std::string> references;
};

// A search for pairs of kernels of one source that do the same operation in two languages
// (kernel_traits.h). It knows no language: any two kernels with different names of languages may be
// a pair. It holds some hundred bytes per kernel, and compares each kernel with at most
// kMaxCompared kernels of each other language. The result depends on the kernels and the given
// order only, not on the order in which they were added. Not thread-safe.
class ParallelMatcher {
 public:
  // Returns true if the first kernel, by number, comes before the second.
  using Order = std::function<bool(uint32_t, uint32_t)>;

  // The lowest scores of a pair, in thousandths: the total, that of the names, and if these share a
  // single word, that of the names and that of the paths or the launchers, if either is known.
  static constexpr int kThreshold = 650;
  static constexpr int kNamesThreshold = 500;
  static constexpr int kSingleWordThreshold = 800;
  static constexpr int kAroundThreshold = 500;
  // The lowest score in percent of the best score of either kernel.
  static constexpr int kNearBest = 95;
  static constexpr int kMaxPairs = 3;  // for each kernel and each other language
  // A kernel is compared with kernels that share a word with it: word by word, the rarest first,
  // while there are at most this many.
  static constexpr size_t kMaxCompared = 4096;

  void Add(uint32_t number, const KernelWords& words);

  // Ends the adding. Call it once.
  void Prepare(const Order& before);

  // Returns pairs of launched kernels, either both forward or both backward passes: by language and
  // kernel in order, the best first.
  std::vector<ParallelPair> FindPairs() const;

  // Scores any two added kernels.
  ParallelPair ScorePair(uint32_t a, uint32_t b) const;

 private:
  using Kernels = std::vector<uint32_t>;  // indices in traits_
  struct Match {
    uint32_t a;  // an index in traits_
    uint32_t b;
    PairScore score;
  };
  // The launched kernels of a language.
  struct Language {
    Kernels kernels;
    std::vector<Kernels> by_word;
  };

  void IndexWords();
  bool Matches(const Match& match) const;
  Kernels FindComparable(const KernelTraits& traits, const Language& other) const;
  std::vector<Match> FindMatches(uint32_t a, const Language& other, std::vector<int>& best) const;
  std::vector<Match> MatchLanguages(const Language& a, const Language& b) const;
  void DropOtherSpellings(std::vector<Match>& matches) const;
  ParallelPair Describe(const Match& match) const;
  std::string NameOperation(const KernelTraits& a, const KernelTraits& b) const;

  Vocabularies vocabularies_;
  std::vector<KernelTraits> traits_;  // sorted after Prepare()
  absl::flat_hash_map<uint32_t, uint32_t> by_number_;
  std::map<std::string, Language> languages_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PAIRS_PARALLEL_MATCHER_H_
