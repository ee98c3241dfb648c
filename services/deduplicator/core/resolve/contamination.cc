#include "services/deduplicator/core/resolve/contamination.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/string_view.h"
#include "services/deduplicator/core/pair/holdout_matcher.h"
#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {
namespace {

v1::Contamination Make(uint32_t holdout, absl::string_view rule, double score, bool decisive) {
  v1::Contamination contamination;
  contamination.set_holdout(holdout);
  contamination.set_rule(std::string(rule));
  contamination.set_score(score);
  contamination.set_decisive(decisive);
  return contamination;
}

int Severity(const v1::Contamination& contamination) {
  if (contamination.rule() == "exact") return 0;
  if (contamination.rule() == "near") return 1;
  return contamination.decisive() ? 2 : 3;
}

bool IsGraver(const v1::Contamination& x, const v1::Contamination& y) {
  return std::make_tuple(Severity(x), -x.score(), x.holdout()) <
         std::make_tuple(Severity(y), -y.score(), y.holdout());
}

}  // namespace

Contaminations::Contaminations(const v1::ContaminationPolicy& policy,
                               std::vector<v1::HoldoutMatch> matches,
                               std::vector<uint32_t> holdout_exact,
                               std::vector<uint32_t> holdout_pair)
    : policy_(policy),
      matches_(std::move(matches)),
      holdout_exact_(std::move(holdout_exact)),
      holdout_pair_(std::move(holdout_pair)) {
  std::sort(matches_.begin(), matches_.end(), [](const auto& x, const auto& y) {
    return std::make_pair(x.kernel(), x.holdout()) < std::make_pair(y.kernel(), y.holdout());
  });
}

absl::Span<const v1::HoldoutMatch> Contaminations::MatchesOf(uint32_t number) const {
  const auto from = [this](uint32_t kernel) {
    return std::lower_bound(matches_.begin(), matches_.end(), kernel,
                            [](const v1::HoldoutMatch& m, uint32_t k) { return m.kernel() < k; }) -
           matches_.begin();
  };
  const auto begin = from(number);
  return absl::MakeConstSpan(matches_).subspan(begin, from(number + 1) - begin);
}

v1::Contamination Contaminations::Judge(const v1::HoldoutMatch& match) const {
  const double similarity = Similarity({match.common(), match.total()});
  if (similarity >= policy_.threshold()) return Make(match.holdout(), "near", similarity, true);
  const double share = Similarity({match.runs_common(), match.runs_holdout()});
  return Make(match.holdout(), "overlap", share, share >= policy_.overlap());
}

std::vector<v1::Contamination> Contaminations::Of(uint32_t number, uint32_t exact,
                                                  uint32_t pair) const {
  std::vector<v1::Contamination> found;
  const uint32_t same[] = {holdout_exact_[exact], holdout_pair_[pair]};
  for (const uint32_t holdout : same) {
    const bool again = !found.empty() && found.back().holdout() == holdout;
    if (holdout != kNoHoldout && !again) found.push_back(Make(holdout, "exact", 1, true));
  }
  for (const v1::HoldoutMatch& match : MatchesOf(number)) {
    if (match.holdout() == same[0] || match.holdout() == same[1]) continue;
    v1::Contamination judged = Judge(match);
    if (judged.score() > 0) found.push_back(std::move(judged));
  }
  std::sort(found.begin(), found.end(), IsGraver);
  if (found.size() > kMaxMatches) found.resize(kMaxMatches);
  return found;
}

}  // namespace kernelmill::deduplicator
