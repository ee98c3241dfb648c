// The basic idea: the attempts of a stage are intervals of time. Sorted by their begin they merge
// into intervals that do not overlap, whose lengths add up to the wall time.

#include "client/console/busy_times.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace kernelmill::client {
namespace {

using Interval = std::pair<int64_t, int64_t>;  // microseconds

absl::Duration SumIntervals(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  int64_t sum = 0;
  int64_t until = INT64_MIN;
  for (const auto& [begin, end] : intervals) {
    if (end <= until) continue;
    sum += end - std::max(begin, until);
    until = end;
  }
  return absl::Microseconds(sum);
}

// Returns the key whose intervals have the longest time; an empty one without intervals.
BusyTime FindSlowest(const Timeline& timeline, std::map<uint32_t, std::vector<Interval>>& by_name) {
  BusyTime slowest;
  for (auto& [name, intervals] : by_name) {
    const absl::Duration time = SumIntervals(intervals);
    if (time > slowest.time) slowest = {timeline.name(name), time};
  }
  return slowest;
}

// Returns the source with the longest time between an attempt's end and the next one's begin.
BusyTime FindRetried(const Timeline& timeline) {
  std::map<uint64_t, std::vector<const Span*>> by_task;
  for (const Span& span : timeline.spans()) {
    const bool has_source = !timeline.name(span.source).empty();
    if (span.leased_ms > 0 && has_source) by_task[span.task].push_back(&span);
  }
  std::map<uint32_t, std::vector<Interval>> waits;  // by source
  for (auto& [task, attempts] : by_task) {
    std::sort(attempts.begin(), attempts.end(),
              [](const Span* a, const Span* b) { return a->leased_ms < b->leased_ms; });
    for (size_t i = 1; i < attempts.size(); ++i) {
      if (attempts[i - 1]->ended_ms == 0) continue;
      waits[attempts[i]->source].emplace_back(attempts[i - 1]->ended_ms * 1000,
                                              attempts[i]->leased_ms * 1000);
    }
  }
  return FindSlowest(timeline, waits);
}

}  // namespace

BusyTimes SumBusyTimes(const Timeline& timeline) {
  std::vector<uint32_t> order;
  std::map<uint32_t, std::vector<Interval>> by_stage, by_source;
  std::map<uint32_t, std::map<uint32_t, std::vector<Interval>>> stages_of;  // by source
  for (const Span& span : timeline.spans()) {
    if (span.leased_ms == 0) continue;
    const Interval interval = span.ended_ms > 0
                                  ? Interval(span.began_us(), span.done_us())
                                  : Interval(span.leased_ms * 1000, timeline.end_ms() * 1000);
    std::vector<Interval>& of_stage = by_stage[span.stage];
    if (of_stage.empty()) order.push_back(span.stage);
    of_stage.push_back(interval);
    if (timeline.name(span.source).empty()) continue;
    by_source[span.source].push_back(interval);
    stages_of[span.source][span.stage].push_back(interval);
  }
  BusyTimes times;
  for (const uint32_t stage : order) {
    times.stages.push_back({timeline.name(stage), SumIntervals(by_stage[stage])});
  }
  times.slowest_source = FindSlowest(timeline, by_source);
  for (auto& [source, stages] : stages_of) {
    if (timeline.name(source) != times.slowest_source.name) continue;
    times.slowest_stage = FindSlowest(timeline, stages);
  }
  times.retried = FindRetried(timeline);
  return times;
}

}  // namespace kernelmill::client
