#include "client/console/live_progress.h"

#include <utility>

#include "absl/time/clock.h"

namespace kernelmill::client {

LiveProgress::LiveProgress(std::unique_ptr<ProgressPrinter> printer, absl::Duration interval)
    : interval_(interval), printer_(std::move(printer)), thread_([this] { Run(); }) {}

LiveProgress::~LiveProgress() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void LiveProgress::Show(const v1::JobStatus& status, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  printer_->Show(status, now);
}

void LiveProgress::ShowReconnecting(const absl::Status& error) {
  absl::MutexLock lock(&mutex_);
  printer_->ShowReconnecting(error);
}

void LiveProgress::Tick(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  printer_->Tick(now);
}

void LiveProgress::Run() {
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&stopping_), interval_)) {
    printer_->Tick(absl::Now());
  }
}

}  // namespace kernelmill::client
