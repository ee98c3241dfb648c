#include "client/jobs_page/page_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/console/job_facts.h"
#include "common/manifest/unmatched.h"

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;

v1::JobStatus RunningJob() {
  v1::JobStatus status;
  status.set_job("seeds-000001");
  status.set_state(v1::JOB_STATE_RUNNING);
  for (const auto& [stage, total, done] :
       {std::tuple("fetch", 3, 3), std::tuple("extract", 9, 4)}) {
    v1::StageProgress* progress = status.add_stages();
    progress->set_stage(stage);
    progress->set_total(total);
    progress->set_done(done);
  }
  return status;
}

TEST(JobsJson, HasWordsNumbersAndSums) {
  const auto job = JobsJson({RunningJob()})[0];
  EXPECT_EQ(job["state"], "running");
  EXPECT_EQ(job["total"], 12);
  EXPECT_EQ(job["done"], 7);
}

TEST(JobsJson, TextThatTurnsOrHidesIsSpelledOut) {
  v1::JobStatus status = RunningJob();
  status.set_name("a\u202eb\x1b[31m");
  v1::Failure* failure = status.add_failures();
  failure->set_message("\x1b]0;title");
  failure->set_path("\xff");
  const auto job = JobJson(status, Timeline());
  EXPECT_EQ(job["name"], "a\\u202eb\\x1b[31m");
  EXPECT_EQ(job["listed"][0]["message"], "\\x1b]0;title");
  EXPECT_FALSE(job.dump().empty()) << "a path that is not UTF-8";
}

// The page and `kernelmill jobs` say the same of a job.
TEST(JobsJson, AJobWhoseSourcesFailedLooksLikeNoSuccess) {
  v1::JobStatus status;
  status.set_state(v1::JOB_STATE_DONE);
  v1::StageProgress* fetch = status.add_stages();
  fetch->set_stage("fetch");
  fetch->set_total(2);
  fetch->set_done(1);
  fetch->set_failed(1);
  status.add_failures()->set_source("gone");
  EXPECT_EQ(JobsJson({status})[0]["words"], "done");
  EXPECT_EQ(JobsJson({status})[0]["done"], 2) << "a failed task is no open one";
  EXPECT_EQ(JobsJson({status})[0]["failures"], 1) << "it is listed, whatever is counted";
  fetch->set_done(0);
  fetch->set_failed(2);
  EXPECT_EQ(JobsJson({status})[0]["words"], "done, all 2 sources failed");
  EXPECT_EQ(JobsJson({status})[0]["lost"], true);
}

TEST(JobJson, WhatMatchesNothingIsNoFailure) {
  v1::JobStatus status = RunningJob();
  v1::Failure* unmatched = status.add_failures();
  unmatched->set_source("liger");
  unmatched->set_stage("manifest");
  unmatched->set_path(absl::StrCat(manifest::kUnmatchedPrefix, "sources[0].include[1]"));
  unmatched->set_message(manifest::ToJson({.what = "include",
                                           .where = "sources[0].include[1]",
                                           .source = "liger",
                                           .asked = "ops/*.pyx",
                                           .message = "matches none of its 12 files"}));
  const auto job = JobJson(status, Timeline());
  EXPECT_EQ(job["failures"], 0);
  EXPECT_TRUE(job["listed"].empty());
  EXPECT_EQ(job["unmatched"][0]["where"], "sources[0].include[1]");
  EXPECT_EQ(job["unmatched"][0]["text"], manifest::UnmatchedText(ReadAllUnmatched(status)[0]));
}

TEST(JobJson, TheTimelineCountsWhatRanInEachPart) {
  Timeline timeline;
  const auto add = [&](const char* stage, int64_t leased, int64_t ended) {
    v1::TaskSpan span;
    span.set_stage(stage);
    span.set_ready_unix_ms(leased == 0 ? 1000 : leased);
    span.set_leased_unix_ms(leased);
    span.set_ended_unix_ms(ended);
    timeline.Add(span);
  };
  add("fetch", 1000, 1600);
  add("fetch", 1000, 2200);
  add("extract", 1600, 0);  // still runs
  add("link", 0, 0);        // waits
  const auto stages = JobJson(RunningJob(), timeline)["timeline"]["stages"];
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0]["stage"], "fetch");
  const std::vector<int> fetch = stages[0]["counts"];
  ASSERT_EQ(fetch.size(), 120u);
  EXPECT_THAT((std::vector<int>{fetch[0], fetch[59], fetch[61], fetch[119]}),
              ElementsAre(2, 2, 1, 1));
  const std::vector<int> extract = stages[1]["counts"];
  EXPECT_THAT((std::vector<int>{extract[0], extract[59], extract[60], extract[119]}),
              ElementsAre(0, 0, 1, 1));
}

TEST(WorkersJson, HasStagesAndRunningTasks) {
  v1::WorkerInfo worker;
  worker.set_name("w");
  worker.set_slots(2);
  v1::StageSupport* stage = worker.add_stages();
  stage->set_stage("extract");
  stage->set_version(15);
  worker.add_running()->set_source("liger");
  const auto json = WorkersJson({worker})[0];
  EXPECT_EQ(json["stages"][0], "extract 15");
  EXPECT_EQ(json["running"][0]["source"], "liger");
}

}  // namespace
}  // namespace kernelmill::client
