#include "dataset/pairs/cuda_triton_matcher.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

#include "dataset/pairs/kernel_traits.h"

// The steps for one source: Add interns the words of each kernel; Prepare orders the kernels, folds
// their words and indexes the Triton kernels by word; FindCandidates scores each CUDA kernel
// against the Triton kernels that share a word with it. With at most kMaxCompared comparisons for
// each CUDA kernel, the time is linear in the number of kernels. The thresholds are in thousandths,
// kNearBest in hundredths of the best score.
namespace kernelmill::dataset {
namespace {

using Numbers = std::vector<uint32_t>;

bool IsDirection(const std::string& word) { return word == kForward || word == kBackward; }

// Returns the words of a kernel's name and of its file's name, sorted.
Numbers AllWords(const KernelTraits& traits) {
  Numbers words;
  std::set_union(traits.name.begin(), traits.name.end(), traits.file.begin(), traits.file.end(),
                 std::back_inserter(words));
  return words;
}

std::vector<std::string> SharedTexts(const Vocabulary& words, const Numbers& a, const Numbers& b) {
  std::vector<std::string> texts;
  for (const uint32_t word : a) {
    if (std::binary_search(b.begin(), b.end(), word)) texts.push_back(words.GetWord(word));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

// Only numbers of words are kept, so that a kernel costs little memory.
void CudaTritonMatcher::Add(uint32_t number, const KernelWords& words) {
  traits_.push_back(InternWords(number, words, vocabularies_));
}

// Sorts the kernels, so that the result does not depend on the order of Add(), and makes the index
// from words to Triton kernels.
void CudaTritonMatcher::Prepare(const Order& before) {
  std::sort(traits_.begin(), traits_.end(), [&](const KernelTraits& a, const KernelTraits& b) {
    return before(a.number, b.number);
  });
  for (uint32_t i = 0; i < traits_.size(); ++i) {
    FoldTraits(vocabularies_, traits_[i]);
    by_number_[traits_[i].number] = i;
  }
  IndexWords();
}

// Files only Triton kernels that are launched; each CUDA kernel looks its words up here.
void CudaTritonMatcher::IndexWords() {
  triton_by_word_.resize(vocabularies_.words.size());
  for (uint32_t i = 0; i < traits_.size(); ++i) {
    if (traits_[i].cuda || !traits_[i].launched) continue;
    for (const uint32_t word : AllWords(traits_[i])) triton_by_word_[word].push_back(i);
  }
}

// Returns the Triton kernels to compare with. The basic idea: rare words tell the most. They are
// taken first, so that the bound cuts off only kernels which share a common word. Words of
// direction are in many names and are not looked up.
std::vector<uint32_t> CudaTritonMatcher::Comparable(const KernelTraits& cuda) const {
  const Vocabulary& vocabulary = vocabularies_.words;
  Numbers words = AllWords(cuda);
  std::erase_if(words, [&](uint32_t word) { return IsDirection(vocabulary.GetWord(word)); });
  std::sort(words.begin(), words.end(), [&](uint32_t a, uint32_t b) {
    return std::forward_as_tuple(triton_by_word_[a].size(), vocabulary.GetWord(a)) <
           std::forward_as_tuple(triton_by_word_[b].size(), vocabulary.GetWord(b));
  });
  Numbers found;
  for (const uint32_t word : words) {
    if (found.size() + triton_by_word_[word].size() > kMaxCompared) break;
    found.insert(found.end(), triton_by_word_[word].begin(), triton_by_word_[word].end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// A match by names needs either a high likeness, or a lower one with two shared words that are not
// of direction: one shared word such as "norm" is a coincidence.
bool CudaTritonMatcher::NamesMatch(const Match& match) const {
  if (match.score.names >= kSingleWordThreshold) return true;
  if (match.score.names < kNamesThreshold) return false;
  const std::vector<std::string> shared = SharedTexts(
      vocabularies_.words, AllWords(traits_[match.cuda]), AllWords(traits_[match.triton]));
  return shared.size() - std::count_if(shared.begin(), shared.end(), IsDirection) > 1;
}

// Returns the best matches of a CUDA kernel, and raises the best score of each Triton kernel met.
std::vector<CudaTritonMatcher::Match> CudaTritonMatcher::FindMatches(
    uint32_t cuda, std::vector<int>& best_of_triton) const {
  std::vector<Match> matches;
  for (const uint32_t triton : Comparable(traits_[cuda])) {
    // A forward kernel never matches a backward one, however alike their names are.
    if (traits_[cuda].backward != traits_[triton].backward) continue;
    const Match match = {cuda, triton, Score(vocabularies_, traits_[cuda], traits_[triton])};
    if (match.score.total < kThreshold || !NamesMatch(match)) continue;
    best_of_triton[triton] = std::max(best_of_triton[triton], match.score.total);
    matches.push_back(match);
  }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& a, const Match& b) { return a.score.total > b.score.total; });
  while (!matches.empty() &&
         (matches.size() > kMaxPairs ||
          100 * matches.back().score.total < kNearBest * matches[0].score.total)) {
    matches.pop_back();
  }
  return matches;
}

// The basic idea: a pair must be near the best for both of its kernels. FindMatches() checks this
// for the CUDA kernels; the Triton kernels are checked after all scores are known.
std::vector<ScoredPair> CudaTritonMatcher::FindCandidates() const {
  std::vector<int> best_of_triton(traits_.size());
  std::vector<Match> matches;
  for (uint32_t i = 0; i < traits_.size(); ++i) {
    if (!traits_[i].cuda || !traits_[i].launched) continue;
    const std::vector<Match> of_kernel = FindMatches(i, best_of_triton);
    matches.insert(matches.end(), of_kernel.begin(), of_kernel.end());
  }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& a, const Match& b) { return a.score.total > b.score.total; });
  // Counts the pairs of each Triton kernel, the best first.
  std::vector<int> taken(traits_.size());
  std::erase_if(matches, [&](const Match& match) {
    return 100 * match.score.total < kNearBest * best_of_triton[match.triton] ||
           ++taken[match.triton] > kMaxPairs;
  });
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& a, const Match& b) { return a.cuda < b.cuda; });
  std::vector<ScoredPair> pairs;
  for (const Match& match : matches) pairs.push_back(Describe(match));
  return pairs;
}

// Scores a pair that a person named, whatever the thresholds.
ScoredPair CudaTritonMatcher::ScorePair(uint32_t cuda, uint32_t triton) const {
  const Match match = {by_number_.at(cuda), by_number_.at(triton), {}};
  return Describe(
      {match.cuda, match.triton, Score(vocabularies_, traits_[match.cuda], traits_[match.triton])});
}

ScoredPair CudaTritonMatcher::Describe(const Match& match) const {
  const KernelTraits& cuda = traits_[match.cuda];
  const KernelTraits& triton = traits_[match.triton];
  return {.cuda = cuda.number,
          .triton = triton.number,
          .score = match.score,
          .words = SharedTexts(vocabularies_.words, AllWords(cuda), AllWords(triton)),
          .tags = SharedTexts(vocabularies_.tags, cuda.tags, triton.tags),
          .parameters = SharedTexts(vocabularies_.parameters, cuda.parameters, triton.parameters)};
}

}  // namespace kernelmill::dataset
