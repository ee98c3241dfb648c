// The basic idea: the pair stage counts what a kernel and a holdout share, once for a job. This
// class turns the counts into scores and applies the policy's limits, so that a changed limit does
// not need another pair stage.

#include "services/deduplicator/core/resolve/contamination.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "services/deduplicator/core/pair/holdout_matcher.h"
#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {
namespace {

constexpr std::array<absl::string_view, 5> kRules = {"exact", "near", "structural", "overlap",
                                                     "contained"};

constexpr absl::string_view kFileText = "file";  // a holdout's whole file, as in records

// Returns the place of the rule in kRules: 0 is the most severe.
size_t Severity(const v1::Contamination& contamination) {
  return std::find(kRules.begin(), kRules.end(), contamination.rule()) - kRules.begin();
}

// Orders matches by rule, then by score, then by place, so that the order is total.
bool IsGraver(const v1::Contamination& x, const v1::Contamination& y) {
  return std::make_tuple(Severity(x), -x.score(), x.holdout(), x.text(), x.holdout_text()) <
         std::make_tuple(Severity(y), -y.score(), y.holdout(), y.text(), y.holdout_text());
}

// Returns the text's name, as in records.
std::string TextName(v1::Sensitive::Text text) {
  switch (text) {
    case v1::Sensitive::TEXT_MODULE:
      return "module";
    case v1::Sensitive::TEXT_LAUNCHER:
      return "launcher";
    default:
      return "source";
  }
}

// Applies the rules in order; the first that applies makes the match decisive.
v1::Contamination Judge(const v1::HoldoutMatch& match, const v1::ContaminationPolicy& policy) {
  const std::array<double, 5> scores = {
      match.same_tokens() ? 1.0 : 0.0,
      Similarity({match.common(), match.total()}),
      Similarity({match.structural_common(), match.structural_total()}),
      Similarity({match.runs_common(), match.runs_holdout()}),
      Similarity({match.runs_covered(), match.runs_text()}),
  };
  const std::array<double, 5> limits = {1, policy.threshold(), policy.structural(),
                                        policy.overlap(), policy.overlap()};
  v1::Contamination judged;
  judged.set_holdout(match.holdout());
  judged.set_text(TextName(match.text()));
  judged.set_holdout_text(match.words() ? std::string(kFileText) : TextName(match.holdout_text()));
  judged.set_json_pointer(match.json_pointer());
  judged.set_copies(match.copies());
  judged.set_score(*std::max_element(scores.begin(), scores.end()));
  for (size_t rule = 0; rule < scores.size(); ++rule) {
    if (scores[rule] < limits[rule] || scores[rule] == 0) continue;
    judged.set_rule(std::string(kRules[rule]));
    judged.set_score(scores[rule]);
    judged.set_decisive(true);
    break;
  }
  return judged;
}

// Returns the messages of one kernel from a list that is sorted by kernel.
template <typename Message>
absl::Span<const Message> FindMatches(const std::vector<Message>& all, uint32_t kernel) {
  const auto first = [&](uint64_t number) {
    return std::partition_point(all.begin(), all.end(),
                                [=](const Message& m) { return m.kernel() < number; }) -
           all.begin();
  };
  const auto begin = first(kernel);
  return absl::MakeConstSpan(all).subspan(begin, first(uint64_t{kernel} + 1) - begin);
}

// Weak matches are counted, with their highest score, so that a limit can be judged without them
// being listed.
void AddWeak(int matches, double score, v1::Decision* decision) {
  decision->set_weak_matches(decision->weak_matches() + matches);
  decision->set_weak_score(std::max(decision->weak_score(), score));
}

// Removes the matches of a text with whole files if it also matches a holdout's kernel or launcher:
// these are parts of the files, and say more.
void DropRepeatedWords(std::vector<v1::Contamination>* decisive) {
  std::set<std::string> texts;
  for (const v1::Contamination& match : *decisive) {
    if (match.holdout_text() != kFileText) texts.insert(match.text());
  }
  std::erase_if(*decisive, [&](const v1::Contamination& match) {
    return match.holdout_text() == kFileText && texts.contains(match.text());
  });
}

}  // namespace

void Contaminations::Build() {
  const auto by_kernel = [](const auto& x, const auto& y) { return x.kernel() < y.kernel(); };
  std::sort(matches_.begin(), matches_.end(), by_kernel);
  std::sort(further_.begin(), further_.end(), by_kernel);
}

void Contaminations::Describe(uint32_t number, v1::Decision* decision) const {
  std::vector<v1::Contamination> decisive;
  for (const v1::HoldoutMatch& match : FindMatches(matches_, number)) {
    v1::Contamination judged = Judge(match, policy_);
    if (judged.decisive()) {
      decisive.push_back(std::move(judged));
    } else if (!match.words()) {
      AddWeak(1, judged.score(), decision);
    }
  }
  DropRepeatedWords(&decisive);
  for (const v1::FurtherMatches& further : FindMatches(further_, number)) {
    AddWeak(further.matches(), further.score(), decision);
  }
  std::sort(decisive.begin(), decisive.end(), IsGraver);
  if (decisive.size() > kMaxMatches) decisive.resize(kMaxMatches);
  for (v1::Contamination& match : decisive) *decision->add_contamination() = std::move(match);
}

}  // namespace kernelmill::deduplicator
