#include "services/validator/core/quality/score.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"

namespace kernelmill::validator {
namespace {

constexpr int kSeedWeight = 4, kMaskWeight = 2, kModuleWeight = 2;
constexpr double kCommented = 0.05, kTier1 = 0.8, kTier2 = 0.5;

class Mean {
 public:
  void Add(int weight, double part) {
    sum_ += weight * part;
    weights_ += weight;
  }
  void AddShare(int weight, int64_t of, int64_t all) {
    if (all > 0) Add(weight, static_cast<double>(of) / static_cast<double>(all));
  }
  double Rounded() const {
    return weights_ == 0
               ? 0
               : static_cast<double>(static_cast<int64_t>(1000 * sum_ / weights_ + 0.5)) / 1000;
  }

 private:
  double sum_ = 0;
  int weights_ = 0;
};

bool Asked(const v1::Verdict& verdict, absl::string_view rule) {
  return std::any_of(
      verdict.rules().begin(), verdict.rules().end(), [rule](const v1::RuleResult& result) {
        return result.rule() == rule && result.outcome() != v1::RuleResult::OUTCOME_EXEMPT;
      });
}

}  // namespace

void Score(v1::Verdict* verdict) {
  const v1::Checks& checks = verdict->checks();
  v1::Quality& quality = *verdict->mutable_quality();
  int64_t passed = 0;
  int64_t asked = 0;
  for (const v1::RuleResult& result : verdict->rules()) {
    if (!absl::StartsWith(result.rule(), "has_") ||
        result.outcome() == v1::RuleResult::OUTCOME_EXEMPT)
      continue;
    ++asked;
    if (result.outcome() == v1::RuleResult::OUTCOME_PASS) ++passed;
  }
  const v1::MaskCoverage& masks = quality.masks();
  Mean mean;
  mean.AddShare(kSeedWeight, passed, asked);
  mean.AddShare(kMaskWeight, masks.masked_loads() + masks.masked_stores(),
                masks.loads() + masks.stores());
  if (Asked(*verdict, "self_contained")) mean.Add(kModuleWeight, checks.self_contained() ? 1 : 0);
  mean.Add(1, checks.has_docstring() || quality.comment_ratio() >= kCommented ? 1 : 0);
  mean.Add(1, checks.parses() ? 1 : 0);
  mean.Add(1, checks.handwritten() && checks.readable() ? 1 : 0);
  quality.set_score(mean.Rounded());
  quality.set_tier(quality.score() >= kTier1 ? 1 : quality.score() >= kTier2 ? 2 : 3);
}

}  // namespace kernelmill::validator
