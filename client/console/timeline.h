#ifndef KERNELMILL_CLIENT_CONSOLE_TIMELINE_H_
#define KERNELMILL_CLIENT_CONSOLE_TIMELINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// One attempt at a task. A text is stored as its index in the timeline's names, because a job may
// have millions of attempts.
struct Span {
  uint64_t task = 0;
  uint32_t stage = 0, source = 0, worker = 0, outcome = 0;
  int32_t attempt = 1;
  // By the coordinator's clock; 0: it has not happened.
  int64_t ready_ms = 0, leased_ms = 0, ended_ms = 0;
  // Measured by the worker; all 0: unknown.
  int64_t waited_us = 0, lookup_us = 0, run_us = 0, store_us = 0;

  int64_t work_us() const { return lookup_us + run_us + store_us; }
  // The times at which the worker began and finished; those of the lease if the worker did not
  // measure. Only valid for spans that were leased and have ended.
  int64_t began_us() const {
    return work_us() == 0 ? leased_ms * 1000 : leased_ms * 1000 + waited_us;
  }
  int64_t done_us() const { return work_us() == 0 ? ended_ms * 1000 : began_us() + work_us(); }
  int64_t queued_us() const { return (leased_ms - ready_ms) * 1000 + waited_us; }
};

// The attempts at the tasks of a job, with the times at which they waited and ran. Not thread-safe.
class Timeline {
 public:
  void Add(const v1::TaskSpan& span);

  const std::vector<Span>& spans() const { return spans_; }
  // The text with this index.
  const std::string& name(uint32_t index) const { return names_[index]; }
  // The first and the last time in the spans; equal without spans.
  int64_t begin_ms() const { return begin_ms_; }
  int64_t end_ms() const { return end_ms_; }

 private:
  uint32_t AddName(const std::string& name);

  std::vector<Span> spans_;
  std::vector<std::string> names_;
  std::map<std::string, uint32_t> places_;
  int64_t begin_ms_ = 0, end_ms_ = 0;
};

// Returns a chart of a job's time: for each stage the median, the 95th percentile and the maximum
// of its attempts, and when it ran ('=') or only waited ('.'); then the ten slowest attempts.
std::string TimelineText(const Timeline& timeline);

// Returns "340us", "12ms", "1.2s" or "3:20".
std::string ShortMicros(int64_t us);

// Writes the timeline as Chrome's trace events in JSON, which Perfetto opens too. Each worker is a
// process with one row for each of its slots; a row has the attempts with their lookup, run and
// store. One more process is the queue, with the waits as async events. Times are microseconds
// since the timeline's begin. `write` gets the text in pieces; its first error ends the writing.
absl::Status WriteTrace(const Timeline& timeline, const std::string& job,
                        const std::function<absl::Status(absl::string_view)>& write);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_TIMELINE_H_
