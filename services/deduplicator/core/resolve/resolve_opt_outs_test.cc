#include <gtest/gtest.h>

#include <string>

#include "services/deduplicator/core/resolve/resolve_job.h"

namespace kernelmill::deduplicator {
namespace {

Job JobWithAnOptOut() {
  Job job;
  job.opts_out = true;
  job.Add({.sha = 'o', .rejection = "opt_out", .source = 0, .renamed = 7});
  return job;
}

TEST(ResolveOptOuts, CopiesOfAnOptedOutKernelGoByEveryRuleForDuplicates) {
  Job job = JobWithAnOptOut();
  job.policy.set_structural(true);
  const uint32_t exact = job.Add({.sha = 'o', .source = 1});
  const uint32_t renamed = job.Add({.source = 1, .renamed = 7});
  const uint32_t near = job.Add({.source = 1});
  const uint32_t version = job.Add({.source = 1});
  const uint32_t structural = job.Add({.source = 1});
  const uint32_t gpl = job.Add({.sha = 'o', .rejection = "license:GPL-3.0-only", .source = 2});
  const uint32_t other = job.Add({.source = 1});
  const uint32_t near_copy = job.Add({.source = 1});
  job.Near(0, near);
  job.Version(0, version);
  job.Structural(0, structural);
  job.Near(near, near_copy);
  const v1::Clusters clusters = job.Resolve();
  for (const uint32_t copy : {exact, renamed, near, version, structural, gpl}) {
    EXPECT_EQ(Fate(clusters, copy), "rejected opt_out") << copy;
    EXPECT_EQ(clusters.decisions(static_cast<int>(copy)).leader(), 0u) << copy;
  }
  EXPECT_EQ(clusters.decisions(static_cast<int>(near)).similarity(), 0.8);
  EXPECT_EQ(Fate(clusters, 0), "rejected opt_out");
  EXPECT_EQ(Fate(clusters, other), "kept");
  EXPECT_EQ(Fate(clusters, near_copy), "kept") << "likeness is not passed on";
}

TEST(ResolveOptOuts, ACopyOfAnOptedOutKernelLeadsNobody) {
  Job job = JobWithAnOptOut();
  const uint32_t copy = job.Add({.sha = 'o', .tier = 1, .source = 1});
  const uint32_t like = job.Add({.tier = 2, .source = 1});
  job.Near(copy, like);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, copy), "rejected opt_out");
  EXPECT_EQ(Fate(clusters, like), "kept");
}

TEST(ResolveOptOuts, AVersionOfAnOptedOutKernelIsFoundBehindOneOfItsOwnSource) {
  Job job = JobWithAnOptOut();
  const uint32_t twin = job.Add({.rejection = "opt_out", .source = 1});
  const uint32_t version = job.Add({.source = 0});
  job.Equal(0, twin);
  job.Version(0, version);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, version), "rejected opt_out");
  EXPECT_EQ(clusters.decisions(static_cast<int>(version)).leader(), twin);
}

TEST(ResolveOptOuts, WhatTakesAnOptedOutTextAlongIsRejectedForItsSake) {
  Job job = JobWithAnOptOut();
  const uint32_t copy = job.Add({.sha = 'o', .source = 1});
  const uint32_t user = job.Add({.source = 1});
  const uint32_t own = job.Add({.rejection = "opt_out:module", .source = 0});
  job.takes_along = {{user, copy}, {copy, 0}, {0, copy}};
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, user), "rejected opt_out:module");
  EXPECT_EQ(clusters.decisions(static_cast<int>(user)).leader(), 0u) << "the one that was named";
  EXPECT_EQ(Fate(clusters, copy), "rejected opt_out");
  EXPECT_EQ(Fate(clusters, own), "rejected opt_out:module");
  EXPECT_EQ(clusters.decisions(static_cast<int>(own)).leader(), own);
}

TEST(ResolveOptOuts, AWishComesBeforeALicenceAndBeforeContamination) {
  Job job = JobWithAnOptOut();
  const uint32_t holdout = job.Add({.holdout = true});
  const uint32_t copy = job.Add({.sha = 'o', .source = 1});
  job.Like(copy, holdout, 10, 10);
  EXPECT_EQ(Fate(job.Resolve(), copy), "rejected opt_out");
}

// Of kernels the line counts from 1; 0 is a whole file's (IsFile).
Job::Kernel File(const std::string& path, char sha = 0, int source = 0) {
  Job::Kernel file;
  file.path = path;
  file.line = 0;
  file.sha = sha;
  file.source = source;
  return file;
}

TEST(ResolveFiles, AFileIsADuplicateOfFilesAlone) {
  Job job;
  Job::Kernel kernel;
  kernel.sha = 'a';
  const uint32_t function = job.Add(kernel);
  const uint32_t first = job.Add(File("a.py", 'a'));
  const uint32_t copy = job.Add(File("b.py", 'a', 1));
  const uint32_t like = job.Add(File("c.py", 0, 2));
  job.Near(first, like);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(clusters.decisions(static_cast<int>(function)).fate(), v1::FATE_KEPT);
  EXPECT_EQ(clusters.decisions(static_cast<int>(first)).fate(), v1::FATE_KEPT);
  EXPECT_EQ(clusters.decisions(static_cast<int>(copy)).reason(), "exact");
  EXPECT_EQ(clusters.decisions(static_cast<int>(copy)).leader(), first);
  EXPECT_EQ(clusters.decisions(static_cast<int>(like)).reason(), "near");
}

TEST(ResolveFiles, AFileThatHoldsWhatMustNotGetOutIsRejectedWithIt) {
  Job job;
  Job::Kernel secret;
  secret.rejection = "sensitive:email";
  secret.path = "secret.py";
  job.Add(secret);
  const uint32_t holds_secret = job.Add(File("secret.py"));
  const uint32_t elsewhere = job.Add(File("secret.py", 0, 1));
  Job::Kernel plain;
  plain.rejection = "quality:min_score";
  plain.path = "plain.py";
  job.Add(plain);
  const uint32_t holds_plain = job.Add(File("plain.py"));
  Job::Kernel answer;
  answer.path = "answer.py";
  const uint32_t contaminated = job.Add(answer);
  const uint32_t holds_answer = job.Add(File("answer.py"));
  Job::Kernel holdout;
  holdout.holdout = true;
  job.Like(contaminated, job.Add(holdout), 9, 0);
  const v1::Clusters clusters = job.Resolve();
  const auto of = [&](uint32_t number) { return clusters.decisions(static_cast<int>(number)); };
  EXPECT_EQ(of(holds_secret).fate(), v1::FATE_REJECTED);
  EXPECT_EQ(of(holds_secret).reason(), "holds:sensitive");
  EXPECT_EQ(of(elsewhere).fate(), v1::FATE_KEPT);
  EXPECT_EQ(of(holds_plain).fate(), v1::FATE_KEPT);
  EXPECT_EQ(of(holds_answer).fate(), v1::FATE_REJECTED);
  EXPECT_EQ(of(holds_answer).reason(), "holds:contaminated");
  EXPECT_EQ(of(holds_answer).leader(), holds_answer);
}

TEST(ResolveFiles, AFileWithAHoldoutsTextIsContaminatedByItsSource) {
  Job job;
  const uint32_t file = job.Add(File("host.py"));
  Job::Kernel holdout;
  holdout.holdout = true;
  job.Like(file, job.Add(holdout), 0, 6)->set_text(v1::Sensitive::TEXT_MODULE);
  EXPECT_EQ(job.Resolve().decisions(static_cast<int>(file)).reason(), "overlap:source");
  job.policy.mutable_contamination()->set_action(v1::CONTAMINATION_ACTION_LABEL);
  EXPECT_EQ(job.Resolve().decisions(static_cast<int>(file)).fate(), v1::FATE_KEPT);
}

}  // namespace
}  // namespace kernelmill::deduplicator
