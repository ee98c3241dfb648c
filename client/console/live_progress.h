#ifndef KERNELMILL_CLIENT_CONSOLE_LIVE_PROGRESS_H_
#define KERNELMILL_CLIENT_CONSOLE_LIVE_PROGRESS_H_

#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/console/progress.h"

namespace kernelmill::client {

// Hands everything to a printer, and has it Tick on a thread of its own: a coordinator that has
// nothing new to say leaves nothing unsaid. Thread-safe.
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

#endif  // KERNELMILL_CLIENT_CONSOLE_LIVE_PROGRESS_H_
