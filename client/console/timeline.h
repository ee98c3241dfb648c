#ifndef KERNELMILL_CLIENT_CONSOLE_TIMELINE_H_
#define KERNELMILL_CLIENT_CONSOLE_TIMELINE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// One attempt at a task; text is by its place in Timeline::names(). A job may have millions.
struct Span {
  uint64_t task = 0;
  uint32_t stage = 0, source = 0, worker = 0, outcome = 0;
  int32_t attempt = 1;
  // By the coordinator's wall clock; 0: not yet, or never.
  int64_t ready_ms = 0, leased_ms = 0, ended_ms = 0;
  // As the worker measured it; all 0: it did not say.
  int64_t waited_us = 0, lookup_us = 0, run_us = 0, store_us = 0;

  int64_t work_us() const { return lookup_us + run_us + store_us; }
  // When its worker began with it, and was done with it; the ends of its lease where it did not
  // say. Call it of spans that were leased and have ended.
  int64_t began_us() const {
    return work_us() == 0 ? leased_ms * 1000 : leased_ms * 1000 + waited_us;
  }
  int64_t done_us() const { return work_us() == 0 ? ended_ms * 1000 : began_us() + work_us(); }
  int64_t queued_us() const { return (leased_ms - ready_ms) * 1000 + waited_us; }
};

// When the tasks of a job waited and ran.
class Timeline {
 public:
  void Add(const v1::TaskSpan& span);

  const std::vector<Span>& spans() const { return spans_; }
  // The text that the spans refer to.
  const std::string& name(uint32_t place) const { return names_[place]; }
  // The first and the last time that a span names; equal if there is none.
  int64_t begin_ms() const { return begin_ms_; }
  int64_t end_ms() const { return end_ms_; }

 private:
  uint32_t PlaceOf(const std::string& name);

  std::vector<Span> spans_;
  std::vector<std::string> names_;
  std::map<std::string, uint32_t> places_;
  int64_t begin_ms_ = 0, end_ms_ = 0;
};

// Where a job's time went, as a chart: for each stage the median, the 95th percentile and the
// largest of what its attempts took, and when in the job it ran ('=') or only waited ('.'); then
// the ten slowest attempts.
std::string TimelineText(const Timeline& timeline);

// "340us", "12ms", "1.2s", "3:20".
std::string ShortMicros(int64_t us);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_TIMELINE_H_
