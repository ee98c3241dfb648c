// The basic idea: an inverted index from each hash of the holdouts to the texts that contain it. A
// kernel's hashes are looked up one by one, and a counter for each holdout text that is met tells
// how much the two have in common. Only counters that were touched are read and reset, so that the
// cost follows the matches and not the number of holdouts.

#include "services/deduplicator/core/pair/holdout_matcher.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "common/base/status.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/shingles.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {
namespace {

template <typename Field>
absl::Span<const uint64_t> AsSpan(const Field& field) {
  return absl::MakeConstSpan(field.data(), field.size());
}

std::vector<uint64_t> ToSet(absl::Span<const uint64_t> runs) {
  std::vector<uint64_t> set(runs.begin(), runs.end());
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

absl::Status CheckSets(const v1::KernelShingles& kernel) {
  RETURN_IF_ERROR(CheckSet(AsSpan(kernel.near())));
  RETURN_IF_ERROR(CheckSet(AsSpan(kernel.structural())));
  RETURN_IF_ERROR(CheckSet(AsSpan(kernel.module_runs())));
  for (const v1::WordRuns& words : kernel.words()) RETURN_IF_ERROR(CheckSet(AsSpan(words.runs())));
  return CheckSet(AsSpan(kernel.launcher_runs()));
}

// Returns a hash that is equal for sources with equal tokens. Fewer than 13 tokens are told apart
// by their shingles, more by their runs in order.
uint64_t HashTokens(const v1::KernelShingles& kernel) {
  const std::array<uint64_t, 2> hashes = {SetHash(AsSpan(kernel.near())),
                                          SetHash(AsSpan(kernel.runs()))};
  return SetHash(hashes);
}

// The four measures of a match: shingles, structural shingles, the holdout's runs in the text, the
// text's runs in holdouts.
using Scores = std::array<double, 4>;

Scores GetScores(const v1::HoldoutMatch& match) {
  return {Similarity({match.common(), match.total()}),
          Similarity({match.structural_common(), match.structural_total()}),
          Similarity({match.runs_common(), match.runs_holdout()}),
          Similarity({match.runs_covered(), match.runs_text()})};
}

// Returns the highest of the four scores.
double Gravity(const v1::HoldoutMatch& match) {
  const Scores scores = GetScores(match);
  return *std::max_element(scores.begin(), scores.end());
}

// Records how many of the text's runs any holdout has, in the match that shares most of them.
void SetCovered(uint32_t covered, size_t runs, absl::Span<v1::HoldoutMatch> matches) {
  if (runs < kLeastRuns || matches.empty()) return;
  const auto most = std::max_element(matches.begin(), matches.end(),
                                     [](const v1::HoldoutMatch& x, const v1::HoldoutMatch& y) {
                                       return x.runs_common() < y.runs_common();
                                     });
  most->set_runs_text(static_cast<uint32_t>(runs));
  most->set_runs_covered(covered);
}

// Moves the kMaxMatches strongest by each score to the front. Returns their number.
size_t PutGravestFirst(std::vector<v1::HoldoutMatch>* matches) {
  size_t named = 0;
  for (size_t score = 0; score < Scores().size(); ++score) {
    const auto is_graver = [score](const v1::HoldoutMatch& x, const v1::HoldoutMatch& y) {
      return std::make_tuple(-GetScores(x)[score], x.text(), x.holdout(), x.holdout_text()) <
             std::make_tuple(-GetScores(y)[score], y.text(), y.holdout(), y.holdout_text());
    };
    const size_t end = std::min(named + kMaxMatches, matches->size());
    std::partial_sort(matches->begin() + named, matches->begin() + end, matches->end(), is_graver);
    while (named < end && GetScores((*matches)[named])[score] > 0) ++named;
  }
  return named;
}

}  // namespace

// Adds a text to the index, or counts a copy if a text with the same tokens is there.
void HoldoutMatcher::AddText(Item item, Set near, Set structural, Set runs) {
  const auto index = static_cast<uint32_t>(items_.size());
  const auto [known, is_new] = by_tokens_.try_emplace(item.tokens, index);
  if (!is_new) {
    ++items_[known->second].copies;
    return;
  }
  item.shingles = static_cast<uint32_t>(near.size());
  item.structural = static_cast<uint32_t>(structural.size());
  item.runs = static_cast<uint32_t>(runs.size());
  items_.push_back(item);
  common_.emplace_back();
  for (const uint64_t shingle : near) by_shingle_[shingle].push_back(index);
  for (const uint64_t shingle : structural) by_structural_[shingle].push_back(index);
  for (const uint64_t run : runs) by_run_[run].push_back(index);
}

// Indexes a holdout's source, and its launcher if that is long enough to mean something.
absl::Status HoldoutMatcher::Add(uint32_t number, const v1::KernelShingles& kernel) {
  RETURN_IF_ERROR(CheckSets(kernel));
  words_.Add(number, kernel);
  // A whole file has its runs as a module's, and is compared by its words alone.
  const bool is_file = kernel.runs().empty() && kernel.structural().empty();
  if (is_file && !kernel.module_runs().empty()) return absl::OkStatus();
  AddText({number, v1::Sensitive::TEXT_SOURCE, HashTokens(kernel)}, AsSpan(kernel.near()),
          AsSpan(kernel.structural()), ToSet(AsSpan(kernel.runs())));
  const Set launcher = AsSpan(kernel.launcher_runs());
  if (launcher.size() < kLeastRuns) return absl::OkStatus();
  AddText({number, v1::Sensitive::TEXT_LAUNCHER, ~SetHash(launcher)}, {}, {}, launcher);
  return absl::OkStatus();
}

// Adds the set's hashes to the counters of the items that contain them. Returns how many of the
// hashes any item contains.
uint32_t HoldoutMatcher::Count(const Postings& postings, Set set, uint32_t Common::*counter) {
  uint32_t covered = 0;
  for (const uint64_t hash : set) {
    const auto found = postings.find(hash);
    if (found == postings.end()) continue;
    ++covered;
    for (const uint32_t index : found->second) {
      Common& common = common_[index];
      if (common.shingles == 0 && common.structural == 0 && common.runs == 0) {
        touched_.push_back(index);
      }
      ++(common.*counter);
    }
  }
  return covered;
}

// Resets the counters after a text.
void HoldoutMatcher::Forget() {
  for (const uint32_t index : touched_) common_[index] = {};
  touched_.clear();
}

v1::HoldoutMatch HoldoutMatcher::MakeMatch(uint32_t item, v1::Sensitive::Text text) const {
  v1::HoldoutMatch match;
  match.set_holdout(items_[item].number);
  match.set_text(text);
  match.set_holdout_text(items_[item].text);
  match.set_copies(items_[item].copies);
  match.set_runs_common(common_[item].runs);
  match.set_runs_holdout(items_[item].runs);
  return match;
}

// Returns true if the match is strong enough to report.
bool HoldoutMatcher::IsNamed(const v1::HoldoutMatch& match) const {
  const Scores scores = GetScores(match);
  return match.same_tokens() || match.runs_common() > 0 || scores[0] >= threshold_ ||
         scores[1] >= threshold_;
}

// Appends the matches of a kernel's source, by all four measures.
void HoldoutMatcher::MatchSource(const v1::KernelShingles& kernel, Set runs, Matches* matches) {
  Count(by_shingle_, AsSpan(kernel.near()), &Common::shingles);
  Count(by_structural_, AsSpan(kernel.structural()), &Common::structural);
  const uint32_t covered = Count(by_run_, runs, &Common::runs);
  const uint64_t tokens = HashTokens(kernel);
  const auto near = static_cast<uint32_t>(kernel.near_size());
  const auto structural = static_cast<uint32_t>(kernel.structural_size());
  for (const uint32_t index : touched_) {
    const Item& item = items_[index];
    const Common& common = common_[index];
    v1::HoldoutMatch match = MakeMatch(index, v1::Sensitive::TEXT_SOURCE);
    if (item.text == v1::Sensitive::TEXT_SOURCE) {
      match.set_same_tokens(item.tokens == tokens);
      match.set_common(common.shingles);
      match.set_total(item.shingles + near - common.shingles);
      if (std::min(item.structural, structural) >= kLeastRuns) {
        match.set_structural_common(common.structural);
        match.set_structural_total(item.structural + structural - common.structural);
      }
    }
    if (IsNamed(match)) matches->push_back(std::move(match));
  }
  SetCovered(covered, runs.size(), absl::MakeSpan(*matches));
  Forget();
}

// Appends the matches of a module or a launcher that has `runs` runs.
void HoldoutMatcher::MatchText(v1::Sensitive::Text text, const std::vector<uint32_t>& items,
                               uint32_t covered, size_t runs, Matches* matches) {
  const size_t first = matches->size();
  for (const uint32_t index : items) {
    v1::HoldoutMatch match = MakeMatch(index, text);
    // A short holdout counts for how much of the text holdouts cover, but is not itself reported
    // as contained.
    if (items_[index].runs < kLeastRuns) match.set_runs_holdout(0);
    matches->push_back(std::move(match));
  }
  SetCovered(covered, runs, absl::MakeSpan(*matches).subspan(first));
  matches->erase(std::remove_if(matches->begin() + first, matches->end(),
                                [](const auto& match) { return Gravity(match) == 0; }),
                 matches->end());
  Forget();
}

// Only items that share a run with the rest of the module count: what the kernel's own source
// shares is reported for the source.
void HoldoutMatcher::MatchModule(Set runs, Set more_runs, Matches* matches) {
  uint32_t covered = Count(by_run_, more_runs, &Common::runs);
  const std::vector<uint32_t> items = touched_;
  covered += Count(by_run_, runs, &Common::runs);
  MatchText(v1::Sensitive::TEXT_MODULE, items, covered, runs.size() + more_runs.size(), matches);
}

void HoldoutMatcher::MatchLauncher(Set runs, Matches* matches) {
  const uint32_t covered = Count(by_run_, runs, &Common::runs);
  MatchText(v1::Sensitive::TEXT_LAUNCHER, touched_, covered, runs.size(), matches);
}

// Adds the matches of a kernel's source, module and launcher with any holdout.
absl::Status HoldoutMatcher::Match(uint32_t number, const v1::KernelShingles& kernel,
                                   v1::PairSet* pairs) {
  RETURN_IF_ERROR(CheckSets(kernel));
  const std::vector<uint64_t> runs = ToSet(AsSpan(kernel.runs()));
  Matches matches;
  MatchSource(kernel, runs, &matches);
  MatchModule(runs, AsSpan(kernel.module_runs()), &matches);
  MatchLauncher(AsSpan(kernel.launcher_runs()), &matches);
  words_.Match(kernel, &matches);
  // Only the strongest matches are stored one by one; a kernel made of common idioms can match
  // thousands of holdouts weakly.
  const size_t named = PutGravestFirst(&matches);
  if (named < matches.size()) {
    v1::FurtherMatches* further = pairs->add_further();
    further->set_kernel(number);
    further->set_matches(static_cast<int>(matches.size() - named));
    double score = 0;
    for (size_t i = named; i < matches.size(); ++i) score = std::max(score, Gravity(matches[i]));
    further->set_score(score);
    matches.resize(named);
  }
  std::sort(matches.begin(), matches.end(), [](const auto& x, const auto& y) {
    return std::make_tuple(x.text(), x.holdout(), x.holdout_text()) <
           std::make_tuple(y.text(), y.holdout(), y.holdout_text());
  });
  for (v1::HoldoutMatch& match : matches) {
    match.set_kernel(number);
    *pairs->add_holdouts() = std::move(match);
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator
