#include "common/rpc/stall_guard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"

// A timeout for a whole stream would end large transfers, and one for a single message lets a
// client send a byte at a time for days. So a stream has a budget of waiting time, as a bucket of
// tokens: a wait of t seconds that transfers b bytes changes the budget by b / min_rate - t. A
// client at min_rate or above never runs out; one that stops is ended after the budget.
namespace kernelmill::rpc {
StallGuard::StallGuard(const Options& options) : options_(options), watcher_([this] { Watch(); }) {}

StallGuard::~StallGuard() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  watcher_.join();
}

// Counts the caller's streams one by one: there are at most a few hundred, and a stream is rare
// compared with its messages.
absl::StatusOr<std::unique_ptr<StallGuard::Stream>> StallGuard::Admit(std::function<void()> cancel,
                                                                      const std::string& caller) {
  absl::MutexLock lock(&mutex_);
  const auto of_caller = std::count_if(streams_.begin(), streams_.end(), [&](const Stream* stream) {
    return stream->caller_ == caller;
  });
  // The caller's own limit is looked at first, so that its message names the caller.
  if (of_caller >= std::min(options_.max_streams, options_.max_streams_per_caller)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(caller, caller.empty() ? "" : " has ", of_caller,
                     " open streams, the limit for one caller is reached; try again later"));
  }
  if (static_cast<int>(streams_.size()) >= options_.max_streams) {
    return absl::ResourceExhaustedError(absl::StrCat(
        options_.max_streams, " streams are open, the limit is reached; try again later"));
  }
  std::unique_ptr<Stream> stream(new Stream(this, std::move(cancel), caller));
  streams_.insert(stream.get());
  return stream;
}

int64_t StallGuard::ended() const {
  absl::MutexLock lock(&mutex_);
  return ended_;
}

// Looks four times within the budget, and at least once a second. So a stalled stream lives at most
// a quarter longer than its budget.
void StallGuard::Watch() {
  const absl::Duration pause = std::min(options_.stall_budget / 4, absl::Seconds(1));
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&stop_), pause)) EndStalled();
}

// Calls cancel_ under the mutex: the destructor of a stream takes it too, so cancel_ is never
// called after the stream is gone.
void StallGuard::EndStalled() {
  const absl::Duration now = MonotonicNow();
  for (Stream* stream : streams_) {
    stream->guard_->mutex_.AssertHeld();
    if (!stream->waiting_ || stream->ended_ || now - stream->since_ <= stream->left_) continue;
    stream->ended_ = true;
    ended_ += 1;
    stream->cancel_();
  }
}

StallGuard::Stream::Stream(StallGuard* guard, std::function<void()> cancel, std::string caller)
    : guard_(guard),
      cancel_(std::move(cancel)),
      caller_(std::move(caller)),
      left_(guard->options_.stall_budget) {}

StallGuard::Stream::~Stream() {
  absl::MutexLock lock(&guard_->mutex_);
  guard_->streams_.erase(this);
}

// Runs the wait without the lock, so that the watcher can see it and end it. The budget is charged
// for the whole wait and credited for the bytes; it never exceeds its start, so that a fast stream
// cannot save up time for a long stall.
void StallGuard::Stream::Wait(const std::function<int64_t()>& wait) {
  {
    absl::MutexLock lock(&guard_->mutex_);
    since_ = MonotonicNow();
    waiting_ = true;
  }
  const int64_t bytes = wait();
  absl::MutexLock lock(&guard_->mutex_);
  waiting_ = false;
  const absl::Duration waited = MonotonicNow() - since_;
  const absl::Duration earned =
      absl::Seconds(static_cast<double>(bytes) / guard_->options_.min_rate);
  left_ = std::min(left_ - waited + earned, guard_->options_.stall_budget);
}

bool StallGuard::Stream::ended() const {
  absl::MutexLock lock(&guard_->mutex_);
  return ended_;
}

}  // namespace kernelmill::rpc
