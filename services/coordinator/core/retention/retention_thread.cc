#include "services/coordinator/core/retention/retention_thread.h"

#include <cstdint>

namespace kernelmill::coordinator {

RetentionThread::RetentionThread(Retention& retention)
    : retention_(retention), thread_([this] { Run(); }) {}

RetentionThread::~RetentionThread() {
  stopping_ = true;
  retention_.Cancel();
  changed_.Notify();
  thread_.join();
}

void RetentionThread::Run() {
  while (true) {
    const uint64_t seen = changed_.generation();
    if (stopping_) return;
    changed_.WaitFor(seen, retention_.Step());
  }
}

}  // namespace kernelmill::coordinator
