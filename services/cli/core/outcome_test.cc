#include "services/cli/core/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/status_matchers.h"

namespace kernelmill::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::JobStatus DoneJob() {
  v1::JobStatus status;
  status.set_job("j1");
  status.set_name("seeds");
  status.set_state(v1::JOB_STATE_DONE);
  status.mutable_dataset()->set_hash(std::string(64, 'a'));
  status.mutable_dataset()->set_size_bytes(7);
  const std::pair<const char*, int> kCounters[] = {
      {"dataset.kernels", 10},         {"dataset.kept", 4},
      {"dataset.rejected.license", 2}, {"dataset.rejected.quality", 1},
      {"dataset.duplicate.exact", 2},  {"dataset.contaminated.near", 1},
      {"dataset.keptx", 99},           {"dataset.files.seen", 5},
      {"dataset.files.extracted", 5}};
  for (const auto& [name, value] : kCounters) {
    v1::Counter* counter = status.add_counters();
    counter->set_name(name);
    counter->set_value(value);
  }
  v1::StageProgress* stage = status.add_stages();
  stage->set_stage("extract");
  stage->set_total(8);
  stage->set_done(7);
  stage->set_cached(3);
  stage->set_failed(1);
  return status;
}

TEST(ExitCode, TellsTheFourOutcomesApart) {
  EXPECT_EQ(ExitCodeOf(DoneJob()), 0);
  v1::JobStatus failures = DoneJob();
  failures.add_failures();
  EXPECT_EQ(ExitCodeOf(failures), 1);
  v1::JobStatus failed;
  failed.set_state(v1::JOB_STATE_FAILED);
  EXPECT_EQ(ExitCodeOf(failed), 1);
  v1::JobStatus cancelled;
  cancelled.set_state(v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(ExitCodeOf(cancelled), 1);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), 2);
  EXPECT_EQ(ExitCodeOf(absl::FailedPreconditionError("")), 2);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("")), 1);
}

TEST(ErrorLine, IsOneLine) {
  EXPECT_EQ(ErrorLine(absl::InvalidArgumentError("a\nb\x1b[2J\xff")), "a b [2J\xef\xbf\xbd");
}

TEST(SummaryText, SaysWhatBecameOfEverything) {
  const std::string text = SummaryText(DoneJob(), "/out");
  EXPECT_THAT(text, HasSubstr("10 found = 4 kept + 3 rejected + 2 duplicate + 1 contaminated"));
  EXPECT_THAT(text, HasSubstr("5 seen = 5 extracted + 0 skipped + 0 failed"));
  EXPECT_THAT(text, HasSubstr(std::string(64, 'a') + "/7"));
  EXPECT_THAT(text, HasSubstr("written to /out"));
  EXPECT_THAT(text, Not(HasSubstr("failures")));
}

TEST(SummaryText, ListsFailures) {
  v1::JobStatus status = DoneJob();
  v1::Failure* failure = status.add_failures();
  failure->set_source("https://example.org/gone");
  failure->set_stage("pin");
  failure->set_code("NOT_FOUND");
  failure->set_message("no such\nrepository");
  EXPECT_THAT(SummaryText(status, ""),
              HasSubstr("  https://example.org/gone  pin  NOT_FOUND: no such repository\n"));
}

TEST(ReportText, HasEveryReasonAndStage) {
  const std::string text = ReportText(DoneJob());
  EXPECT_THAT(text, ::testing::ContainsRegex("rejected +3\n +license +2\n +quality +1"));
  EXPECT_THAT(text, ::testing::ContainsRegex("extract +8 +4 +3 +1"));
}

TEST(ReportText, ListsQuarantinedFilesAndWhatIsTriedAgain) {
  v1::JobStatus status = DoneJob();
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
  EXPECT_THAT(
      JobsText({job, job}),
      ::testing::MatchesRegex("job +state +submitted +tasks +priority +runs +name\n"
                              "(j1 +cancelled +1970-01-01T00:00:00Z +8/8 +-7 +2  seeds\n)+"));
}

TEST(StateText, SaysWhatBecameOfTheJob) { EXPECT_EQ(StateText(DoneJob()), "j1  done\n"); }

TEST(SummaryText, SaysWhichRunItWas) {
  v1::JobStatus status = DoneJob();
  EXPECT_THAT(SummaryText(status, ""), Not(HasSubstr("run")));
  status.set_runs(3);
  status.set_priority(5);
  EXPECT_THAT(SummaryText(status, ""), HasSubstr("  run 3  priority 5\n"));
}

}  // namespace
}  // namespace kernelmill::cli
