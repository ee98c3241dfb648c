#ifndef KERNELMILL_CLIENT_CONSOLE_PROGRESS_H_
#define KERNELMILL_CLIENT_CONSOLE_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// What is known of one stage at one moment, rate included.
struct StageView {
  std::string stage;
  int64_t total = 0;
  int64_t done = 0;
  int64_t cached = 0;
  int64_t failed = 0;
  double per_second = 0;                          // of this watch; 0 is unknown
  absl::Duration left;                            // infinite: unknown
  absl::Duration at_work = absl::ZeroDuration();  // since it was first seen at work
};

// Turns a job's statuses into what is shown of them. Keeps when each stage was first seen at work,
// to say rates. Not thread-safe.
class ProgressTracker {
 public:
  void Update(const v1::JobStatus& status, absl::Time now);
  // The stages in the order of the data flow, those without a task aside.
  const std::vector<StageView>& stages() const { return stages_; }

 private:
  struct Start {
    absl::Time time;
    int64_t finished = 0;
  };
  std::map<std::string, Start> starts_;
  std::vector<StageView> stages_;
};

// "extract   [=======>     ]  12/30  4.2/s  0:05 left  3 cached  1 failed", cut to `width` columns.
// Before a first task is done: "0:40 so far".
std::string BarLine(const StageView& stage, int width);

// "extract 12/30, 3 cached, 1 failed".
std::string PlainLine(const StageView& stage);

// "12 tasks wait for the store: the store's disk is full". Empty if none waits.
std::string WaitLine(const v1::JobStatus& status);

// What keeps tasks from going on: WaitLine, or else "2 tasks are tried again: fetch of demo:
// UNAVAILABLE: ...": how many have failed and are not given up, and the worst of them. Empty if
// there is none.
std::string TroubleLine(const v1::JobStatus& status);

// Shows a job's progress while it runs. Not thread-safe.
class ProgressPrinter {
 public:
  virtual ~ProgressPrinter() = default;
  virtual void Show(const v1::JobStatus& status, absl::Time now) = 0;
  // The coordinator does not answer, and is tried again.
  virtual void ShowReconnecting(const absl::Status& error) = 0;
  // Time has passed: shows what was held back, and now and then that the job still runs.
  virtual void Tick(absl::Time now) = 0;
};

using Writer = std::function<void(absl::string_view)>;

// A bar a stage, redrawn in place on a terminal each second, and a line for what hinders the job:
// stages without a worker, and tasks that are tried again. `width` answers with its columns now.
std::unique_ptr<ProgressPrinter> NewProgressBars(Writer write, std::function<int()> width);

// How long nothing is written before a line says that the job still runs; of printers without a
// terminal.
inline constexpr absl::Duration kHeartbeat = absl::Seconds(60);

// A line for each stage that has moved, at most every two seconds and when the job ends; one for
// each other thing that hinders it; a heartbeat.
std::unique_ptr<ProgressPrinter> NewProgressLines(Writer write);

// The status as a JSON object a line, at every change; the last again as a heartbeat.
std::unique_ptr<ProgressPrinter> NewProgressJson(Writer write);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_PROGRESS_H_
