// The time that a job took: as a chart in text, and as trace events for Perfetto and Chrome. Both
// read the spans of a Timeline: one for each attempt at a task, with the times at which it became
// ready, was leased and ended, and the worker's own measurement of its parts.

#include "client/console/timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/console/format.h"
#include "common/base/status.h"
#include "common/words/counted.h"

namespace kernelmill::client {
namespace {

constexpr int kTimelineWidth = 40;
constexpr size_t kSlowest = 10;

// The chart of one stage.
struct StageChart {
  int64_t tasks = 0, attempts = 0;
  std::vector<int64_t> queued, lookup, run, store;  // microseconds
  std::string bar = std::string(kTimelineWidth, ' ');
};

// A painter of times on bars of kTimelineWidth columns.
class Bars {
 public:
  Bars(int64_t begin_ms, int64_t end_ms) : begin_ms_(begin_ms), span_ms_(end_ms - begin_ms) {}

  // Marks the columns between two times. '=' is never replaced.
  void Paint(int64_t from_ms, int64_t to_ms, char mark, std::string& bar) const {
    for (int column = ToColumn(from_ms); column <= ToColumn(to_ms); ++column) {
      if (bar[column] != '=') bar[column] = mark;
    }
  }

 private:
  // Returns the column of a time; times outside of the span get the first or the last one.
  int ToColumn(int64_t ms) const {
    if (span_ms_ <= 0) return 0;
    const int64_t column = (ms - begin_ms_) * kTimelineWidth / (span_ms_ + 1);
    return static_cast<int>(std::clamp<int64_t>(column, 0, kTimelineWidth - 1));
  }

  const int64_t begin_ms_, span_ms_;
};

// Charts by stage, in the order in which the stages appear.
using Charts = std::vector<std::pair<uint32_t, StageChart>>;

// Returns the stage's chart; adds it if it is missing.
StageChart& FindChart(uint32_t stage, Charts& charts) {
  for (auto& [name, chart] : charts) {
    if (name == stage) return chart;
  }
  return charts.emplace_back(stage, StageChart()).second;
}

Charts MakeCharts(const Timeline& timeline) {
  const Bars bars(timeline.begin_ms(), timeline.end_ms());
  Charts charts;
  uint64_t last_task = 0;
  for (const Span& span : timeline.spans()) {
    StageChart& chart = FindChart(span.stage, charts);
    ++chart.attempts;
    // Attempts at the same task follow each other.
    if (span.task != last_task) ++chart.tasks;
    last_task = span.task;
    // An attempt that has not ended lasts until the end of the chart.
    const int64_t until = span.ended_ms > 0 ? span.ended_ms : timeline.end_ms();
    // Never leased: it waited all the time.
    if (span.leased_ms == 0) {
      bars.Paint(span.ready_ms, until, '.', chart.bar);
      continue;
    }
    bars.Paint(span.ready_ms, span.leased_ms, '.', chart.bar);
    bars.Paint(span.leased_ms, until, '=', chart.bar);
    chart.queued.push_back(span.queued_us());
    // The worker did not measure its parts, so they must not count as zero.
    if (span.work_us() == 0) continue;
    chart.lookup.push_back(span.lookup_us);
    chart.run.push_back(span.run_us);
    chart.store.push_back(span.store_us);
  }
  return charts;
}

// Returns "median/95th percentile/maximum".
std::string Quantiles(std::vector<int64_t>& values) {
  if (values.empty()) return "-";
  std::sort(values.begin(), values.end());
  const auto at = [&](size_t percent) { return values[(values.size() - 1) * percent / 100]; };
  return absl::StrCat(ShortMicros(at(50)), "/", ShortMicros(at(95)), "/",
                      ShortMicros(values.back()));
}

// Returns the attempts that ran longest, with a partial sort: there may be millions.
std::string SlowestText(const Timeline& timeline) {
  std::vector<const Span*> slowest;
  for (const Span& span : timeline.spans()) {
    if (span.leased_ms > 0 && span.ended_ms > 0) slowest.push_back(&span);
  }
  const size_t count = std::min(kSlowest, slowest.size());
  const auto taken = [](const Span* span) { return span->done_us() - span->began_us(); };
  std::partial_sort(slowest.begin(), slowest.begin() + static_cast<std::ptrdiff_t>(count),
                    slowest.end(),
                    [&](const Span* a, const Span* b) { return taken(a) > taken(b); });
  slowest.resize(count);
  std::string text = count == 0 ? "" : "slowest\n";
  for (const Span* const span : slowest) {
    std::string what = timeline.name(span->stage);
    if (!timeline.name(span->source).empty()) {
      absl::StrAppend(&what, " of ", timeline.name(span->source));
    }
    absl::StrAppendFormat(
        &text, "  %8s  %s\n", ShortMicros(taken(span)),
        OneLine(absl::StrCat(what, ", task ", span->task, ", attempt ", span->attempt, ", ",
                             timeline.name(span->outcome), ", on ", timeline.name(span->worker))));
  }
  return text;
}

using Json = nlohmann::ordered_json;

constexpr int kQueueProcess = 1;  // workers follow
constexpr size_t kPieceBytes = 1 << 20;

// A writer of a list of events, with commas between them. It writes in pieces of 1 MiB.
class Events {
 public:
  explicit Events(const std::function<absl::Status(absl::string_view)>& write) : write_(write) {}

  void Raw(absl::string_view text) { absl::StrAppend(&piece_, text); }
  absl::Status Add(const Json& event) {
    absl::StrAppend(&piece_, first_ ? "\n" : ",\n",
                    event.dump(-1, ' ', false, Json::error_handler_t::replace));
    first_ = false;
    return piece_.size() < kPieceBytes ? absl::OkStatus() : Flush();
  }
  absl::Status Flush() {
    const std::string piece = std::exchange(piece_, "");
    return write_(piece);
  }

 private:
  const std::function<absl::Status(absl::string_view)>& write_;
  std::string piece_;
  bool first_ = true;
};

// Returns a metadata event ("M"), which names a process or a row.
Json NameEvent(const char* kind, int process, int row, const std::string& name) {
  return {{"ph", "M"}, {"name", kind}, {"pid", process}, {"tid", row}, {"args", {{"name", name}}}};
}

// Returns a complete event ("X"): a bar from `ts` with the length `dur`, both in microseconds.
Json Slice(int process, int row, const std::string& name, int64_t ts, int64_t dur) {
  return {{"ph", "X"},  {"name", name}, {"cat", "task"}, {"pid", process},
          {"tid", row}, {"ts", ts},     {"dur", dur}};
}

// One trace: turns the spans of a timeline into events.
// Each worker is a process in the trace. A worker's attempts may overlap; each goes into the first
// row that is free at its beginning, so that the number of rows is the number of slots that were in
// use.
class Trace {
 public:
  Trace(const Timeline& timeline, Events& events)
      : timeline_(timeline), events_(events), zero_us_(timeline.begin_ms() * 1000) {}

  absl::Status Write() {
    RETURN_IF_ERROR(events_.Add(NameEvent("process_name", kQueueProcess, 0, "queue")));
    std::vector<const Span*> ran;
    for (const Span& span : timeline_.spans()) {
      RETURN_IF_ERROR(AddWait(span));
      if (span.leased_ms > 0 && span.ended_ms > 0) ran.push_back(&span);
    }
    std::sort(ran.begin(), ran.end(),
              [](const Span* a, const Span* b) { return a->began_us() < b->began_us(); });
    for (const Span* const span : ran) RETURN_IF_ERROR(AddRun(*span));
    return absl::OkStatus();
  }

 private:
  struct Worker {
    int process = 0;
    std::vector<int64_t> free_from;  // by row
  };

  // Adds the time in the queue as a pair of asynchronous events ("b", "e"): many tasks wait at the
  // same time, and such events may overlap in one row.
  absl::Status AddWait(const Span& span) {
    if (span.leased_ms == 0) return absl::OkStatus();
    const std::string id = absl::StrCat(span.task, "/", span.attempt);
    const int64_t begin = span.ready_ms * 1000 - zero_us_;
    for (const auto& [phase, ts] : {std::pair("b", begin), std::pair("e", begin + Wait(span))}) {
      RETURN_IF_ERROR(events_.Add({{"ph", phase},
                                   {"name", timeline_.name(span.stage)},
                                   {"cat", "queue"},
                                   {"id", id},
                                   {"pid", kQueueProcess},
                                   {"tid", 0},
                                   {"ts", ts}}));
    }
    return absl::OkStatus();
  }
  // The two times come from different moments of the coordinator's clock, which may be set back.
  static int64_t Wait(const Span& span) { return std::max<int64_t>(span.queued_us(), 0); }

  absl::Status AddRun(const Span& span) {
    Worker& worker = workers_[span.worker];
    if (worker.process == 0) {
      worker.process = kQueueProcess + static_cast<int>(workers_.size());
      const std::string& name = timeline_.name(span.worker);
      RETURN_IF_ERROR(events_.Add(NameEvent("process_name", worker.process, 0,
                                            name.empty() ? "a worker without a name" : name)));
    }
    ASSIGN_OR_RETURN(const int row, RowFor(span, worker));
    const int64_t begin = span.began_us() - zero_us_;
    Json slice = Slice(worker.process, row, timeline_.name(span.stage), begin,
                       span.done_us() - span.began_us());
    slice["args"] = {{"source", timeline_.name(span.source)},
                     {"task", std::to_string(span.task)},
                     {"attempt", span.attempt},
                     {"outcome", timeline_.name(span.outcome)}};
    RETURN_IF_ERROR(events_.Add(slice));
    // The parts of an attempt lie inside its bar, one after the other.
    int64_t ts = begin;
    for (const auto& [name, took] :
         {std::pair("lookup", span.lookup_us), std::pair("run", span.run_us),
          std::pair("store", span.store_us)}) {
      if (took > 0) RETURN_IF_ERROR(events_.Add(Slice(worker.process, row, name, ts, took)));
      ts += took;
    }
    return absl::OkStatus();
  }

  // Returns the worker's first free row: attempts at the same time need rows of their own.
  absl::StatusOr<int> RowFor(const Span& span, Worker& worker) {
    size_t row = 0;
    // First fit by beginning: the number of rows is the highest number of attempts at the same
    // time.
    while (row < worker.free_from.size() && worker.free_from[row] > span.began_us()) ++row;
    if (row == worker.free_from.size()) {
      worker.free_from.push_back(0);
      RETURN_IF_ERROR(
          events_.Add(NameEvent("thread_name", worker.process, static_cast<int>(row) + 1,
                                absl::StrCat("slot ", row + 1))));
    }
    worker.free_from[row] = span.done_us();
    return static_cast<int>(row) + 1;
  }

  const Timeline& timeline_;
  Events& events_;
  const int64_t zero_us_;
  std::map<uint32_t, Worker> workers_;
};

}  // namespace

uint32_t Timeline::AddName(const std::string& name) {
  const auto [at, fresh] = places_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (fresh) names_.push_back(name);
  return at->second;
}

// Texts become numbers: millions of attempts share few of them.
void Timeline::Add(const v1::TaskSpan& told) {
  Span span;
  span.task = told.task();
  span.stage = AddName(told.stage());
  span.source = AddName(told.source());
  span.worker = AddName(told.worker());
  span.outcome = AddName(told.outcome());
  span.attempt = told.attempt();
  span.ready_ms = told.ready_unix_ms();
  span.leased_ms = told.leased_unix_ms();
  span.ended_ms = told.ended_unix_ms();
  span.waited_us = told.timing().waited_us();
  span.lookup_us = told.timing().lookup_us();
  span.run_us = told.timing().run_us();
  span.store_us = told.timing().store_us();
  const int64_t last = std::max({span.ready_ms, span.leased_ms, span.ended_ms});
  begin_ms_ = spans_.empty() ? span.ready_ms : std::min(begin_ms_, span.ready_ms);
  end_ms_ = spans_.empty() ? last : std::max(end_ms_, last);
  spans_.push_back(span);
}

std::string ShortMicros(int64_t us) {
  if (us < 1000) return absl::StrCat(us, "us");
  if (us < 1'000'000) return absl::StrCat(us / 1000, "ms");
  if (us < 100'000'000) return absl::StrFormat("%.1fs", static_cast<double>(us) / 1e6);
  return ShortDuration(absl::Microseconds(us));
}

// Times are shown as median, 95th percentile and maximum: a mean would hide the few slow attempts
// that a job waits for.
std::string TimelineText(const Timeline& timeline) {
  if (timeline.spans().empty()) return "no times are recorded for the tasks of this job\n";
  std::string text =
      absl::StrCat(Counted(timeline.spans().size(), "attempt"), " at tasks in ",
                   ShortMicros((timeline.end_ms() - timeline.begin_ms()) * 1000), "\n");
  absl::StrAppendFormat(&text, "%-9s %7s %7s  %-20s %-20s %-20s %-20s |%s|\n", "stage", "tasks",
                        "tries", "queued p50/p95/max", "lookup", "run", "store",
                        "= ran   . waited" + std::string(kTimelineWidth - 16, ' '));
  for (auto& [stage, chart] : MakeCharts(timeline)) {
    absl::StrAppendFormat(&text, "%-9s %7d %7d  %-20s %-20s %-20s %-20s |%s|\n",
                          timeline.name(stage), chart.tasks, chart.attempts,
                          Quantiles(chart.queued), Quantiles(chart.lookup), Quantiles(chart.run),
                          Quantiles(chart.store), chart.bar);
  }
  return text + SlowestText(timeline);
}

absl::Status WriteTrace(const Timeline& timeline, const std::string& job,
                        const std::function<absl::Status(absl::string_view)>& write) {
  Events events(write);
  events.Raw(absl::StrCat(R"({"displayTimeUnit":"ms","otherData":)", Json({{"job", job}}).dump(),
                          R"(,"traceEvents":[)"));
  RETURN_IF_ERROR(Trace(timeline, events).Write());
  events.Raw("\n]}\n");
  return events.Flush();
}

}  // namespace kernelmill::client
