#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "services/deduplicator/core/resolve/resolve_job.h"

namespace kernelmill::deduplicator {
namespace {

// Two holdouts' kernels, 4 and 5, and what is like them.
Job HoldoutJob() {
  Job job;
  for (int i = 0; i < 4; ++i) job.Add();
  job.Add({.holdout = true});
  job.Add({.holdout = true});
  job.Add({.rejection = "license:NOASSERTION"});
  job.Add();
  job.Add();
  for (const uint32_t same : {0, 6}) job.Like(same, 4, 10, 10)->set_same_tokens(true);
  job.Like(2, 4, 5, 0);
  job.Like(2, 5, 8, 10);
  job.Like(7, 5, 4, 5);
  job.Like(8, 5, 4, 4);
  job.Near(2, 3);
  return job;
}

// "exact 4 1", for each holdout named; then how many are not, and the highest score of these.
std::string Named(const v1::Clusters& clusters, uint32_t number) {
  const v1::Decision& decision = clusters.decisions(static_cast<int>(number));
  std::string text;
  for (const v1::Contamination& match : decision.contamination()) {
    EXPECT_TRUE(match.decisive());
    absl::StrAppend(&text, match.rule(), " ", match.text(), " ", match.holdout(), " ",
                    match.score(), "; ");
  }
  if (decision.weak_matches() == 0) return text;
  return absl::StrCat(text, decision.weak_matches(), " weak, ", decision.weak_score());
}

TEST(ResolveHoldouts, HoldoutsContaminate) {
  const v1::Clusters clusters = HoldoutJob().Resolve();
  EXPECT_EQ(Fate(clusters, 0), "exact:source holdout 4");
  EXPECT_EQ(Fate(clusters, 1), "kept");
  EXPECT_EQ(Fate(clusters, 2), "near:source holdout 5");  // the more similar one
  EXPECT_DOUBLE_EQ(clusters.decisions(2).similarity(), 0.8);
  EXPECT_EQ(Fate(clusters, 3), "kept");  // a contaminated kernel takes none with it
  EXPECT_EQ(Fate(clusters, 4), "holdout");
  EXPECT_EQ(Fate(clusters, 5), "holdout");
  EXPECT_EQ(Fate(clusters, 6), "rejected license:NOASSERTION");
  EXPECT_EQ(Fate(clusters, 7), "overlap:source holdout 5");
  EXPECT_EQ(Fate(clusters, 8), "kept");
}

TEST(ResolveHoldouts, DecisiveMatchesAreNamedAndWeakOnesCounted) {
  Job job = HoldoutJob();
  job.Further(8, 12, 0.3);
  job.Further(7, 2, 0.45);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Named(clusters, 0), "exact source 4 1; ");
  EXPECT_EQ(Named(clusters, 2), "near source 5 0.8; near source 4 0.5; ");
  EXPECT_EQ(Named(clusters, 3), "");
  EXPECT_EQ(Named(clusters, 6), "exact source 4 1; ");  // though it is rejected
  EXPECT_EQ(Named(clusters, 7), "overlap source 5 0.5; 2 weak, 0.45");
  EXPECT_EQ(Named(clusters, 8), "13 weak, 0.4");  // too little to drop it
}

TEST(ResolveHoldouts, AnyExportedTextContaminates) {
  Job job;
  for (int i = 0; i < 6; ++i) job.Add();
  job.Add({.holdout = true});
  const auto like = [&](uint32_t kernel, v1::Sensitive::Text text, uint32_t runs) {
    v1::HoldoutMatch* match = job.Like(kernel, 6, 0, runs);
    match->set_text(text);
    return match;
  };
  like(0, v1::Sensitive::TEXT_MODULE, 10);
  like(1, v1::Sensitive::TEXT_LAUNCHER, 6)->set_holdout_text(v1::Sensitive::TEXT_LAUNCHER);
  v1::HoldoutMatch* contained = like(2, v1::Sensitive::TEXT_SOURCE, 4);
  contained->set_runs_covered(70);
  contained->set_runs_text(100);
  v1::HoldoutMatch* structural = job.Like(3, 6, 3, 0);
  structural->set_structural_common(90);
  structural->set_structural_total(100);
  structural->set_copies(4);
  v1::HoldoutMatch* less = job.Like(4, 6, 3, 0);
  less->set_structural_common(84);
  less->set_structural_total(100);
  v1::HoldoutMatch* weak = like(5, v1::Sensitive::TEXT_SOURCE, 4);
  weak->set_runs_covered(49);
  weak->set_runs_text(100);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 0), "overlap:module holdout 6");
  EXPECT_EQ(Fate(clusters, 1), "kept");  // without its launcher's text
  EXPECT_EQ(Named(clusters, 1), "overlap launcher 6 0.6; ");
  EXPECT_EQ(clusters.decisions(1).contamination(0).holdout_text(), "launcher");
  EXPECT_EQ(Fate(clusters, 2), "contained:source holdout 6");
  EXPECT_EQ(Fate(clusters, 3), "structural:source holdout 6");
  EXPECT_EQ(clusters.decisions(3).contamination(0).copies(), 4);
  EXPECT_EQ(Fate(clusters, 4), "kept");
  EXPECT_EQ(Named(clusters, 5), "1 weak, 0.49");
}

TEST(ResolveHoldouts, APolicyThatLabelsKeepsWhatItNames) {
  Job job = HoldoutJob();
  job.policy.mutable_contamination()->set_action(v1::CONTAMINATION_ACTION_LABEL);
  const v1::Clusters clusters = job.Resolve();
  for (const uint32_t number : {0, 1, 2, 7}) EXPECT_EQ(Fate(clusters, number), "kept") << number;
  EXPECT_EQ(Named(clusters, 0), "exact source 4 1; ");
  EXPECT_EQ(Fate(clusters, 3), "near of 2");
}

TEST(ResolveHoldouts, ContaminationsLimitsAreThePolicys) {
  Job job = HoldoutJob();
  job.policy.mutable_contamination()->set_threshold(0.9);
  job.policy.mutable_contamination()->set_overlap(0.4);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Named(clusters, 2), "overlap source 5 1; 1 weak, 0.5");
  EXPECT_EQ(Fate(clusters, 8), "overlap:source holdout 5");
}

}  // namespace
}  // namespace kernelmill::deduplicator
