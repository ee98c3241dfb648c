#include "dataset/pairs/parallel_matcher.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>

#include "absl/strings/str_join.h"

// The steps for one source: Add interns the words of each kernel; Prepare orders the kernels, folds
// their words and indexes each language's kernels by word; FindPairs takes the languages two by two
// and scores each kernel of the first against those of the second that share a word with it. With
// at most kMaxCompared comparisons for each, the time is linear in the number of kernels. The
// thresholds are in thousandths, kNearBest in hundredths of the best score.
namespace kernelmill::dataset {
namespace {

using Numbers = std::vector<uint32_t>;

bool IsDirectionWord(const std::string& word) { return word == kForward || word == kBackward; }

// Returns the words of a kernel's name and of what is around it, sorted.
Numbers AllWords(const KernelTraits& traits) { return United(traits.name, traits.context); }

std::vector<std::string> SharedTexts(const Vocabulary& words, const Numbers& a, const Numbers& b) {
  std::vector<std::string> texts;
  for (const uint32_t word : Shared(a, b)) texts.push_back(words.GetWord(word));
  std::sort(texts.begin(), texts.end());
  return texts;
}

// Both are sorted.
std::vector<std::string> SharedTexts(const std::vector<std::string>& a,
                                     const std::vector<std::string>& b) {
  std::vector<std::string> shared;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
  shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
  return shared;
}

}  // namespace

// Only numbers of words are kept, so that a kernel costs little memory.
void ParallelMatcher::Add(uint32_t number, const KernelWords& words) {
  traits_.push_back(InternWords(number, words, vocabularies_));
}

// Sorts the kernels, so that the result does not depend on the order of Add(), and makes the index
// from words to kernels.
void ParallelMatcher::Prepare(const Order& before) {
  std::sort(traits_.begin(), traits_.end(), [&](const KernelTraits& a, const KernelTraits& b) {
    return before(a.number, b.number);
  });
  for (uint32_t i = 0; i < traits_.size(); ++i) {
    FoldTraits(vocabularies_, traits_[i]);
    by_number_[traits_[i].number] = i;
  }
  IndexWords();
}

// Files only kernels that are launched, by language.
void ParallelMatcher::IndexWords() {
  for (uint32_t i = 0; i < traits_.size(); ++i) {
    if (!traits_[i].launched) continue;
    Language& language = languages_[traits_[i].dsl];
    language.by_word.resize(vocabularies_.words.size());
    language.kernels.push_back(i);
    for (const uint32_t word : AllWords(traits_[i])) language.by_word[word].push_back(i);
  }
}

// Returns the kernels of another language to compare with. The basic idea: rare words tell the
// most. They are taken first, so that the bound cuts off only kernels which share a common word.
// Words of direction are in many names and are not looked up.
ParallelMatcher::Kernels ParallelMatcher::FindComparable(const KernelTraits& traits,
                                                         const Language& other) const {
  const Vocabulary& vocabulary = vocabularies_.words;
  Numbers words = AllWords(traits);
  std::erase_if(words, [&](uint32_t word) { return IsDirectionWord(vocabulary.GetWord(word)); });
  std::sort(words.begin(), words.end(), [&](uint32_t a, uint32_t b) {
    return std::forward_as_tuple(other.by_word[a].size(), vocabulary.GetWord(a)) <
           std::forward_as_tuple(other.by_word[b].size(), vocabulary.GetWord(b));
  });
  Kernels found;
  for (const uint32_t word : words) {
    if (found.size() + other.by_word[word].size() > kMaxCompared) break;
    found.insert(found.end(), other.by_word[word].begin(), other.by_word[word].end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// A match by names needs either a high likeness, or a lower one with two shared words that are not
// of direction: one shared word such as "norm" is a coincidence. It is one too if both the paths
// and the launchers differ, however alike the names are. Tests of a compiler call kernels by the
// feature that they use: two of them need a shared operation.
bool ParallelMatcher::Matches(const Match& match) const {
  if (match.score.total < kThreshold || match.score.names < kNamesThreshold) return false;
  const KernelTraits& a = traits_[match.a];
  const KernelTraits& b = traits_[match.b];
  const std::vector<std::string> shared =
      SharedTexts(vocabularies_.words, AllWords(a), AllWords(b));
  const auto telling = shared.size() - std::count_if(shared.begin(), shared.end(), IsDirectionWord);
  if (telling <= (match.score.names >= kSingleWordThreshold ? 0 : 1)) return false;
  if (match.score.tests > 0) return true;
  if (a.in_test && b.in_test && Shared(a.tags, b.tags).empty()) return false;
  const int around = std::max(match.score.path, match.score.launcher);
  return telling > 1 || around < 0 || around >= kAroundThreshold;
}

// Returns the best matches of a kernel, and raises the best score of each kernel met.
std::vector<ParallelMatcher::Match> ParallelMatcher::FindMatches(uint32_t a, const Language& other,
                                                                 std::vector<int>& best) const {
  std::vector<Match> matches;
  for (const uint32_t b : FindComparable(traits_[a], other)) {
    // A forward kernel never matches a backward one, however alike their names are.
    if (traits_[a].backward != traits_[b].backward) continue;
    const Match match = {a, b, Score(vocabularies_, traits_[a], traits_[b])};
    if (!Matches(match)) continue;
    best[b] = std::max(best[b], match.score.total);
    matches.push_back(match);
  }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& x, const Match& y) { return x.score.total > y.score.total; });
  while (!matches.empty() &&
         (matches.size() > kMaxPairs ||
          100 * matches.back().score.total < kNearBest * matches[0].score.total)) {
    matches.pop_back();
  }
  return matches;
}

// The basic idea: a pair must be near the best for both of its kernels. FindMatches() checks this
// for the first language; the kernels of the second are checked after all scores are known. A
// kernel whose best match does something else has no pair: that is why names are compared last.
std::vector<ParallelMatcher::Match> ParallelMatcher::MatchLanguages(const Language& a,
                                                                    const Language& b) const {
  std::vector<int> best(traits_.size());
  std::vector<Match> matches;
  for (const uint32_t kernel : a.kernels) {
    const std::vector<Match> of_kernel = FindMatches(kernel, b, best);
    matches.insert(matches.end(), of_kernel.begin(), of_kernel.end());
  }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& x, const Match& y) { return x.score.total > y.score.total; });
  // Counts the pairs of each kernel of the second language, the best first.
  std::vector<int> taken(traits_.size());
  std::erase_if(matches, [&](const Match& match) {
    return 100 * match.score.total < kNearBest * best[match.b] || ++taken[match.b] > kMaxPairs ||
           !NamesExplainEachOther(vocabularies_, traits_[match.a], traits_[match.b]);
  });
  DropOtherSpellings(matches);
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& x, const Match& y) { return x.a < y.a; });
  return matches;
}

// A kernel with a partner whose name is spelled alike has no other partners: copy_q_to_f32 has the
// words of copy_f32_to_q, and unary_g those of unary_v2.
void ParallelMatcher::DropOtherSpellings(std::vector<Match>& matches) const {
  const auto alike = [&](const Match& match) {
    const Numbers& spelled = traits_[match.a].spelled;
    return !spelled.empty() && spelled == traits_[match.b].spelled;
  };
  std::vector<bool> has_alike(traits_.size());
  for (const Match& match : matches) {
    if (alike(match)) has_alike[match.a] = has_alike[match.b] = true;
  }
  std::erase_if(matches, [&](const Match& match) {
    return !alike(match) && (has_alike[match.a] || has_alike[match.b]);
  });
}

std::vector<ParallelPair> ParallelMatcher::FindPairs() const {
  std::vector<ParallelPair> pairs;
  for (auto a = languages_.begin(); a != languages_.end(); ++a) {
    for (auto b = std::next(a); b != languages_.end(); ++b) {
      for (const Match& match : MatchLanguages(a->second, b->second)) {
        pairs.push_back(Describe(match));
      }
    }
  }
  return pairs;
}

// Scores a pair that a person named, whatever the thresholds.
ParallelPair ParallelMatcher::ScorePair(uint32_t a, uint32_t b) const {
  const Match match = {by_number_.at(a), by_number_.at(b), {}};
  return Describe({match.a, match.b, Score(vocabularies_, traits_[match.a], traits_[match.b])});
}

// The shared words of the names in the order of a's, or if the names share none, those of what is
// around them.
std::string ParallelMatcher::NameOperation(const KernelTraits& a, const KernelTraits& b) const {
  const Numbers names = Shared(a.name, b.name);
  std::vector<std::string> words;
  for (const uint32_t word : a.operation) {
    const std::string& text = vocabularies_.words.GetWord(word);
    if (IsDirectionWord(text) || !std::binary_search(names.begin(), names.end(), word)) continue;
    if (std::find(words.begin(), words.end(), text) == words.end()) words.push_back(text);
  }
  if (words.empty()) {
    words = SharedTexts(vocabularies_.words, AllWords(a), AllWords(b));
    std::erase_if(words, IsDirectionWord);
  }
  return absl::StrJoin(words, "_");
}

ParallelPair ParallelMatcher::Describe(const Match& match) const {
  const KernelTraits& a = traits_[match.a];
  const KernelTraits& b = traits_[match.b];
  const Vocabulary& words = vocabularies_.words;
  return {.a = a.number,
          .b = b.number,
          .score = match.score,
          .operation = NameOperation(a, b),
          .backward = a.backward,
          .words = SharedTexts(words, AllWords(a), AllWords(b)),
          .tags = SharedTexts(vocabularies_.tags, a.tags, b.tags),
          .parameters = SharedTexts(vocabularies_.parameters, a.parameters, b.parameters),
          .path = SharedTexts(words, a.path, b.path),
          .launcher = SharedTexts(words, a.launcher, b.launcher),
          .tests = SharedTexts(a.tests, b.tests),
          .references = SharedTexts(a.references, b.references)};
}

}  // namespace kernelmill::dataset
