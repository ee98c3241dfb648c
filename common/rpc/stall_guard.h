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

// Ends streams whose other end has stopped, or goes so slowly that it holds a thread for next to
// nothing, and bounds how many there are, of one caller and of all. Only the time that the server
// waits for the client counts: a slow disk ends no stream. Thread-safe; must outlive its streams.
class StallGuard {
 public:
  struct Options {
    // How long a stream may be waited for. Each wait uses it up, and each min_rate bytes that the
    // stream moves give a second back, never more than there was. Waiting beyond it ends the
    // stream.
    absl::Duration stall_budget = absl::Seconds(60);
    int64_t min_rate = 16 << 10;  // bytes a second
    int max_streams = 512;        // each takes a thread
    int max_streams_per_caller = 384;
  };

  explicit StallGuard(const Options& options);
  ~StallGuard();

  // One stream under guard. Used by one thread.
  class Stream {
   public:
    ~Stream();
    // Runs `wait`, which waits for the client and then has moved the bytes that it returns.
    void Wait(const std::function<int64_t()>& wait);
    // Whether the guard has ended it; its reads and writes fail from then on.
    bool ended() const;

   private:
    friend class StallGuard;
    Stream(StallGuard* guard, std::function<void()> cancel, std::string caller);

    StallGuard* const guard_;
    const std::function<void()> cancel_;
    const std::string caller_;
    absl::Duration left_ ABSL_GUARDED_BY(guard_->mutex_);
    absl::Duration since_ ABSL_GUARDED_BY(guard_->mutex_);  // of the wait under way
    bool waiting_ ABSL_GUARDED_BY(guard_->mutex_) = false;
    bool ended_ ABSL_GUARDED_BY(guard_->mutex_) = false;
  };

  // `cancel` makes a wait under way return; it is called from another thread, at most once, and not
  // after the stream has gone. RESOURCE_EXHAUSTED: there are as many streams as may be, or as the
  // caller may have.
  absl::StatusOr<std::unique_ptr<Stream>> Admit(std::function<void()> cancel,
                                                const std::string& caller = "");

  // Streams that were ended so far.
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
