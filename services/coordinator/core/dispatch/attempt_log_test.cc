#include "services/coordinator/core/dispatch/attempt_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class AttemptLogTest : public SchedulerTest {
 protected:
  AttemptLogTest() { options_.outcomes.retry_backoff = seconds(1); }

  v1::LeasedTask LeaseAs(const std::string& worker) {
    const auto tasks =
        Ask({.stages = StageSet().set(), .worker = {"", worker}, .facts = {.incarnation = 1}})
            .tasks;
    EXPECT_EQ(tasks.size(), 1u);
    return tasks.empty() ? v1::LeasedTask() : tasks[0];
  }
  std::vector<v1::TaskSpan> ReadTimeline(const std::string& job) {
    std::vector<v1::TaskSpan> spans;
    for (uint32_t first = 1; first != 0;) {
      auto page = scheduler_->Timeline(job, first);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) break;
      spans.insert(spans.end(), page->spans.begin(), page->spans.end());
      EXPECT_TRUE(page->next == 0 || page->next > first);
      first = page->next;
    }
    return spans;
  }
  int64_t WallMs() { return absl::ToUnixMillis(clock_.WallNow()); }
};

TEST_F(AttemptLogTest, ATaskIsFollowedFromItsCreationToItsEnd) {
  const int64_t begin = WallMs();
  const std::string job = Submit(GitJob(1));
  ASSERT_THAT(ReadTimeline(job), SizeIs(1));
  EXPECT_EQ(ReadTimeline(job)[0].leased_unix_ms(), 0);
  EXPECT_EQ(ReadTimeline(job)[0].outcome(), "");
  clock_.Advance(seconds(2));
  const v1::LeasedTask task = LeaseAs("w");
  EXPECT_EQ(ReadTimeline(job)[0].outcome(), "running");
  clock_.Advance(seconds(3));
  v1::Completion completion = Done(task);
  completion.mutable_timing()->set_run_us(2'900'000);
  completion.mutable_timing()->set_lookup_us(-5);
  ASSERT_TRUE(Complete(completion).ok());
  const v1::TaskSpan span = ReadTimeline(job)[0];
  EXPECT_EQ(span.task(), task.task());
  EXPECT_EQ(span.stage(), "pin");
  EXPECT_EQ(span.source(), "r0");
  EXPECT_EQ(span.attempt(), 1);
  EXPECT_EQ(span.worker(), "w");
  EXPECT_EQ(span.outcome(), "done");
  EXPECT_EQ(span.ready_unix_ms(), begin);
  EXPECT_EQ(span.leased_unix_ms(), begin + 2000);
  EXPECT_EQ(span.ended_unix_ms(), begin + 5000);
  EXPECT_EQ(span.timing().run_us(), 2'900'000);
  EXPECT_EQ(span.timing().lookup_us(), 0) << "a worker may say anything";
  ASSERT_THAT(ReadTimeline(job), SizeIs(2)) << "and the fetch waits";
  EXPECT_EQ(ReadTimeline(job)[1].ready_unix_ms(), begin + 5000);
}

TEST_F(AttemptLogTest, EveryAttemptHasASpan) {
  const std::string job = Submit(GitJob(1));
  ASSERT_TRUE(Complete(Error(LeaseAs("a"), absl::StatusCode::kUnavailable)).ok());
  const int64_t failed = WallMs();
  clock_.Advance(seconds(3));
  scheduler_->Tick();
  const v1::LeasedTask second = LeaseAs("b");
  clock_.Advance(seconds(31));  // its lease runs out
  scheduler_->Tick();
  const std::vector<v1::TaskSpan> spans = ReadTimeline(job);
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_EQ(spans[0].outcome(), "failed");
  EXPECT_EQ(spans[0].ended_unix_ms(), failed);
  EXPECT_EQ(spans[1].outcome(), "lost");
  EXPECT_EQ(spans[1].worker(), "b");
  EXPECT_EQ(spans[1].attempt(), 2);
  EXPECT_EQ(spans[1].ready_unix_ms(), failed + 3000) << "its pause is no waiting for a worker";
  EXPECT_EQ(spans[2].attempt(), 3);
  EXPECT_EQ(spans[2].leased_unix_ms(), 0);
}

TEST_F(AttemptLogTest, ATaskHandedBackKeepsOneSpanAnAttempt) {
  const std::string job = Submit(GitJob(1));
  for (int i = 0; i < 3; ++i) {
    v1::Completion completion = For(LeaseAs("w"));
    completion.mutable_handback();
    ASSERT_TRUE(Complete(completion).ok());
  }
  std::vector<v1::TaskSpan> spans = ReadTimeline(job);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].outcome(), "handed_back");
  EXPECT_EQ(spans[1].attempt(), 1);
}

TEST_F(AttemptLogTest, WhatEndedOutlivesARestartAndGoesWithTheJob) {
  const std::string job = Submit(GitJob(2));
  RunAll();
  const std::vector<v1::TaskSpan> before = ReadTimeline(job);
  ASSERT_GT(before.size(), 10u);
  Open();
  const std::vector<v1::TaskSpan> after = ReadTimeline(job);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].SerializeAsString(), before[i].SerializeAsString());
  }
  ASSERT_TRUE(scheduler_->Delete(job).ok());
  EXPECT_FALSE(scheduler_->Timeline(job, 1).ok());
  EXPECT_TRUE(store_
                  .ForEachSpan(TaskId(1, 0),
                               [](const v1::TaskSpan&) {
                                 ADD_FAILURE();
                                 return false;
                               })
                  .ok());
}

TEST_F(AttemptLogTest, WhoHeldALeaseOverARestartIsNamed) {
  const std::string job = Submit(GitJob(1));
  const v1::LeasedTask task = LeaseAs("w");
  Open();
  clock_.Advance(seconds(1));
  ASSERT_TRUE(scheduler_->Complete({Done(task)}, {"", "w"}).ok());
  const v1::TaskSpan span = ReadTimeline(job)[0];
  EXPECT_EQ(span.worker(), "w");
  EXPECT_EQ(span.outcome(), "done");
  EXPECT_GT(span.leased_unix_ms(), 0);
  EXPECT_EQ(span.ended_unix_ms() - span.leased_unix_ms(), 1000) << "known since the restart";
}

TEST_F(AttemptLogTest, ALongTimelineComesInPagesInOrder) {
  const std::string job = Submit(GitJob(2500));
  const std::vector<v1::TaskSpan> waiting = ReadTimeline(job);
  ASSERT_THAT(waiting, SizeIs(2500));
  for (size_t i = 0; i < waiting.size(); ++i) EXPECT_EQ(TaskIndex(waiting[i].task()), i + 1);
  ASSERT_TRUE(scheduler_->Cancel(job).ok());
  EXPECT_THAT(ReadTimeline(job), SizeIs(0)) << "nothing had been leased";
}

TEST_F(AttemptLogTest, WhatRanWhenTheJobWasCancelledIsLost) {
  const std::string job = Submit(GitJob(1));
  LeaseAs("w");
  ASSERT_TRUE(scheduler_->Cancel(job).ok());
  ASSERT_THAT(ReadTimeline(job), SizeIs(1));
  EXPECT_EQ(ReadTimeline(job)[0].outcome(), "lost");
}

TEST_F(AttemptLogTest, EveryStepIsALineWithTheSameNames) {
  ::testing::internal::CaptureStderr();
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseAs("w1");
  ASSERT_TRUE(Complete(Error(task, absl::StatusCode::kUnavailable)).ok());
  const std::string log = ::testing::internal::GetCapturedStderr();
  std::vector<std::string> lines = absl::StrSplit(log, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(2)) << log;
  for (const std::string& line : lines) {
    for (const char* field : {"job", "task", "stage", "source", "worker", "attempt", "error"}) {
      EXPECT_THAT(line, HasSubstr(absl::StrCat("\"", field, "\":\"")));
    }
    EXPECT_THAT(line, HasSubstr(absl::StrCat("\"task\":\"", task.task(), "\"")));
    EXPECT_THAT(line, HasSubstr("\"worker\":\"w1\""));
  }
  EXPECT_THAT(lines[0], HasSubstr("\"task leased\""));
  EXPECT_THAT(lines[1], HasSubstr("\"attempt failed\""));
  EXPECT_THAT(lines[1], HasSubstr("\"level\":\"warning\""));
  EXPECT_THAT(lines[1], HasSubstr("UNAVAILABLE: why"));
}

}  // namespace
}  // namespace kernelmill::coordinator
