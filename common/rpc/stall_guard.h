#ifndef KERNELMILL_COMMON_RPC_STALL_GUARD_H_
#define KERNELMILL_COMMON_RPC_STALL_GUARD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace kernelmill::rpc {

// A guard against stalled streams: it ends streams whose client stopped or is extremely slow, since
// each stream holds a thread. It also bounds the number of streams, for each caller and for all.
// Only waits for the client count; a slow disk does not end a stream. Must outlive its streams.
// Thread-safe.
class StallGuard {
 public:
  struct Options {
    // The waiting time of a stream. Waits use it up; each min_rate bytes that are transferred give
    // a second back, up to the initial budget. A stream without budget is ended.
    absl::Duration stall_budget = absl::Seconds(60);
    int64_t min_rate = 16 << 10;  // bytes a second
    int max_streams = 512;        // each takes a thread
    int max_streams_per_caller = 384;
  };

  explicit StallGuard(const Options& options);
  ~StallGuard();

  // One guarded stream. Used by one thread.
  class Stream {
   public:
    ~Stream();
    // Runs `wait`, which waits for the client and returns the number of transferred bytes.
    void Wait(const std::function<int64_t()>& wait);
    // Returns whether the guard ended the stream; its reads and writes then fail.
    bool ended() const;

   private:
    friend class StallGuard;
    Stream(StallGuard* guard, std::function<void()> cancel, std::string caller);

    StallGuard* const guard_;
    const std::function<void()> cancel_;
    const std::string caller_;
    absl::Duration left_ ABSL_GUARDED_BY(guard_->mutex_);
    absl::Duration since_ ABSL_GUARDED_BY(guard_->mutex_);  // the start of the current wait
    bool waiting_ ABSL_GUARDED_BY(guard_->mutex_) = false;
    bool ended_ ABSL_GUARDED_BY(guard_->mutex_) = false;
  };

  // Adds a stream. `cancel` must make a running wait return; it is called from another thread, at
  // most once, and not after the stream was destroyed. RESOURCE_EXHAUSTED: too many streams, of the
  // caller or of all.
  absl::StatusOr<std::unique_ptr<Stream>> Admit(std::function<void()> cancel,
                                                const std::string& caller = "");

  // Returns how many streams the guard has ended.
  int64_t ended() const;

 private:
  void Watch();
  void EndStalled() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable absl::Mutex mutex_;
  std::set<Stream*> streams_ ABSL_GUARDED_BY(mutex_);
  int64_t ended_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread watcher_;
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_STALL_GUARD_H_
