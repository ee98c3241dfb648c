#ifndef KERNELMILL_CLIENT_CONSOLE_PROGRESS_H_
#define KERNELMILL_CLIENT_CONSOLE_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// The state of one stage at one moment, with its rate.
struct StageView {
  std::string stage;
  int64_t total = 0;
  int64_t done = 0;
  int64_t cached = 0;
  int64_t failed = 0;
  double per_second = 0;                          // during this watch; 0: unknown
  absl::Duration left;                            // infinite: unknown
  absl::Duration at_work = absl::ZeroDuration();  // since its first task was seen
};

// A converter of a job's statuses into StageViews. It remembers when each stage was first seen at
// work, to compute rates. Not thread-safe.
class ProgressTracker {
 public:
  void Update(const v1::JobStatus& status, absl::Time now);
  // The stages that have tasks, in the order of the data flow.
  const std::vector<StageView>& stages() const { return stages_; }

 private:
  struct Start {
    absl::Time time;
    int64_t finished = 0;
  };
  std::map<std::string, Start> starts_;
  std::vector<StageView> stages_;
};

// Returns "extract   [=======>     ]  12/30  4.2/s  0:05 left  3 cached  1 failed", cut to `width`
// columns. Before the first task is done it has "0:40 so far".
std::string BarLine(const StageView& stage, int width);

// Returns "extract 12/30, 3 cached, 1 failed".
std::string PlainLine(const StageView& stage);

// Returns "12 tasks wait for the store: the store's disk is full"; empty if no task waits.
std::string WaitLine(const v1::JobStatus& status);

// Returns the reason why tasks do not advance: WaitLine, or "2 tasks are tried again: fetch of
// demo: UNAVAILABLE: ..." with the task that has the most attempts. Empty if there is no such task.
std::string TroubleLine(const v1::JobStatus& status);

// A display of a job's progress while it runs. Not thread-safe.
class ProgressPrinter {
 public:
  virtual ~ProgressPrinter() = default;
  virtual void Show(const v1::JobStatus& status, absl::Time now) = 0;
  // Shows that the coordinator does not answer and is called again.
  virtual void ShowReconnecting(const absl::Status& error) = 0;
  // Shows statuses that were held back, and from time to time that the job still runs.
  virtual void Tick(absl::Time now) = 0;
};

using Writer = std::function<void(absl::string_view)>;

// Draws one bar a stage, redrawn in place on a terminal each second, and one line for each problem:
// stages without a worker, and tasks that are tried again. `width` returns the terminal's columns.
std::unique_ptr<ProgressPrinter> NewProgressBars(Writer write, std::function<int()> width);

// The time without output after which the printers without a terminal say that the job still runs.
inline constexpr absl::Duration kHeartbeat = absl::Seconds(60);

// Writes one line for each stage that has advanced, at most every two seconds and when the job
// ends; one line for each new problem; and a heartbeat.
std::unique_ptr<ProgressPrinter> NewProgressLines(Writer write);

// Writes each status as one line of JSON; the last one again as a heartbeat.
std::unique_ptr<ProgressPrinter> NewProgressJson(Writer write);

// A printer that passes everything to another one, and calls its Tick on a thread of its own, so
// that the display advances while the coordinator sends nothing. Thread-safe.
class LiveProgress : public ProgressPrinter {
 public:
  explicit LiveProgress(std::unique_ptr<ProgressPrinter> printer,
                        absl::Duration interval = absl::Milliseconds(250));
  ~LiveProgress() override;

  void Show(const v1::JobStatus& status, absl::Time now) override;
  void ShowReconnecting(const absl::Status& error) override;
  void Tick(absl::Time now) override;

 private:
  void Run();

  const absl::Duration interval_;
  absl::Mutex mutex_;
  const std::unique_ptr<ProgressPrinter> printer_ ABSL_PT_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_PROGRESS_H_
