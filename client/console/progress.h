#ifndef KERNELMILL_CLIENT_CONSOLE_PROGRESS_H_
#define KERNELMILL_CLIENT_CONSOLE_PROGRESS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/console/progress_tracker.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// Returns "extract   [=======>     ]  12/30  4.2/s  0:05 left  3 cached  1 failed", cut to `width`
// columns. While the time left is unknown it has "0:40 so far".
std::string BarLine(const StageView& stage, int width);

// Returns "extract 12/30, 3 cached, 1 failed".
std::string PlainLine(const StageView& stage);

// Returns "12 tasks wait for the store: the store's disk is full"; empty if no task waits.
std::string WaitLine(const v1::JobStatus& status);

// Returns the reason why tasks do not advance: WaitLine, or "2 tasks are tried again: fetch of
// demo: UNAVAILABLE: ..." with the task that has the most attempts. Empty if there is no such task.
std::string TroubleLine(const v1::JobStatus& status);

// A source that alone holds up a job.
struct HoldUp {
  std::string stage;
  std::string source;
  absl::Duration time;  // that its longest task has run
};

// Returns the source of all of the job's tasks that workers run, if there is one and it has run for
// a while.
std::optional<HoldUp> FindHoldUp(const std::string& job, const std::vector<v1::WorkerInfo>& workers,
                                 absl::Time now);

// A display of a job's progress while it runs. Not thread-safe.
class ProgressPrinter {
 public:
  virtual ~ProgressPrinter() = default;
  virtual void Show(const v1::JobStatus& status, absl::Time now) = 0;
  // Shows that the coordinator does not answer and is called again.
  virtual void ShowReconnecting(const absl::Status& error) = 0;
  // Shows which source holds up the job; nullopt: none.
  virtual void ShowHoldUp(const std::optional<HoldUp>& hold_up) = 0;
  // Shows statuses that were held back, and from time to time that the job still runs.
  virtual void Tick(absl::Time now) = 0;
};

using Writer = std::function<void(absl::string_view)>;

// Draws one bar a stage, redrawn in place on a terminal each second, and one line for each problem:
// stages without a worker, and tasks that are tried again. `width` returns the terminal's columns.
std::unique_ptr<ProgressPrinter> NewProgressBars(Writer write, std::function<int()> width);

// The time without output after which the printers without a terminal say that the job still runs.
inline constexpr absl::Duration kHeartbeat = absl::Seconds(60);

// Writes a line with the stages that have advanced: at most every two seconds, in a long run at
// most every minute, and when the job ends. And one line for each new problem, and a heartbeat.
std::unique_ptr<ProgressPrinter> NewProgressLines(Writer write);

// Writes each status as an event "job", the last one again as a heartbeat; and the events
// "reconnecting" and "waiting".
std::unique_ptr<ProgressPrinter> NewProgressJson(Writer write);

// A printer that passes everything to another one, and calls its Tick on a thread of its own, so
// that the display advances while the coordinator sends nothing. Thread-safe.
class LiveProgress : public ProgressPrinter {
 public:
  explicit LiveProgress(std::unique_ptr<ProgressPrinter> printer,
                        absl::Duration interval = absl::Milliseconds(250));
  ~LiveProgress() override;

  // Sets how to find out which source holds up the job. It is called on the thread, every few
  // seconds while few tasks run, and may take its time.
  void SetFindHoldUp(std::function<std::optional<HoldUp>()> find);

  void Show(const v1::JobStatus& status, absl::Time now) override;
  void ShowReconnecting(const absl::Status& error) override;
  void ShowHoldUp(const std::optional<HoldUp>& hold_up) override;
  void Tick(absl::Time now) override;

 private:
  void Run();
  // Returns what to call now; null: nothing.
  std::function<std::optional<HoldUp>()> TakeFindHoldUp();

  const absl::Duration interval_;
  absl::Mutex mutex_;
  const std::unique_ptr<ProgressPrinter> printer_ ABSL_PT_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // The coordinator answers, and the job runs few tasks: it may wait for one source.
  bool runs_few_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<std::optional<HoldUp>()> find_ ABSL_GUARDED_BY(mutex_);
  absl::Time next_find_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::thread thread_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_PROGRESS_H_
