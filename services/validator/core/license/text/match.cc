// Two steps. Runs of four words that the text has in common with a licence text are found in an
// index; where more than half of a licence's runs stand at about the distances that they have
// there, the two are compared word by word (word_diff.h). What differs is then weighed: words that
// the list leaves open are free, others cost, and some make it another licence.
#include "services/validator/core/license/text/match.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "services/validator/core/license/text/template_index.h"
#include "services/validator/core/license/text/word_diff.h"

namespace kernelmill::validator {
namespace {

constexpr double kAccepted = 0.93;
constexpr double kAcceptedShort = 0.98;  // of texts under kShortText words
constexpr size_t kShortText = 30;
constexpr double kAltered = 0.7;
constexpr double kRunShare = 0.5;
constexpr size_t kMaxFreeWords = 24;  // in place of a wildcard
constexpr size_t kMaxRun = 15;        // words put in or taken out in one place
constexpr size_t kMaxHits = 4'000'000;
constexpr size_t kMaxSteps = 50'000'000;
constexpr size_t kMaxEdits = 800;

// Words that, put in, narrow what is granted or add a duty; taken out, they take away a right, a
// condition or a negation.
constexpr const char* kWeighty[] = {
    "academic",     "act",         "advertising",  "approval",      "cannot",    "commercial",
    "commercially", "educational", "ethical",      "evaluation",    "except",    "excluding",
    "fee",          "forbidden",   "government",   "internal",      "military",  "modify",
    "must",         "no",          "non",          "noncommercial", "nonprofit", "not",
    "nuclear",      "only",        "patent",       "permitted",     "personal",  "prohibited",
    "provided",     "publish",     "redistribute", "research",      "revoke",    "royalty",
    "sell",         "shall",       "solely",       "sublicense",    "terminate", "unless",
    "unlawful",     "weapons",     "without",
};

// Of these, those that weigh also where a name stands ("the name of Idiap Research Institute").
constexpr absl::string_view kDecisive[] = {"commercial",    "except", "no",   "non",
                                           "noncommercial", "not",    "only", "unless"};
// After such a word a name may follow: "the name of", "provided by", "in no event shall".
constexpr const char* kNameWords[] = {"name", "names", "by", "event"};
constexpr size_t kNameWindow = 4;

struct Hit {
  uint16_t license;
  uint16_t at;    // in the licence's text
  uint32_t word;  // in the text
  int64_t Offset() const { return static_cast<int64_t>(word) - at; }
};

// The hits that may be of one copy of a licence.
struct Cluster {
  size_t first;
  size_t last;
  size_t words;  // of the licence's that the hits stand for, about
};

struct Candidate {
  LicenseMatch match;
  int64_t value = 0;  // words in common, less those that differ
  uint32_t size = 0;
};

class Matcher {
 public:
  explicit Matcher(const std::vector<spdx::LegalWord>& words) : index_(TemplateIndex::Get()) {
    // Words of weight that no text of the list has get numbers below that of unknown words.
    std::map<absl::string_view, uint16_t> rare;
    for (const absl::string_view word : kWeighty) {
      uint16_t number = index_.NumberOf(word);
      if (number == kUnknownWord) {
        number = static_cast<uint16_t>(kUnknownWord - 1 - rare.size());
        rare[word] = number;
      }
      weighty_.push_back(number);
      if (absl::c_linear_search(kDecisive, word)) decisive_.push_back(number);
    }
    numbers_.reserve(words.size());
    for (const spdx::LegalWord& word : words) {
      uint16_t number = index_.NumberOf(word.text);
      const auto found = number == kUnknownWord ? rare.find(word.text) : rare.end();
      numbers_.push_back(found == rare.end() ? number : found->second);
    }
    for (const char* word : kNameWords) name_words_.push_back(index_.NumberOf(word));
    for (std::vector<uint16_t>* list : {&weighty_, &decisive_, &name_words_}) {
      std::sort(list->begin(), list->end());
    }
  }

  LicenseMatches Run() {
    FindHits();
    std::vector<Cluster> clusters;
    for (size_t i = 0; i < hits_.size() && !exhausted_;) i = FindCluster(i, &clusters);
    // The best first: what cannot be better is then soon given up.
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

  // Takes the hits from `first` on that may be of one copy of a licence; the first that is not.
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
    const double wanted = kRunShare * static_cast<double>(index_.RunsOf(license));
    if (static_cast<double>(seen.size()) < wanted) return first + 1;
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    // The hits of one copy are within the drift of its first; what is before them is stray.
    if (seen.empty() || static_cast<double>(seen.size()) < wanted) return first + 1;
    clusters->push_back(
        {first, last, (text.last - text.first) * seen.size() / index_.RunsOf(license)});
    return last;
  }

  // Where the licence's copy stands, as its outermost hits have it.
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
        DiffWords(model, absl::MakeConstSpan(numbers_).subspan(begin, end - begin), max_edits,
                  kMaxSteps, &steps_, &runs);
    exhausted_ = exhausted_ || steps_ > kMaxSteps;
    if (!compared) return;
    TrimOpenEnds(text, from, &runs);
    if (runs.empty()) return;
    Weigh(text, from, model, begin, runs);
  }

  // Takes off runs in the title and in the instructions that do not stand beside the licence
  // itself.
  static void TrimOpenEnds(const spdx::LicenseTemplate& text, size_t from,
                           std::vector<EqualRun>* runs) {
    const auto apart = [](const EqualRun& a, const EqualRun& b) {
      return b.at_b - (a.at_b + a.size) > kMaxRun;
    };
    for (size_t i = runs->size(); i-- > 1;) {
      if (from + (*runs)[i].at_a < text.last) break;
      if (apart((*runs)[i - 1], (*runs)[i])) runs->resize(i);
    }
    for (size_t i = 0; i + 1 < runs->size(); ++i) {
      if (from + (*runs)[i].at_a + (*runs)[i].size > text.first) break;
      if (apart((*runs)[i], (*runs)[i + 1])) {
        runs->erase(runs->begin(), runs->begin() + static_cast<std::ptrdiff_t>(i) + 1);
        i = static_cast<size_t>(-1);
      }
    }
  }

  // How many edits may be needed and the candidate still be the best for [begin, end): each takes
  // 1.5 from its value. Words that are free cost edits, but no value.
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

  // Counts what differs between the runs, and before the first and after the last in the model.
  void Weigh(const spdx::LicenseTemplate& text, size_t from, const std::vector<uint16_t>& model,
             size_t begin, const std::vector<EqualRun>& runs) {
    Candidate candidate;
    size_t common = 0;
    size_t differ = 0;
    bool weighty = false;
    const auto gap = [&](size_t a0, size_t a1, size_t b0, size_t b1) {
      std::vector<uint16_t> out;
      bool wildcard = false;
      for (size_t i = a0; i < a1; ++i) {
        wildcard = wildcard || model[i] == kWildcard;
        const bool open = from + i < text.first || from + i >= text.last;
        if (model[i] != kWildcard && !open) out.push_back(model[i]);
      }
      std::vector<uint16_t> in(numbers_.begin() + begin + b0, numbers_.begin() + begin + b1);
      const bool open = from + a0 >= text.last || from + a1 < text.first;
      const bool free = open || (wildcard && in.size() <= kMaxFreeWords);
      differ += out.size() + (free ? 0 : in.size());
      weighty = weighty || out.size() > kMaxRun || (!free && in.size() > kMaxRun) ||
                (!open && IsWeighty(std::move(out), std::move(in), IsNamePlace(model, a0)));
    };
    size_t end_a = 0;
    size_t end_b = runs.front().at_b;
    for (const EqualRun& run : runs) {
      gap(end_a, run.at_a, end_b, run.at_b);
      common += run.size;
      end_a = run.at_a + run.size;
      end_b = run.at_b + run.size;
    }
    gap(end_a, model.size(), end_b, end_b);
    candidate.match.score =
        2.0 * static_cast<double>(common) / static_cast<double>(2 * common + differ);
    if (candidate.match.score < kAltered) return;
    const double accepted = text.last - text.first < kShortText ? kAcceptedShort : kAccepted;
    candidate.match.altered = weighty || candidate.match.score < accepted;
    candidate.match.id = std::string(text.id());
    candidate.match.begin = begin + runs.front().at_b;
    candidate.match.end = begin + end_b;
    candidate.value = static_cast<int64_t>(common) - static_cast<int64_t>(differ);
    candidate.size = text.last - text.first;
    candidates_.push_back(std::move(candidate));
  }

  // Whether a word of weight is only on one side.
  bool IsWeighty(std::vector<uint16_t> out, std::vector<uint16_t> in, bool name_place) const {
    const std::vector<uint16_t>& weighty = name_place ? decisive_ : weighty_;
    std::sort(out.begin(), out.end());
    std::sort(in.begin(), in.end());
    std::vector<uint16_t> changed;
    std::set_symmetric_difference(out.begin(), out.end(), in.begin(), in.end(),
                                  std::back_inserter(changed));
    return std::any_of(changed.begin(), changed.end(), [&](uint16_t word) {
      return std::binary_search(weighty.begin(), weighty.end(), word);
    });
  }

  bool IsNamePlace(const std::vector<uint16_t>& model, size_t at) const {
    const auto end = model.begin() + static_cast<std::ptrdiff_t>(at);
    return std::any_of(end - static_cast<std::ptrdiff_t>(std::min(at, kNameWindow)), end,
                       [&](uint16_t word) {
                         return std::binary_search(name_words_.begin(), name_words_.end(), word);
                       });
  }

  std::vector<LicenseMatch> Choose() {
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::make_tuple(-a.value, -static_cast<int64_t>(a.size), absl::string_view(a.match.id),
                             a.match.begin) <
             std::make_tuple(-b.value, -static_cast<int64_t>(b.size), absl::string_view(b.match.id),
                             b.match.begin);
    });
    std::vector<LicenseMatch> chosen;
    std::vector<bool> taken(numbers_.size() + 1);
    for (Candidate& candidate : candidates_) {
      LicenseMatch& match = candidate.match;
      const auto first = taken.begin() + static_cast<std::ptrdiff_t>(match.begin);
      const auto last = taken.begin() + static_cast<std::ptrdiff_t>(match.end);
      // A few words at its ends may be another's too.
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
  std::vector<uint16_t> numbers_;
  std::vector<uint16_t> weighty_;
  std::vector<uint16_t> decisive_;
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
