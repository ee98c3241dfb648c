#include "services/deduplicator/core/pair/holdout_words.h"

#include <algorithm>
#include <utility>

#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/shingles.h"
#include "services/deduplicator/core/sign/words.h"

namespace kernelmill::deduplicator {

// Only whole files are indexed: a holdout's kernels are parts of them. Equal texts are one item.
void HoldoutWords::Add(uint32_t number, const v1::KernelShingles& shingles) {
  for (const v1::WordRuns& words : shingles.words()) {
    if (words.text() != v1::Sensitive::TEXT_UNSPECIFIED) continue;
    const auto index = static_cast<uint32_t>(items_.size());
    const uint64_t text = SetHash(absl::MakeConstSpan(words.runs().data(), words.runs_size()));
    const auto [known, is_new] = by_text_.try_emplace(text, index);
    if (!is_new) {
      ++items_[known->second].copies;
      continue;
    }
    items_.push_back({number, words.json_pointer(), static_cast<uint32_t>(words.runs_size())});
    common_.push_back(0);
    for (const uint64_t run : words.runs()) by_run_[run].push_back(index);
  }
}

void HoldoutWords::DropCommonRuns() {
  if (std::exchange(dropped_, true)) return;
  for (auto& [run, items] : by_run_) {
    if (items.size() < kCommonTexts) continue;
    for (const uint32_t item : items) --items_[item].runs;
    items = {};
  }
}

void HoldoutWords::Match(const v1::KernelShingles& shingles,
                         std::vector<v1::HoldoutMatch>* matches) {
  DropCommonRuns();
  if (by_run_.empty()) return;
  for (const v1::WordRuns& words : shingles.words()) MatchText(words, matches);
}

// The match with the most common runs says how much of the text all holdouts have.
void HoldoutWords::MatchText(const v1::WordRuns& words, std::vector<v1::HoldoutMatch>* matches) {
  uint32_t covered = 0;
  uint32_t anybodys = 0;
  for (const uint64_t run : words.runs()) {
    const auto found = by_run_.find(run);
    if (found == by_run_.end()) continue;
    if (found->second.empty()) {
      ++anybodys;
      continue;
    }
    ++covered;
    for (const uint32_t item : found->second) {
      if (common_[item]++ == 0) touched_.push_back(item);
    }
  }
  std::sort(touched_.begin(), touched_.end());
  const auto own = static_cast<uint32_t>(words.runs_size()) - anybodys;
  const auto most = std::max_element(touched_.begin(), touched_.end(), [&](uint32_t x, uint32_t y) {
    return common_[x] < common_[y];
  });
  for (const uint32_t index : touched_) {
    v1::HoldoutMatch match = MakeMatch(index, words.text());
    if (index == *most && own >= kLeastWordRuns) {
      match.set_runs_text(own);
      match.set_runs_covered(covered);
    }
    const double share = std::max(Similarity({match.runs_common(), match.runs_holdout()}),
                                  Similarity({match.runs_covered(), match.runs_text()}));
    if (share >= kLeastShareOfWords) matches->push_back(std::move(match));
  }
  for (const uint32_t index : touched_) common_[index] = 0;
  touched_.clear();
}

v1::HoldoutMatch HoldoutWords::MakeMatch(uint32_t index, v1::Sensitive::Text text) const {
  const Item& item = items_[index];
  v1::HoldoutMatch match;
  match.set_holdout(item.number);
  const bool is_file = text == v1::Sensitive::TEXT_UNSPECIFIED;
  match.set_text(is_file ? v1::Sensitive::TEXT_SOURCE : text);
  match.set_words(true);
  match.set_json_pointer(item.json_pointer);
  match.set_copies(item.copies);
  match.set_runs_common(common_[index]);
  if (item.runs >= kLeastWordRuns) match.set_runs_holdout(item.runs);
  return match;
}

}  // namespace kernelmill::deduplicator
