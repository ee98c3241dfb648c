// Comparing texts with the SPDX list, the basic idea. A text may contain any of some 600 licences
// anywhere, with small changes, so comparing it with each of them word by word would take too long.
// There are three steps:
//
//   1. Candidates (FindHits, FindCluster). An index has every run of four words of the licence
//      texts. The runs that the text shares with a licence are sorted by their offset: position in
//      the text minus position in the licence. A copy of the licence shows as many hits at nearly
//      the same offset. A cluster with more than half of the licence's runs is a candidate.
//   2. Comparison (Compare). The candidate's place is compared word by word with the licence, by
//      Myers' algorithm (DiffWords below). Better candidates come first, and one that cannot beat
//      them any more is given up early (MaxEdits).
//   3. Weighing (Weigh). In a place that the list leaves open, or where a holder's name is, a name
//      may be. Elsewhere a difference must be known to change nothing: articles and words for the
//      work and its holders, one letter of a word. Other words that are left out or replaced make
//      the match an altered text, which must not count as the licence. Other words that are put in
//      are left to the caller, who sees them as they are written.
//
// All steps are counted, and matching stops at a bound, so that a hostile file cannot take long.
//
// DiffWords is Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986):
// after d edits, furthest[k] is how far in `a` a path can be on diagonal k = (position in a) -
// (position in b). The furthest points of every d are kept, so that the path can be read back from
// them.
#include "services/validator/core/license/text/match.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/spdx/license_list.h"
#include "services/validator/core/license/text/residue.h"

namespace kernelmill::validator {
namespace {

// The furthest points after d edits; diagonal k is at index k + d.
using Furthest = std::vector<int>;

// Returns whether the best path to diagonal k in d edits ends with an inserted word of b (from
// diagonal k + 1), not a deleted word of a (from k - 1).
bool PutsIn(const Furthest& before, int d, int k) {
  if (k == -d) return true;
  if (k == d) return false;
  // `before` is for d - 1 edits: its diagonals k - 1 and k + 1 are at k - 1 + d - 1 and k + d.
  const int out = k - 1 >= -(d - 1) ? before[static_cast<size_t>(k + d - 2)] : -1;
  const int in = k + 1 <= d - 1 ? before[static_cast<size_t>(k + d)] : -1;
  return out < in;
}

// Returns how far diagonal k is reached by one edit from the points before.
int FromBefore(const Furthest& before, int d, int k, bool puts_in) {
  return puts_in ? before[static_cast<size_t>(k + d)] : before[static_cast<size_t>(k + d - 2)] + 1;
}

// Follows the path back from diagonal k after the last edit, and collects its runs of equal words.
void ReadBack(const std::vector<Furthest>& history, int k, std::vector<EqualRun>* runs) {
  for (int d = static_cast<int>(history.size()) - 1; d >= 0; --d) {
    const int end = history[static_cast<size_t>(d)][static_cast<size_t>(k + d)];
    int begin = 0;
    int next = k;
    if (d > 0) {
      const Furthest& before = history[static_cast<size_t>(d - 1)];
      const bool puts_in = PutsIn(before, d, k);
      begin = FromBefore(before, d, k, puts_in);
      next = puts_in ? k + 1 : k - 1;
    }
    if (end > begin) {
      runs->push_back({static_cast<size_t>(begin), static_cast<size_t>(begin - k),
                       static_cast<size_t>(end - begin)});
    }
    k = next;
  }
  std::reverse(runs->begin(), runs->end());
}

}  // namespace

// Returns false if the texts need more edits or steps than the limits allow. Takes O((a + b) D)
// time and O(D^2) memory for D edits.
bool DiffWords(absl::Span<const uint16_t> a, absl::Span<const uint16_t> b, const DiffLimits& limits,
               size_t* steps, std::vector<EqualRun>* runs) {
  const int size_a = static_cast<int>(a.size());
  const int size_b = static_cast<int>(b.size());
  std::vector<Furthest> history;
  for (int d = 0; d <= static_cast<int>(limits.edits); ++d) {
    Furthest furthest(static_cast<size_t>(2 * d + 1), -1);
    *steps += furthest.size();
    if (*steps > limits.steps) return false;
    for (int k = -d; k <= d; k += 2) {
      int at = 0;
      if (d > 0) {
        const Furthest& before = history.back();
        at = FromBefore(before, d, k, PutsIn(before, d, k));
      }
      const int start = at;
      while (at < size_a && at - k < size_b && at - k >= 0 &&
             a[static_cast<size_t>(at)] == b[static_cast<size_t>(at - k)]) {
        ++at;
      }
      *steps += static_cast<size_t>(at - start);
      furthest[static_cast<size_t>(k + d)] = at;
      if (at >= size_a && at - k >= size_b) {
        history.push_back(std::move(furthest));
        ReadBack(history, k, runs);
        return true;
      }
    }
    history.push_back(std::move(furthest));
  }
  return false;
}

namespace {

constexpr uint16_t kUnknownWord = 0xffff;
constexpr uint16_t kWildcard = 0;

// An index of the licence texts by their runs of words. Immutable.
class TemplateIndex {
 public:
  // A run of kShingle words of a licence text.
  struct Entry {
    uint32_t hash = 0;
    uint16_t license = 0;  // index into spdx::LicenseTemplates()
    uint16_t at = 0;
  };

  static constexpr size_t kShingle = 4;

  // Returns the index of the list, which the first call makes in about 10 ms.
  static const TemplateIndex& Get();

  // Returns the number of a word; kUnknownWord if no licence has it.
  uint16_t FindNumber(absl::string_view word) const {
    const auto found = numbers_.find(word);
    return found == numbers_.end() ? kUnknownWord : found->second;
  }

  // Returns the places in licences that have the run of words at `words`.
  absl::Span<const Entry> Find(const uint16_t* words) const;

  // Returns how many runs of a licence's body the index has; a share of them for a long text.
  size_t CountRuns(size_t license) const { return runs_[license]; }

 private:
  TemplateIndex();
  void Add(size_t license);

  absl::flat_hash_map<absl::string_view, uint16_t> numbers_;
  std::vector<Entry> entries_;                     // by hash
  absl::flat_hash_map<uint32_t, uint32_t> first_;  // the first entry of each hash
  std::vector<size_t> runs_;
};

// A licence with more words than this keeps each run with a chance of kKept / words, which bounds
// the hits of long texts.
constexpr size_t kKept = 250;

// Hashes a run by packing its four numbers into 64 bits and multiplying.
uint32_t HashRun(const uint16_t* words) {
  uint64_t hash = 0;
  for (size_t i = 0; i < TemplateIndex::kShingle; ++i) hash = hash << 16 | words[i];
  hash *= 0x9e3779b97f4a7c15;
  return static_cast<uint32_t>(hash >> 32);
}

const TemplateIndex& TemplateIndex::Get() {
  static const auto* const index = new TemplateIndex();
  return *index;
}

TemplateIndex::TemplateIndex() {
  const absl::Span<const char* const> words = spdx::LicenseWords();
  numbers_.reserve(words.size());
  for (size_t i = 0; i < words.size(); ++i) numbers_[words[i]] = static_cast<uint16_t>(i + 1);
  runs_.resize(spdx::LicenseTemplates().size());
  for (size_t license = 0; license < runs_.size(); ++license) Add(license);
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.hash, a.license, a.at) < std::tie(b.hash, b.license, b.at);
  });
  for (size_t i = 0; i < entries_.size(); ++i) {
    first_.emplace(entries_[i].hash, static_cast<uint32_t>(i));
  }
}

void TemplateIndex::Add(size_t license) {
  const spdx::LicenseTemplate& text = spdx::LicenseTemplates()[license];
  const uint32_t stride = static_cast<uint32_t>(std::max<size_t>(1, text.size / kKept));
  uint16_t words[kShingle];
  for (size_t at = 0; at + kShingle <= text.size; ++at) {
    std::copy(text.words + at, text.words + at + kShingle, words);
    if (std::find(words, words + kShingle, kWildcard) != words + kShingle) continue;
    const uint32_t hash = HashRun(words);
    if (hash % stride != 0) continue;
    entries_.push_back({hash, static_cast<uint16_t>(license), static_cast<uint16_t>(at)});
    if (at >= text.first && at + kShingle <= text.last) ++runs_[license];
  }
}

// Other runs may have the same hash; the comparison word by word drops such hits.
absl::Span<const TemplateIndex::Entry> TemplateIndex::Find(const uint16_t* words) const {
  const uint32_t hash = HashRun(words);
  const auto found = first_.find(hash);
  if (found == first_.end()) return {};
  size_t end = found->second;
  while (end < entries_.size() && entries_[end].hash == hash) ++end;
  return absl::MakeConstSpan(entries_).subspan(found->second, end - found->second);
}

// The least scores of a match. A short text has few words to differ in, so it must be closer. Below
// kAltered two texts are different licences.
constexpr double kAccepted = 0.93;
constexpr double kAcceptedShort = 0.98;  // for texts under kShortText words
constexpr size_t kShortText = 30;
constexpr double kAltered = 0.7;
constexpr double kRunShare = 0.5;
constexpr size_t kMaxFreeWords = 24;  // in place of a wildcard
constexpr size_t kMaxRun = 15;        // words inserted or deleted in one place
constexpr size_t kMaxHits = 4'000'000;
constexpr size_t kMaxSteps = 50'000'000;
constexpr size_t kMaxEdits = 800;

// After such a word a name may follow: "the name of", "provided by", "in no event shall".
constexpr const char* kNameWords[] = {"name", "names", "by", "event"};
constexpr size_t kNameWindow = 4;
constexpr size_t kMinTailRun = 4;     // words of the instructions
constexpr size_t kMaxTitleWords = 5;  // that may be missing at the beginning

// The shortest word that may be a misspelling of another.
constexpr size_t kMinMisspelled = 5;

// Returns whether the words are the same except for the places where lines were broken: "dis
// tribute".
bool AreSplit(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return absl::StrJoin(a, "") == absl::StrJoin(b, "");
}

// Returns whether the words differ in one letter: "warranty" and "warrantys".
bool IsMisspelled(absl::string_view a, absl::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  if (b.size() < kMinMisspelled || a.size() - b.size() > 1) return false;
  size_t begin = 0;
  while (begin < b.size() && a[begin] == b[begin]) ++begin;
  const size_t skipped = a.size() == b.size() ? 1 : 0;
  return a.substr(std::min(begin + 1, a.size())) == b.substr(std::min(begin + skipped, b.size()));
}

bool AreMisspelled(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), IsMisspelled);
}

struct Hit {
  uint16_t license;
  uint16_t at;    // position in the licence
  uint32_t word;  // position in the text
  int64_t Offset() const { return static_cast<int64_t>(word) - at; }
};

// The hits [first, last) that may belong to one copy of a licence.
struct Cluster {
  size_t first;
  size_t last;
  size_t words;  // how many of the licence's words the hits mean, about
};

struct Candidate {
  LicenseMatch match;
  int64_t value = 0;  // words in common, minus words that differ
  uint32_t size = 0;
};

class Matcher {
 public:
  explicit Matcher(const std::vector<spdx::LegalWord>& words)
      : index_(TemplateIndex::Get()), words_(words) {
    numbers_.reserve(words.size());
    for (const spdx::LegalWord& word : words) numbers_.push_back(index_.FindNumber(word.text));
    for (const char* word : kNameWords) name_words_.push_back(index_.FindNumber(word));
    std::sort(name_words_.begin(), name_words_.end());
  }

  // Finds, compares and chooses. The clusters with most words of their licence come first.
  LicenseMatches Run() {
    FindHits();
    std::vector<Cluster> clusters;
    for (size_t i = 0; i < hits_.size() && !exhausted_;) i = FindCluster(i, &clusters);
    // The best first: candidates that cannot be better are then given up early.
    std::stable_sort(clusters.begin(), clusters.end(),
                     [](const Cluster& a, const Cluster& b) { return a.words > b.words; });
    for (const Cluster& cluster : clusters) {
      if (exhausted_) break;
      Compare(absl::MakeConstSpan(hits_).subspan(cluster.first, cluster.last - cluster.first));
    }
    LicenseMatches found;
    found.exhausted = exhausted_;
    found.matches = Choose();
    return found;
  }

 private:
  // Finds every run of four words that the text shares with a licence, sorted by licence and
  // offset.
  void FindHits() {
    for (size_t i = 0; i + TemplateIndex::kShingle <= numbers_.size(); ++i) {
      for (const TemplateIndex::Entry& entry : index_.Find(numbers_.data() + i)) {
        hits_.push_back({entry.license, entry.at, static_cast<uint32_t>(i)});
      }
      if (hits_.size() > kMaxHits) {
        exhausted_ = true;
        break;
      }
    }
    std::sort(hits_.begin(), hits_.end(), [](const Hit& a, const Hit& b) {
      return std::make_tuple(a.license, a.Offset(), a.word) <
             std::make_tuple(b.license, b.Offset(), b.word);
    });
  }

  // Finds the cluster that begins with hit `first`, if there is one. Returns the first hit that
  // may begin another.
  size_t FindCluster(size_t first, std::vector<Cluster>* clusters) {
    const uint16_t license = hits_[first].license;
    const spdx::LicenseTemplate& text = spdx::LicenseTemplates()[license];
    const int64_t drift = 30 + text.size / 8;
    size_t last = first;
    std::vector<uint16_t> seen;
    for (; last < hits_.size() && hits_[last].license == license &&
           hits_[last].Offset() - hits_[first].Offset() <= drift;
         ++last) {
      const uint16_t at = hits_[last].at;
      if (at >= text.first && at + TemplateIndex::kShingle <= text.last) seen.push_back(at);
    }
    steps_ += last - first;
    exhausted_ = exhausted_ || steps_ > kMaxSteps;
    const double wanted = kRunShare * static_cast<double>(index_.CountRuns(license));
    if (static_cast<double>(seen.size()) < wanted) return first + 1;
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    // The hits of one copy are within the drift of its first; hits before them are stray.
    if (seen.empty() || static_cast<double>(seen.size()) < wanted) return first + 1;
    clusters->push_back(
        {first, last, (text.last - text.first) * seen.size() / index_.CountRuns(license)});
    return last;
  }

  // Compares the text at the licence's copy, whose place is given by its outermost hits.
  void Compare(absl::Span<const Hit> hits) {
    const spdx::LicenseTemplate& text = spdx::LicenseTemplates()[hits.front().license];
    const auto [low, high] = std::minmax_element(
        hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.at < b.at; });
    const size_t from = low->at < text.first ? 0 : text.first;
    const size_t to = high->at + TemplateIndex::kShingle > text.last ? text.size : text.last;
    const size_t before = low->at - std::min<size_t>(low->at, from);
    const size_t begin = low->word - std::min<size_t>(low->word, before);
    const size_t end = std::min(numbers_.size(), high->word + (to - high->at));
    if (end <= begin) return;
    std::vector<uint16_t> model(text.words + from, text.words + to);
    std::vector<EqualRun> runs;
    const size_t max_edits = MaxEdits(text, model, begin, end);
    const bool compared =
        DiffWords(model, absl::MakeConstSpan(numbers_).subspan(begin, end - begin),
                  {max_edits, kMaxSteps}, &steps_, &runs);
    exhausted_ = exhausted_ || steps_ > kMaxSteps;
    if (!compared) return;
    TrimOpenEnds(text, from, &runs);
    if (runs.empty()) return;
    Weigh(text, from, model, begin, runs);
  }

  // Removes runs in the title and in the instructions that are apart from the licence itself.
  static void TrimOpenEnds(const spdx::LicenseTemplate& text, size_t from,
                           std::vector<EqualRun>* runs) {
    const auto apart = [](const EqualRun& a, const EqualRun& b) {
      return b.at_b - (a.at_b + a.size) > kMaxRun;
    };
    for (size_t i = runs->size(); i-- > 1;) {
      if (from + (*runs)[i].at_a < text.last) break;
      if (apart((*runs)[i - 1], (*runs)[i]) || (*runs)[i].size < kMinTailRun) runs->resize(i);
    }
    for (size_t i = 0; i + 1 < runs->size(); ++i) {
      if (from + (*runs)[i].at_a + (*runs)[i].size > text.first) break;
      if (apart((*runs)[i], (*runs)[i + 1])) {
        runs->erase(runs->begin(), runs->begin() + static_cast<std::ptrdiff_t>(i) + 1);
        i = static_cast<size_t>(-1);
      }
    }
  }

  // Returns how many edits the candidate may need and still be the best one for [begin, end).
  // Each edit lowers its value by 1.5. Free words cost edits but no value.
  size_t MaxEdits(const spdx::LicenseTemplate& text, const std::vector<uint16_t>& model,
                  size_t begin, size_t end) const {
    const size_t limit = std::min<size_t>(kMaxEdits, 30 + model.size() / 3);
    size_t best = 0;
    for (const Candidate& candidate : candidates_) {
      const bool covers =
          candidate.match.begin <= begin + 2 * kMaxRun && candidate.match.end + 2 * kMaxRun >= end;
      if (covers && candidate.value > 0)
        best = std::max(best, static_cast<size_t>(candidate.value));
    }
    const size_t wildcards = static_cast<size_t>(std::count(model.begin(), model.end(), kWildcard));
    const size_t free = wildcards * kMaxFreeWords + model.size() - (text.last - text.first);
    const size_t most = (model.size() + end - begin) / 2;
    if (most + free < best) return 0;
    return std::min(limit, (most - std::min(most, best)) * 2 / 3 + free + 1);
  }

  // The words of a licence and of the text between two runs, with their places.
  struct Gap {
    size_t out_begin = 0;  // in the model
    size_t out_end = 0;
    size_t in_begin = 0;  // in the text
    size_t in_end = 0;
  };

  // Adds a candidate: weighs the differences between the runs, and before the first and after the
  // last of them.
  void Weigh(const spdx::LicenseTemplate& text, size_t from, const std::vector<uint16_t>& model,
             size_t begin, const std::vector<EqualRun>& runs) {
    Candidate candidate;
    size_t common = 0;
    size_t differ = 0;
    size_t weighed = 0;
    bool altered = false;
    const auto weigh = [&](const Gap& gap) {
      const size_t inserted = candidate.match.inserted.size();
      const size_t out = CountOut(text, from, model, gap);
      const size_t in = IsFree(text, from, model, gap) ? 0 : gap.in_end - gap.in_begin;
      altered = !IsKept(text, from, model, gap, &candidate.match) || altered;
      differ += out + in;
      weighed += out + (candidate.match.inserted.size() > inserted ? 0 : in);
    };
    size_t end_a = 0;
    size_t end_b = begin + runs.front().at_b;
    for (const EqualRun& run : runs) {
      weigh({end_a, run.at_a, end_b, begin + run.at_b});
      common += run.size;
      end_a = run.at_a + run.size;
      end_b = begin + run.at_b + run.size;
    }
    weigh({end_a, model.size(), end_b, end_b});
    candidate.match.score =
        2.0 * static_cast<double>(common) / static_cast<double>(2 * common + weighed);
    if (candidate.match.score < kAltered) return;
    const double accepted = text.last - text.first < kShortText ? kAcceptedShort : kAccepted;
    candidate.match.altered = altered || candidate.match.score < accepted;
    candidate.match.id = std::string(text.id());
    candidate.match.begin = begin + runs.front().at_b;
    candidate.match.end = end_b;
    candidate.value = static_cast<int64_t>(common) - static_cast<int64_t>(differ);
    candidate.size = text.last - text.first;
    candidates_.push_back(std::move(candidate));
  }

  // Returns whether the gap is in the title or the instructions.
  static bool IsOpen(const spdx::LicenseTemplate& text, size_t from, const Gap& gap) {
    return from + gap.out_begin >= text.last || from + gap.out_end < text.first;
  }

  static bool HasWildcard(const std::vector<uint16_t>& model, const Gap& gap) {
    return std::find(model.begin() + static_cast<std::ptrdiff_t>(gap.out_begin),
                     model.begin() + static_cast<std::ptrdiff_t>(gap.out_end),
                     kWildcard) != model.begin() + static_cast<std::ptrdiff_t>(gap.out_end);
  }

  // Returns whether the licence leaves open what is put in here.
  static bool IsFree(const spdx::LicenseTemplate& text, size_t from,
                     const std::vector<uint16_t>& model, const Gap& gap) {
    return IsOpen(text, from, gap) ||
           (HasWildcard(model, gap) && gap.in_end - gap.in_begin <= kMaxFreeWords);
  }

  static std::vector<uint16_t> WordsOut(const spdx::LicenseTemplate& text, size_t from,
                                        const std::vector<uint16_t>& model, const Gap& gap) {
    std::vector<uint16_t> out;
    for (size_t i = gap.out_begin; i < gap.out_end; ++i) {
      const bool open = from + i < text.first || from + i >= text.last;
      if (model[i] != kWildcard && !open) out.push_back(model[i]);
    }
    return out;
  }

  static size_t CountOut(const spdx::LicenseTemplate& text, size_t from,
                         const std::vector<uint16_t>& model, const Gap& gap) {
    return WordsOut(text, from, model, gap).size();
  }

  // Returns whether the licence says the same across the gap. Words that were only put in, more
  // than one that changes nothing, become a range for the caller to judge.
  bool IsKept(const spdx::LicenseTemplate& text, size_t from, const std::vector<uint16_t>& model,
              const Gap& gap, LicenseMatch* match) const {
    std::vector<std::string> out;
    for (const uint16_t word : WordsOut(text, from, model, gap))
      out.emplace_back(spdx::LicenseWords()[word - 1]);
    std::vector<std::string> in;
    for (size_t i = gap.in_begin; i < gap.in_end; ++i) in.push_back(words_[i].text);
    const bool name_place = HasWildcard(model, gap) || IsNamePlace(model, gap.out_begin) ||
                            absl::c_any_of(out, IsHolder);
    const bool drops_nothing = absl::c_all_of(out, [](const std::string& word) {
      return IsHolder(word) || word == "nor" || absl::c_all_of(word, absl::ascii_isdigit) ||
             IsNeutral({word});
    });
    const bool name = name_place && in.size() <= kMaxFreeWords && IsNameLike(in);
    if (drops_nothing && (name || absl::c_all_of(in, IsYearOrNeutral))) return true;
    if (DeniesEndorsement(gap, out, in)) return true;
    const bool title = gap.out_begin == 0 && in.empty() && out.size() <= kMaxTitleWords;
    if (title || AreMisspelled(out, in) || AreSplit(out, in) || IsTypingError(out, in)) return true;
    if (IsOpen(text, from, gap)) {
      match->beside.push_back({gap.in_begin, gap.in_end});
      return true;
    }
    if (!out.empty()) {
      if (match->change.empty()) {
        match->change =
            absl::StrCat("without: ", absl::StrJoin(out, " "), "; with: ", absl::StrJoin(in, " "));
      }
      return false;
    }
    match->inserted.push_back({gap.in_begin, gap.in_end});
    return true;
  }

  // Returns whether a short word lacks a letter or has another, and is a word of no licence: "tor"
  // for "tort".
  bool IsTypingError(const std::vector<std::string>& out,
                     const std::vector<std::string>& in) const {
    constexpr size_t kShort = 4;
    if (out.size() != 1 || in.size() != 1 || out[0].size() < kShort) return false;
    if (index_.FindNumber(in[0]) != kUnknownWord || in[0].size() > out[0].size()) return false;
    size_t begin = 0;
    while (begin < in[0].size() && in[0][begin] == out[0][begin]) ++begin;
    const size_t skipped = in[0].size() == out[0].size() ? 1 : 0;
    return in[0].size() + 1 >= out[0].size() &&
           in[0].substr(std::min(begin + skipped, in[0].size())) == out[0].substr(begin + 1);
  }

  // Returns whether words [at, at + size) are these.
  bool StandAt(size_t at, std::initializer_list<absl::string_view> words) const {
    return at + words.size() <= words_.size() &&
           std::equal(words.begin(), words.end(), words_.begin() + static_cast<std::ptrdiff_t>(at),
                      [](absl::string_view a, const spdx::LegalWord& b) { return a == b.text; });
  }

  // Returns whether the gap is one of the two by which "The names of the contributors may not be
  // used to endorse" differs from "Neither the name of X nor the names of its contributors may be
  // used to endorse".
  bool DeniesEndorsement(const Gap& gap, const std::vector<std::string>& out,
                         const std::vector<std::string>& in) const {
    constexpr size_t kWindow = 24;
    const size_t begin = gap.in_begin;
    if (out == std::vector<std::string>{"neither"} && absl::c_all_of(in, IsYearOrNeutral)) {
      for (size_t i = begin; i < begin + kWindow; ++i) {
        if (StandAt(i, {"may", "not", "be", "used", "to", "endorse"})) return true;
      }
      return false;
    }
    if (!out.empty() || in != std::vector<std::string>{"not"} || begin == 0) return false;
    if (!StandAt(begin - 1, {"may", "not", "be", "used", "to", "endorse"})) return false;
    for (size_t i = begin - std::min(begin, kWindow); i < begin; ++i) {
      if (words_[i].text == "neither") return false;
    }
    return true;
  }

  // Returns whether a name may be in the place of the word: "THE AUTHOR DISCLAIMS".
  static bool IsHolder(absl::string_view word) {
    for (const absl::string_view holder :
         {"author", "authors", "holder", "holders", "contributor", "contributors", "regents",
          "foundation", "copyright", "isc", "hp"}) {
      if (word == holder) return true;
    }
    return false;
  }

  static bool IsYearOrNeutral(const std::string& word) {
    return (word.size() == 4 && absl::c_all_of(word, absl::ascii_isdigit)) || IsNeutral({word});
  }

  // Returns whether a name may be at this place of the licence.
  bool IsNamePlace(const std::vector<uint16_t>& model, size_t at) const {
    const auto end = model.begin() + static_cast<std::ptrdiff_t>(at);
    return std::any_of(end - static_cast<std::ptrdiff_t>(std::min(at, kNameWindow)), end,
                       [&](uint16_t word) {
                         return std::binary_search(name_words_.begin(), name_words_.end(), word);
                       });
  }

  // Drops an altered candidate if another licence is whole in the same place: a licence with a few
  // words more may be nearer to a text than its own.
  void DropAlteredTwins() {
    constexpr double kSamePlace = 0.95;
    const auto has_twin = [&](const Candidate& altered) {
      const LicenseMatch& one = altered.match;
      return one.altered && absl::c_any_of(candidates_, [&](const Candidate& other) {
               const size_t begin = std::max(one.begin, other.match.begin);
               const size_t end = std::min(one.end, other.match.end);
               return !other.match.altered && begin < end &&
                      static_cast<double>(end - begin) >=
                          kSamePlace * static_cast<double>(one.end - one.begin);
             });
    };
    std::vector<Candidate> kept;
    for (const Candidate& candidate : candidates_) {
      if (!has_twin(candidate)) kept.push_back(candidate);
    }
    candidates_ = std::move(kept);
  }

  // Takes the candidates from the best on, and drops those that overlap a better one.
  std::vector<LicenseMatch> Choose() {
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::make_tuple(-a.value, -static_cast<int64_t>(a.size), absl::string_view(a.match.id),
                             a.match.begin) <
             std::make_tuple(-b.value, -static_cast<int64_t>(b.size), absl::string_view(b.match.id),
                             b.match.begin);
    });
    DropAlteredTwins();
    std::vector<LicenseMatch> chosen;
    std::vector<bool> taken(numbers_.size() + 1);
    for (Candidate& candidate : candidates_) {
      LicenseMatch& match = candidate.match;
      const auto first = taken.begin() + static_cast<std::ptrdiff_t>(match.begin);
      const auto last = taken.begin() + static_cast<std::ptrdiff_t>(match.end);
      // A few words at a match's ends may belong to another match too.
      if (static_cast<size_t>(std::count(first, last, true)) * 20 > match.end - match.begin)
        continue;
      std::fill(first, last, true);
      chosen.push_back(std::move(match));
    }
    std::sort(chosen.begin(), chosen.end(), [](const LicenseMatch& a, const LicenseMatch& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    return chosen;
  }

  const TemplateIndex& index_;
  const std::vector<spdx::LegalWord>& words_;
  std::vector<uint16_t> numbers_;
  std::vector<uint16_t> name_words_;
  std::vector<Hit> hits_;
  std::vector<Candidate> candidates_;
  size_t steps_ = 0;
  bool exhausted_ = false;
};

}  // namespace

LicenseMatches MatchTemplates(const std::vector<spdx::LegalWord>& words) {
  return Matcher(words).Run();
}

}  // namespace kernelmill::validator
