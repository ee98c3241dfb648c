#include "client/jobs_page/page_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

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
