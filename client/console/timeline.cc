#include "client/console/timeline.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/console/format.h"

namespace kernelmill::client {
namespace {

constexpr int kBarWidth = 40;
constexpr size_t kSlowest = 10;

// What is shown of one stage.
struct StageChart {
  int64_t tasks = 0, attempts = 0;
  std::vector<int64_t> queued, lookup, run, store;  // microseconds
  std::string bar = std::string(kBarWidth, ' ');
};

class Bars {
 public:
  Bars(int64_t begin_ms, int64_t end_ms) : begin_ms_(begin_ms), span_ms_(end_ms - begin_ms) {}

  // Marks what lies between the two; '=' is not painted over.
  void Paint(int64_t from_ms, int64_t to_ms, char mark, std::string& bar) const {
    for (int column = ColumnOf(from_ms); column <= ColumnOf(to_ms); ++column) {
      if (bar[column] != '=') bar[column] = mark;
    }
  }

 private:
  int ColumnOf(int64_t ms) const {
    if (span_ms_ <= 0) return 0;
    const int64_t column = (ms - begin_ms_) * kBarWidth / (span_ms_ + 1);
    return static_cast<int>(std::clamp<int64_t>(column, 0, kBarWidth - 1));
  }

  const int64_t begin_ms_, span_ms_;
};

// By stage, in the order in which they came to be.
using Charts = std::vector<std::pair<uint32_t, StageChart>>;

StageChart& ChartOf(uint32_t stage, Charts& charts) {
  for (auto& [name, chart] : charts) {
    if (name == stage) return chart;
  }
  return charts.emplace_back(stage, StageChart()).second;
}

Charts ChartsOf(const Timeline& timeline) {
  const Bars bars(timeline.begin_ms(), timeline.end_ms());
  Charts charts;
  uint64_t last_task = 0;
  for (const Span& span : timeline.spans()) {
    StageChart& chart = ChartOf(span.stage, charts);
    ++chart.attempts;
    if (span.task != last_task) ++chart.tasks;
    last_task = span.task;
    const int64_t until = span.ended_ms > 0 ? span.ended_ms : timeline.end_ms();
    if (span.leased_ms == 0) {
      bars.Paint(span.ready_ms, until, '.', chart.bar);
      continue;
    }
    bars.Paint(span.ready_ms, span.leased_ms, '.', chart.bar);
    bars.Paint(span.leased_ms, until, '=', chart.bar);
    chart.queued.push_back(span.queued_us());
    if (span.work_us() == 0) continue;
    chart.lookup.push_back(span.lookup_us);
    chart.run.push_back(span.run_us);
    chart.store.push_back(span.store_us);
  }
  return charts;
}

// "median/95th percentile/largest".
std::string Quantiles(std::vector<int64_t>& values) {
  if (values.empty()) return "-";
  std::sort(values.begin(), values.end());
  const auto at = [&](size_t percent) { return values[(values.size() - 1) * percent / 100]; };
  return absl::StrCat(ShortMicros(at(50)), "/", ShortMicros(at(95)), "/",
                      ShortMicros(values.back()));
}

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

}  // namespace

uint32_t Timeline::PlaceOf(const std::string& name) {
  const auto [at, fresh] = places_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (fresh) names_.push_back(name);
  return at->second;
}

void Timeline::Add(const v1::TaskSpan& told) {
  Span span;
  span.task = told.task();
  span.stage = PlaceOf(told.stage());
  span.source = PlaceOf(told.source());
  span.worker = PlaceOf(told.worker());
  span.outcome = PlaceOf(told.outcome());
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

std::string TimelineText(const Timeline& timeline) {
  if (timeline.spans().empty()) return "nothing is known of when its tasks ran\n";
  std::string text =
      absl::StrCat(timeline.spans().size(), " attempts at tasks in ",
                   ShortMicros((timeline.end_ms() - timeline.begin_ms()) * 1000), "\n");
  absl::StrAppendFormat(&text, "%-9s %7s %7s  %-20s %-20s %-20s %-20s |%s|\n", "stage", "tasks",
                        "tries", "queued p50/p95/max", "lookup", "run", "store",
                        "= ran   . only waited" + std::string(kBarWidth - 21, ' '));
  for (auto& [stage, chart] : ChartsOf(timeline)) {
    absl::StrAppendFormat(&text, "%-9s %7d %7d  %-20s %-20s %-20s %-20s |%s|\n",
                          timeline.name(stage), chart.tasks, chart.attempts,
                          Quantiles(chart.queued), Quantiles(chart.lookup), Quantiles(chart.run),
                          Quantiles(chart.store), chart.bar);
  }
  return text + SlowestText(timeline);
}

}  // namespace kernelmill::client
