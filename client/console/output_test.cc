#include "client/console/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/console/testing/done_job.h"
#include "common/manifest/unmatched.h"

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(JobJson, HasNumbersWordsAndAnObjectOfCounters) {
  v1::JobStatus status = DoneJob();
  status.set_submitted_unix_ms(1'700'000'000'000);
  const nlohmann::ordered_json json = JobJson(status);
  EXPECT_EQ(json["state"], "done");
  EXPECT_EQ(json["submitted_unix_ms"], 1'700'000'000'000);
  EXPECT_EQ(json["counters"]["dataset.kept"], 4);
  EXPECT_EQ(json["stages"][0]["total"], 8);
  EXPECT_EQ(json["dataset"], std::string(64, 'a') + "/7");
  EXPECT_FALSE(json.contains("lock"));
  status.clear_dataset();
  EXPECT_TRUE(JobJson(status)["dataset"].is_null());
}

TEST(JobJson, HasAListOfWhatMatchesNothing) {
  v1::JobStatus status = DoneJob();
  AddUnmatched({"marker", "sources[0]", "a", "@triton.jit", "is there", {"x.py"}}, &status);
  const nlohmann::ordered_json json = JobJson(status);
  EXPECT_TRUE(json["failures"].empty());
  ASSERT_EQ(json["unmatched"].size(), 1u);
  EXPECT_EQ(json["unmatched"][0]["what"], "marker");
  EXPECT_EQ(json["unmatched"][0]["paths"][0], "x.py");
}

TEST(ReportText, SaysThatTheJobRuns) {
  v1::JobStatus status = DoneJob();
  EXPECT_THAT(ReportText(status), Not(HasSubstr("running")));
  status.set_state(v1::JOB_STATE_RUNNING);
  EXPECT_THAT(ReportText(status), HasSubstr("  running\n"));
  EXPECT_THAT(ReportText(status),
              HasSubstr("so far     the job is running; a dataset is counted at its end\n"));
}

TEST(ReportText, HasEveryReasonAndStage) {
  const std::string text = ReportText(DoneJob());
  EXPECT_THAT(text, ::testing::ContainsRegex("rejected +3\n +license +2\n +quality +1"));
  EXPECT_THAT(text, ::testing::ContainsRegex("extract +8 +4 +3 +1"));
}

TEST(ReportText, ListsQuarantinedFilesAndWhatIsTriedAgain) {
  v1::JobStatus status = DoneJob();
  status.set_failure_count(1);
  v1::Failure* failure = status.add_failures();
  failure->set_source("demo");
  failure->set_path("bad\npath\xff.py");
  failure->set_stage("extract");
  failure->set_code("ABORTED");
  failure->set_message("killed_worker");
  v1::Troubled* task = status.add_troubled();
  task->set_source("slow");
  task->set_stage("fetch");
  task->set_attempts(2);
  task->set_last_error("UNAVAILABLE: no\nroute");
  const std::string text = ReportText(status);
  EXPECT_THAT(text,
              HasSubstr("  demo  bad path\xef\xbf\xbd.py  extract  ABORTED: killed_worker\n"));
  EXPECT_THAT(text, HasSubstr("  slow  fetch  after 2 attempts: UNAVAILABLE: no route\n"));
}

TEST(JobsText, ShowsStateProgressPriorityAndRuns) {
  v1::JobStatus job = DoneJob();
  job.set_state(v1::JOB_STATE_CANCELLED);
  job.set_priority(-7);
  job.set_runs(2);
  job.set_owner("client alice");
  EXPECT_THAT(JobsText({job, job}),
              ::testing::MatchesRegex(
                  "job +state +submitted +tasks +failures +priority +runs +owner +name\n"
                  "(j1 +cancelled +1970-01-01T00:00:00Z +8/8 +0 +-7 +2  client alice +seeds\n)+"));
}

TEST(StateText, AJobWhoseEverySourceFailedIsNotPlainlyDone) {
  v1::JobStatus job;
  job.set_job("j1");
  job.set_state(v1::JOB_STATE_DONE);
  const auto stage = [&](const char* name, int total, int failed) {
    v1::StageProgress* progress = job.add_stages();
    progress->set_stage(name);
    progress->set_total(total);
    progress->set_failed(failed);
    progress->set_done(total - failed);
  };
  stage("pin", 3, 2);
  stage("fetch", 1, 0);
  EXPECT_EQ(StateText(job), "j1  done\n");
  job.mutable_stages(1)->set_failed(1);
  EXPECT_EQ(StateText(job), "j1  done, all 3 sources failed\n");
  EXPECT_THAT(JobsText({job, DoneJob()}), HasSubstr("done, all 3 sources failed "));
  job.set_state(v1::JOB_STATE_RUNNING);
  EXPECT_EQ(StateText(job), "j1  running\n");
  job.clear_stages();
  job.set_state(v1::JOB_STATE_DONE);
  stage("discover", 1, 1);
  EXPECT_EQ(StateText(job), "j1  done, its source failed\n");
}

TEST(StateText, SaysWhatBecameOfTheJob) { EXPECT_EQ(StateText(DoneJob()), "j1  done\n"); }

void AddFailure(v1::JobStatus& status, const std::string& path) {
  v1::Failure* failure = status.add_failures();
  failure->set_source("demo");
  failure->set_path(path);
}

TEST(JobJson, HasPathsAsText) {
  v1::JobStatus status = DoneJob();
  AddFailure(status, "kernels/a b.py");
  AddFailure(status, "bad\xff.py");
  AddFailure(status, "");
  const auto json = JobJson(status);
  ASSERT_EQ(json["failures"].size(), 3u);
  EXPECT_EQ(json["failures"][0]["path"], "kernels/a b.py");
  EXPECT_FALSE(json["failures"][0].contains("path_base64"));
  EXPECT_EQ(json["failures"][1]["path"], "bad\xef\xbf\xbd.py");
  EXPECT_EQ(json["failures"][1]["path_base64"], "YmFk/y5weQ==");
  EXPECT_EQ(json["failures"][2]["path"], "");
}

TEST(JobJson, IsTheSameShapeWithAndWithoutPaths) {
  v1::JobStatus status = DoneJob();
  AddFailure(status, "");
  const std::string without = JobJson(status).dump();
  status.mutable_failures(0)->set_path("x");
  std::string with = JobJson(status).dump();
  const size_t at = with.find("\"path\":\"x\"");
  ASSERT_NE(at, std::string::npos);
  with.erase(at + 8, 1);
  EXPECT_EQ(with, without);
}

TEST(StatText, ShowsHowFullTheStoreIsAndWhoHoldsWhat) {
  v1::StatResponse stat;
  stat.set_blobs(12);
  stat.set_blob_bytes(2048);
  stat.set_action_results(7);
  stat.set_disk_bytes(1024);
  stat.set_free_disk_bytes(1 << 20);
  v1::HoldInfo* run = stat.add_holds();
  run->set_name("job/j@a");
  run->set_everything_used_from_now(true);
  run->set_expires_in_ms(90'000);
  v1::HoldInfo* dataset = stat.add_holds();
  dataset->set_name("dataset/d@a");
  dataset->set_blobs(1);
  dataset->set_bytes(512);
  const std::string text = StatText(stat);
  EXPECT_THAT(text, ::testing::MatchesRegex("content +12 blobs, 2.0 KiB\naction results +7\n"
                                            "on disk +1.0 KiB, 1.0 MiB free\nholds +2\n"
                                            "  job/j@a +everything used since it began, for "
                                            "another 1:30\n  dataset/d@a +1 blob, 512 bytes\n"));
  stat.set_limit_bytes(4096);
  EXPECT_THAT(StatText(stat), ::testing::HasSubstr("1.0 KiB of at most 4.0 KiB, 1.0 MiB free"));
}

TEST(VerifyText, ListsWhatIsDamaged) {
  v1::VerifyProgress last;
  last.set_blobs(3);
  last.set_bytes(1024);
  EXPECT_EQ(VerifyText(last, false), "3 blobs, 1.0 KiB read; all are intact\n");
  auto* damaged = last.add_damaged();
  damaged->set_hash("abc");
  damaged->set_size_bytes(5);
  EXPECT_EQ(VerifyText(last, false), "3 blobs, 1.0 KiB read; 1 blob damaged:\n  abc/5\n");
  EXPECT_EQ(VerifyText(last, true),
            "3 blobs, 1.0 KiB read; 1 blob damaged and dropped:\n  abc/5\n");
  v1::StatResponse whole;
  whole.set_blobs(9);
  whole.set_blob_bytes(4096);
  EXPECT_EQ(VerifyLine(last, whole), "3 of 9 blobs, 1.0 KiB of 4.0 KiB read, 1 damaged");
}

TEST(ForgetText, SaysWhetherItWasATrial) {
  v1::ForgetResultsResponse response;
  EXPECT_EQ(ForgetText(response, /*dry_run=*/false), "forgot 0 results\n");
  response.set_results(1);
  EXPECT_EQ(ForgetText(response, /*dry_run=*/true), "would forget 1 result\n");
}

TEST(GarbageText, SaysWhatWentAndWhatCouldNot) {
  v1::CollectGarbageResponse response;
  response.set_dropped_blobs(2);
  response.set_dropped_bytes(1024);
  response.set_held_bytes(2048);
  EXPECT_EQ(GarbageText(response), "dropped 2 blobs, 1.0 KiB; 2.0 KiB are held\n");
  response.set_held_bytes(0);
  EXPECT_EQ(GarbageText(response), "dropped 2 blobs, 1.0 KiB\n");
}

TEST(Output, AMissedGateIsALineOfItsOwnAndNoFailedInput) {
  v1::JobStatus status;
  status.set_job("j-000001");
  status.set_state(v1::JOB_STATE_DONE);
  v1::Failure* source = status.add_failures();
  source->set_source("https://example.org/a");
  source->set_stage("fetch");
  source->set_code("NOT_FOUND");
  v1::Failure* gate = status.add_failures();
  gate->set_stage("manifest");
  gate->set_path("gates.min_kept");
  gate->set_code("FAILED_PRECONDITION");
  gate->set_message("480, but at least 500 is asked for");
  status.set_failure_count(2);
  const std::string text = ReportText(status);
  EXPECT_THAT(text,
              HasSubstr("gates      1 missed\n  min_kept  480, but at least 500 is asked for\n"));
  EXPECT_THAT(text, HasSubstr("failures   1\n"));
  EXPECT_THAT(text, Not(HasSubstr("FAILED_PRECONDITION")));
  status.mutable_failures()->DeleteSubrange(0, 1);
  status.set_failure_count(1);
  EXPECT_THAT(ReportText(status), Not(HasSubstr("failures ")));
}

constexpr int64_t kNowMs = 1'700'000'000'000;

v1::WorkerInfo Worker(const std::string& name) {
  v1::WorkerInfo worker;
  worker.set_name(name);
  worker.set_version("0.1.0 (4d2f)");
  worker.set_slots(4);
  worker.set_last_heard_unix_ms(kNowMs - 2000);
  v1::StageSupport& stage = *worker.add_stages();
  stage.set_stage("extract");
  stage.set_version(7);
  return worker;
}

TEST(Workers, AreListedWithWhatTheyHold) {
  v1::WorkerInfo worker = Worker("host:17");
  v1::RunningTask& task = *worker.add_running();
  task.set_job("demo-000001");
  task.set_task(42);
  task.set_stage("extract");
  task.set_source("de\nmo");
  task.set_attempt(2);
  task.set_leased_unix_ms(kNowMs - 5000);
  const std::string text = WorkersText({worker}, absl::FromUnixMillis(kNowMs));
  EXPECT_THAT(text,
              HasSubstr("host:17      2 s     4     1  0.1.0 (4d2f)             extract 7\n"));
  EXPECT_THAT(text,
              HasSubstr("  extract of de mo, job demo-000001, task 42, attempt 2, for 5 s\n"));
}

TEST(Workers, ATaskOfAnotherClientHasNoName) {
  v1::WorkerInfo worker = Worker("host:17");
  worker.add_running()->set_stage("extract");
  EXPECT_THAT(WorkersText({worker}, absl::FromUnixMillis(kNowMs)),
              HasSubstr("  extract of another client's job\n"));
}

TEST(Workers, OneWithManyTasksIsCutShort) {
  v1::WorkerInfo worker = Worker("w");
  worker.set_caller("worker w3");
  for (int i = 0; i < 11; ++i) worker.add_running()->set_stage("extract");
  const std::string text = WorkersText({worker}, absl::FromUnixMillis(kNowMs));
  EXPECT_THAT(text, HasSubstr("w (worker w3)"));
  EXPECT_THAT(text, HasSubstr("  and 3 more\n"));
}

TEST(Workers, AnUnservedStageSaysWhatOtherVersionsThereAre) {
  v1::JobStatus status;
  v1::Unserved* unserved = status.add_unserved();
  unserved->set_stage("extract");
  unserved->set_version(7);
  unserved->set_tasks(18);
  EXPECT_THAT(
      UnservedLines(status),
      ElementsAre("no worker runs stage extract 7; start kernelmill-extractor: 18 tasks waiting"));
  v1::OtherVersion* other = unserved->add_others();
  other->set_version(6);
  other->set_workers(2);
  unserved->set_tasks(1);
  EXPECT_THAT(UnservedLines(status), ElementsAre("no worker runs stage extract 7 (2 workers run "
                                                 "version 6); update the workers: 1 task waiting"));
  unserved->clear_others();
  unserved->set_stage("run-cuda-90");
  unserved->set_version(1);
  EXPECT_THAT(UnservedLines(status),
              ElementsAre("no worker runs stage run-cuda-90 1; start kernelmill-runner --device "
                          "cuda:90: 1 task waiting"));
}

}  // namespace

}  // namespace kernelmill::client
