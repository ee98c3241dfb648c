#include "client/console/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kStart = 1'700'000'000'000;

v1::TaskSpan Span(uint64_t task, const std::string& stage, int64_t ready, int64_t leased,
                  int64_t ended) {
  v1::TaskSpan span;
  span.set_task(task);
  span.set_stage(stage);
  span.set_source("demo");
  span.set_attempt(1);
  span.set_worker("w");
  span.set_outcome("done");
  span.set_ready_unix_ms(kStart + ready);
  span.set_leased_unix_ms(leased == 0 ? 0 : kStart + leased);
  span.set_ended_unix_ms(ended == 0 ? 0 : kStart + ended);
  return span;
}

v1::TaskSpan Timed(v1::TaskSpan span, int64_t waited_us, int64_t lookup_us, int64_t run_us,
                   int64_t store_us) {
  span.mutable_timing()->set_waited_us(waited_us);
  span.mutable_timing()->set_lookup_us(lookup_us);
  span.mutable_timing()->set_run_us(run_us);
  span.mutable_timing()->set_store_us(store_us);
  return span;
}

Timeline Of(const std::vector<v1::TaskSpan>& spans) {
  Timeline timeline;
  for (const v1::TaskSpan& span : spans) timeline.Add(span);
  return timeline;
}

nlohmann::json MakeTrace(const Timeline& timeline) {
  std::string text;
  EXPECT_THAT(WriteTrace(timeline, "demo-000001",
                         [&](absl::string_view piece) {
                           text += std::string(piece);
                           return absl::OkStatus();
                         }),
              IsOk());
  return nlohmann::json::parse(text);
}

TEST(Timeline, SaysWhereTheTimeOfEachStageWent) {
  const std::string text =
      TimelineText(Of({Timed(Span(1, "fetch", 0, 1000, 4000), 0, 2000, 2'900'000, 500),
                       Timed(Span(2, "extract", 4000, 4010, 10'000), 5000, 300, 5'000'000, 0)}));
  EXPECT_THAT(text, HasSubstr("2 attempts at tasks in 10.0s\n"));
  EXPECT_THAT(text, HasSubstr("1.0s/1.0s/1.0s"));
  EXPECT_THAT(text, HasSubstr("2.9s/2.9s/2.9s"));
  EXPECT_THAT(text, HasSubstr("15ms/15ms/15ms")) << "waits in the coordinator and in the worker";
  // It waits for a tenth of the job, and runs for three more.
  EXPECT_THAT(text, HasSubstr("|...============= "));
  EXPECT_THAT(text, HasSubstr("slowest\n      5.0s  extract of demo, task 2"));
}

TEST(Timeline, QuantilesAreOfAllAttempts) {
  Timeline timeline;
  for (int i = 1; i <= 100; ++i) {
    timeline.Add(Timed(Span(i, "extract", 0, 1, 200), 0, 0, i * 1000, 0));
  }
  EXPECT_THAT(TimelineText(timeline), HasSubstr("50ms/95ms/100ms"));
}

TEST(Timeline, OneThatIsNotOverOrNeverRanIsShownToo) {
  const std::string text = TimelineText(
      Of({Span(1, "pin", 0, 0, 500), Span(2, "fetch", 500, 600, 0), Span(3, "fetch", 500, 0, 0)}));
  EXPECT_THAT(text, HasSubstr("pin "));
  EXPECT_THAT(text, HasSubstr("fetch "));
  EXPECT_THAT(text, Not(HasSubstr("slowest")));
  EXPECT_EQ(TimelineText({}), "no times are recorded for the tasks of this job\n");
}

TEST(Trace, IsWhatChromeAndPerfettoRead) {
  const nlohmann::json trace = MakeTrace(Of(
      {Timed(Span(1, "fetch", 0, 1000, 4000), 0, 2000, 2'900'000, 500),
       Timed(Span(2, "fetch", 0, 1500, 4000), 0, 0, 100'000, 0),
       Timed(Span(3, "fetch", 0, 5000, 6000), 0, 0, 100'000, 0), Span(4, "extract", 4000, 0, 0)}));
  EXPECT_EQ(trace["displayTimeUnit"], "ms");
  std::map<std::string, int> open;  // waits, by id
  std::map<std::pair<int, int>, int64_t> free_from;
  std::set<std::pair<int, int>> rows;
  int slices = 0;
  for (const auto& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "M") continue;
    EXPECT_GE(event["ts"].get<int64_t>(), 0) << event;
    if (phase == "b") ++open[event["id"].get<std::string>()];
    if (phase == "e") --open[event["id"].get<std::string>()];
    if (phase != "X") continue;
    EXPECT_GE(event["dur"].get<int64_t>(), 0) << event;
    if (!event.contains("args")) continue;  // a part of another slice
    const std::pair<int, int> row(event["pid"].get<int>(), event["tid"].get<int>());
    rows.insert(row);
    EXPECT_GE(event["ts"].get<int64_t>(), free_from[row]) << "overlaps: " << event;
    free_from[row] = event["ts"].get<int64_t>() + event["dur"].get<int64_t>();
    ++slices;
  }
  EXPECT_EQ(slices, 3);
  EXPECT_EQ(rows.size(), 2u) << "two ran at once, and the third on a row that was free again";
  EXPECT_EQ(open.size(), 3u);
  for (const auto& [id, count] : open) EXPECT_EQ(count, 0) << id;
}

}  // namespace
}  // namespace kernelmill::client
