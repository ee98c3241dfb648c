#include "client/console/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/time/clock.h"

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

void SetStage(v1::JobStatus& status, int at, const std::string& name, int total, int done,
              int cached, int failed) {
  while (status.stages_size() <= at) status.add_stages();
  v1::StageProgress* stage = status.mutable_stages(at);
  stage->set_stage(name);
  stage->set_total(total);
  stage->set_done(done);
  stage->set_cached(cached);
  stage->set_failed(failed);
}

v1::JobStatus Running() {
  v1::JobStatus status;
  status.set_state(v1::JOB_STATE_RUNNING);
  SetStage(status, 0, "fetch", 2, 2, 1, 0);
  SetStage(status, 1, "extract", 30, 10, 0, 0);
  SetStage(status, 2, "sign", 0, 0, 0, 0);
  return status;
}

const absl::Time kStart = absl::FromUnixSeconds(1'000);

TEST(BarLine, ShowsCountsRateTimeLeftAndCached) {
  const StageView stage = {"extract", 30, 10, 4, 5, 2, absl::Seconds(65)};
  EXPECT_EQ(
      BarLine(stage, 200),
      "extract   [============>           ]    15/30       2.0/s  1:05 left  4 cached  5 failed");
  EXPECT_EQ(BarLine(stage, 12), "extract   [=");
  EXPECT_EQ(BarLine(stage, -1), "");
}

TEST(BarLine, AFinishedStageIsFull) {
  const StageView stage = {"fetch", 2, 2, 0, 0, 1, absl::ZeroDuration()};
  EXPECT_THAT(BarLine(stage, 200), HasSubstr("[========================]"));
  EXPECT_THAT(BarLine(stage, 200), Not(HasSubstr("left")));
}

v1::JobStatus WithTrouble(int tasks) {
  v1::JobStatus status = Running();
  for (int i = 0; i < tasks; ++i) {
    v1::Troubled* task = status.add_troubled();
    task->set_stage("fetch");
    task->set_source("repo" + std::to_string(i));
    task->set_attempts(i == 1 ? 9 : 1);
    task->set_last_error("UNAVAILABLE: no\nroute");
  }
  return status;
}

TEST(TroubleLine, WhatIsWaitedForGoesFirst) {
  v1::JobStatus status = WithTrouble(2);
  EXPECT_EQ(WaitLine(status), "");
  status.add_troubled()->set_last_error("waits for the store: the store's disk is full");
  EXPECT_EQ(TroubleLine(status), "1 task waits for the store: the store's disk is full");
  *status.add_troubled() = status.troubled(2);
  EXPECT_EQ(WaitLine(status), "2 tasks wait for the store: the store's disk is full");
}

TEST(TroubleLine, CountsAndNamesTheWorst) {
  EXPECT_EQ(TroubleLine(Running()), "");
  EXPECT_EQ(TroubleLine(WithTrouble(1)),
            "1 task is tried again: fetch of repo0: UNAVAILABLE: no route");
  EXPECT_EQ(TroubleLine(WithTrouble(3)),
            "3 tasks are tried again: fetch of repo1: UNAVAILABLE: no route");
  EXPECT_THAT(TroubleLine(WithTrouble(100)), StartsWith("100 or more tasks are"));
}

TEST(ProgressLines, SaysOnceThatTasksAreTriedAgain) {
  std::string out;
  const auto printer = NewProgressLines([&](absl::string_view text) { out += std::string(text); });
  printer->Show(Running(), kStart);
  out.clear();
  printer->Show(WithTrouble(2), kStart + absl::Seconds(3));
  EXPECT_EQ(out, "2 tasks are tried again: fetch of repo1: UNAVAILABLE: no route\n");
  out.clear();
  printer->Show(WithTrouble(2), kStart + absl::Seconds(6));
  EXPECT_EQ(out, "");
  printer->Show(Running(), kStart + absl::Seconds(9));
  EXPECT_EQ(out, "");
  printer->ShowReconnecting(absl::UnavailableError("gone"));
  EXPECT_EQ(out, "the coordinator does not answer; trying again: gone\n");
}

TEST(ProgressBars, DrawsTroubleBelowTheBarsAndTakesItAwayAgain) {
  std::string out;
  const auto printer =
      NewProgressBars([&](absl::string_view text) { out += std::string(text); }, [] { return 31; });
  printer->Show(WithTrouble(1), kStart);
  EXPECT_THAT(out, ::testing::EndsWith("\r\x1b[2K1 task is tried again: fetch o\n"));
  out.clear();
  printer->Show(Running(), kStart + absl::Seconds(1));
  EXPECT_THAT(out, StartsWith("\x1b[3A\r\x1b[2Kfetch"));
  EXPECT_THAT(out, ::testing::EndsWith("\n\x1b[J"));
  out.clear();
  printer->ShowReconnecting(absl::UnavailableError("gone"));
  EXPECT_THAT(out, StartsWith("\x1b[2A\r\x1b[2Kfetch"));
  EXPECT_THAT(out, ::testing::EndsWith("\r\x1b[2Kthe coordinator does not answe\n"));
  out.clear();
  printer->Show(Running(), kStart + absl::Seconds(1));  // at once, though it was just drawn
  EXPECT_THAT(out, StartsWith("\x1b[3A\r\x1b[2Kfetch"));
}

TEST(ProgressLines, WritesALineWithTheStagesThatMoved) {
  std::string out;
  const auto printer = NewProgressLines([&](absl::string_view text) { out += std::string(text); });
  v1::JobStatus status = Running();
  printer->Show(status, kStart);
  EXPECT_EQ(out, "fetch 2/2, 1 cached; extract 10/30\n");
  out.clear();
  SetStage(status, 1, "extract", 30, 11, 0, 0);
  printer->Show(status, kStart + absl::Seconds(1));
  EXPECT_EQ(out, "");  // too soon
  printer->Show(status, kStart + absl::Seconds(3));
  EXPECT_EQ(out, "extract 11/30\n");
  out.clear();
  SetStage(status, 1, "extract", 30, 30, 0, 0);
  status.set_state(v1::JOB_STATE_DONE);
  printer->Show(status, kStart + absl::Seconds(3));
  EXPECT_EQ(out, "extract 30/30\n");  // the end is always shown
}

TEST(ProgressLines, WhatAPauseHeldBackIsWrittenAfterIt) {
  std::string out;
  const auto printer = NewProgressLines([&](absl::string_view text) { out += std::string(text); });
  v1::JobStatus status = Running();
  printer->Show(status, kStart);
  SetStage(status, 1, "extract", 30, 11, 0, 0);
  printer->Show(status, kStart + absl::Seconds(1));
  out.clear();
  printer->Tick(kStart + absl::Seconds(1));
  EXPECT_EQ(out, "");
  printer->Tick(kStart + absl::Seconds(2));
  EXPECT_EQ(out, "extract 11/30\n");
  out.clear();
  printer->Tick(kStart + absl::Seconds(3));
  EXPECT_EQ(out, "");
}

TEST(ProgressLines, AJobThatDoesNotMoveIsSaidToRunOnceAMinute) {
  std::string out;
  const auto printer = NewProgressLines([&](absl::string_view text) { out += std::string(text); });
  printer->Show(Running(), kStart);
  out.clear();
  for (int second = 0; second < 150; ++second) printer->Tick(kStart + absl::Seconds(second));
  EXPECT_EQ(out, "still running: extract 10/30\nstill running: extract 10/30\n");
  out.clear();
  printer->ShowReconnecting(absl::UnavailableError("gone"));
  for (int second = 150; second < 211; ++second) printer->Tick(kStart + absl::Seconds(second));
  const std::string lost = "the coordinator does not answer; trying again: gone\n";
  EXPECT_EQ(out, lost + lost);
  v1::JobStatus status = Running();
  status.set_state(v1::JOB_STATE_DONE);
  printer->Show(status, kStart + absl::Seconds(212));
  out.clear();
  for (int second = 212; second < 400; ++second) printer->Tick(kStart + absl::Seconds(second));
  EXPECT_EQ(out, "");
}

TEST(ProgressLines, AreRarerTheLongerAJobRuns) {
  int lines = 0;
  const auto printer = NewProgressLines([&](absl::string_view) { ++lines; });
  v1::JobStatus status = Running();
  for (int second = 0; second < 3600; ++second) {
    SetStage(status, 1, "extract", 4000, second, 0, 0);
    printer->Show(status, kStart + absl::Seconds(second));
    if (second == 10) {
      EXPECT_GE(lines, 5);
    }
  }
  EXPECT_GE(lines, 60);
  EXPECT_LE(lines, 130);
}

v1::WorkerInfo Worker(const std::string& stage, const std::string& source, int seconds) {
  v1::WorkerInfo worker;
  v1::RunningTask* task = worker.add_running();
  task->set_job("j1");
  task->set_stage(stage);
  task->set_source(source);
  task->set_leased_unix_ms(absl::ToUnixMillis(kStart - absl::Seconds(seconds)));
  return worker;
}

TEST(FindHoldUp, NamesTheOnlySourceThatRuns) {
  const v1::WorkerInfo slow = Worker("fetch", "big", 80), other = Worker("fetch", "small", 5);
  EXPECT_FALSE(FindHoldUp("j1", {}, kStart).has_value());
  EXPECT_FALSE(FindHoldUp("j1", {slow, other}, kStart).has_value());
  EXPECT_FALSE(FindHoldUp("j2", {slow}, kStart).has_value());
  EXPECT_FALSE(FindHoldUp("j1", {other}, kStart).has_value());  // not for long
  EXPECT_FALSE(FindHoldUp("j1", {Worker("pair", "", 80)}, kStart).has_value());
  const auto found = FindHoldUp("j1", {Worker("extract", "big", 5), slow}, kStart);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->stage, "fetch");
  EXPECT_EQ(found->source, "big");
  EXPECT_EQ(found->time, absl::Seconds(80));
}

TEST(ProgressBars, NameTheSourceThatHoldsUpTheJob) {
  std::string out;
  const auto printer =
      NewProgressBars([&](absl::string_view text) { out += std::string(text); }, [] { return 80; });
  printer->ShowHoldUp(HoldUp{"fetch", "bi\x1bg", absl::Seconds(80)});
  printer->Show(Running(), kStart);
  EXPECT_THAT(out, HasSubstr("only fetch of bi\\x1bg still runs, for 1:20\n"));
}

TEST(ProgressLines, NameTheSourceThatHoldsUpTheJobOnce) {
  std::string out;
  const auto printer = NewProgressLines([&](absl::string_view text) { out += std::string(text); });
  printer->ShowHoldUp(HoldUp{"fetch", "big", absl::Seconds(80)});
  printer->ShowHoldUp(HoldUp{"fetch", "big", absl::Seconds(83)});
  EXPECT_EQ(out, "only fetch of big still runs\n");
}

TEST(ProgressBars, WhatWasHeldBackIsDrawnAfterIt) {
  std::string out;
  const auto printer =
      NewProgressBars([&](absl::string_view text) { out += std::string(text); }, [] { return 80; });
  v1::JobStatus status = Running();
  printer->Show(status, kStart);
  SetStage(status, 1, "extract", 30, 11, 0, 0);
  printer->Show(status, kStart + absl::Milliseconds(10));
  EXPECT_EQ(out.find("11/30"), std::string::npos);
  printer->Tick(kStart + absl::Milliseconds(100));
  EXPECT_NE(out.find("11/30"), std::string::npos);
}

TEST(ProgressBars, TimesGoOnWhileNothingEnds) {
  std::string out;
  const auto printer =
      NewProgressBars([&](absl::string_view text) { out += std::string(text); }, [] { return 80; });
  v1::JobStatus status = Running();
  SetStage(status, 1, "compile", 4, 0, 0, 0);
  status.mutable_stages(1)->set_running(1);
  printer->Show(status, kStart);
  EXPECT_THAT(out, HasSubstr("0:00 so far"));
  out.clear();
  printer->Tick(kStart + absl::Milliseconds(500));
  EXPECT_EQ(out, "");
  printer->Tick(kStart + absl::Seconds(40));
  EXPECT_THAT(out, HasSubstr("0:40 so far"));
  out.clear();
  status.set_state(v1::JOB_STATE_DONE);
  printer->Show(status, kStart + absl::Seconds(41));
  out.clear();
  printer->Tick(kStart + absl::Seconds(50));
  EXPECT_EQ(out, "");
}

TEST(ProgressJson, TheLastObjectIsWrittenAgainOnceAMinute) {
  std::string out;
  const auto printer = NewProgressJson([&](absl::string_view text) { out += std::string(text); });
  printer->Tick(kStart);
  printer->Show(Running(), kStart);
  const std::string once = out;
  for (int second = 0; second < 100; ++second) printer->Tick(kStart + absl::Seconds(second));
  EXPECT_EQ(out, once + once);
}

// A printer that records its calls.
class CountingPrinter : public ProgressPrinter {
 public:
  explicit CountingPrinter(std::atomic<int>* ticks) : ticks_(ticks) {}
  void Show(const v1::JobStatus&, absl::Time) override {}
  void ShowReconnecting(const absl::Status&) override {}
  void ShowHoldUp(const std::optional<HoldUp>&) override {}
  void Tick(absl::Time) override { ++*ticks_; }

 private:
  std::atomic<int>* const ticks_;
};

TEST(LiveProgress, TicksWhileNobodySaysAnythingAndNotAfterwards) {
  std::atomic<int> ticks = 0;
  {
    LiveProgress live(std::make_unique<CountingPrinter>(&ticks), absl::Milliseconds(1));
    while (ticks < 3) absl::SleepFor(absl::Milliseconds(1));
  }
  const int after = ticks;
  absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(ticks, after);
}

TEST(LiveProgress, AsksForTheHoldUpWhileTheJobRuns) {
  std::atomic<int> asked = 0;
  std::atomic<int> ticks = 0;
  LiveProgress live(std::make_unique<CountingPrinter>(&ticks), absl::Milliseconds(1));
  live.SetFindHoldUp([&]() -> std::optional<HoldUp> {
    ++asked;
    return std::nullopt;
  });
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(asked, 0);  // no status has come
  v1::JobStatus status = Running();
  status.mutable_stages(1)->set_running(100);
  live.Show(status, absl::Now());
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(asked, 0);  // it is busy
  status.mutable_stages(1)->set_running(1);
  live.Show(status, absl::Now());
  while (asked == 0) absl::SleepFor(absl::Milliseconds(1));
}

TEST(ProgressBars, RedrawsInPlace) {
  std::string out;
  const auto printer =
      NewProgressBars([&](absl::string_view text) { out += std::string(text); }, [] { return 80; });
  printer->Show(Running(), kStart);
  EXPECT_THAT(out, StartsWith("\r\x1b[2Kfetch"));
  out.clear();
  printer->Show(Running(), kStart + absl::Seconds(1));
  EXPECT_THAT(out, StartsWith("\x1b[2A\r\x1b[2Kfetch"));
}

TEST(ProgressJson, WritesAnObjectALine) {
  std::string out;
  const auto printer = NewProgressJson([&](absl::string_view text) { out += std::string(text); });
  printer->Show(Running(), kStart);
  EXPECT_THAT(out, StartsWith("{"));
  EXPECT_THAT(out, HasSubstr("\"stage\":\"extract\""));
  EXPECT_EQ(out.find('\n'), out.size() - 1);
}

}  // namespace
}  // namespace kernelmill::client
