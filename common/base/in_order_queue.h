#ifndef KERNELMILL_COMMON_BASE_IN_ORDER_QUEUE_H_
#define KERNELMILL_COMMON_BASE_IN_ORDER_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace kernelmill {

// A queue of work whose results are taken in the order of the pushes. It is InOrder for work that
// is not known beforehand: threads work, one more thread takes, and the pushing thread goes on.
//
// Push and Drain return the first error in the order of the pushes. After an error nothing more is
// worked on or taken. Push and Drain must be called by one thread. With one thread, work and take
// run within Push.
template <typename Result>
class InOrderQueue {
 public:
  using Work = std::function<absl::StatusOr<Result>()>;
  using Take = std::function<absl::Status(Result)>;

  // At most `window` pieces are under way, which bounds the memory.
  InOrderQueue(int threads, size_t window, Take take)
      : window_(std::max<size_t>(window, 1)), take_(std::move(take)) {
    if (threads <= 1) return;
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { RunWork(); });
    threads_.emplace_back([this] { RunTake(); });
  }
  InOrderQueue(const InOrderQueue&) = delete;
  InOrderQueue& operator=(const InOrderQueue&) = delete;
  // Gives up what is not done yet.
  ~InOrderQueue() {
    {
      const absl::MutexLock lock(&mutex_);
      stopped_ = true;
    }
    for (std::thread& thread : threads_) thread.join();
  }

  // Waits while the window is full.
  absl::Status Push(Work work) {
    if (threads_.empty()) return RunHere(work);
    const absl::MutexLock lock(&mutex_);
    const auto has_room = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return !status_.ok() || pieces_.size() < window_;
    };
    mutex_.Await(absl::Condition(&has_room));
    if (status_.ok()) pieces_.push_back({std::move(work), std::nullopt});
    return status_;
  }

  // Waits until all is taken.
  absl::Status Drain() {
    const absl::MutexLock lock(&mutex_);
    const auto is_empty = [this]()
                              ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return pieces_.empty(); };
    mutex_.Await(absl::Condition(&is_empty));
    return status_;
  }

 private:
  struct Piece {
    Work work;
    std::optional<absl::StatusOr<Result>> result;
  };

  absl::Status RunHere(const Work& work) {
    const absl::MutexLock lock(&mutex_);
    if (!status_.ok()) return status_;
    absl::StatusOr<Result> result = work();
    status_ = result.ok() ? take_(*std::move(result)) : result.status();
    return status_;
  }

  // A deque keeps its pieces in place while others come and go.
  void RunWork() {
    while (true) {
      Piece* piece = nullptr;
      absl::Status failed;
      {
        const absl::MutexLock lock(&mutex_);
        const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
          return stopped_ || claimed_ < pieces_.size();
        };
        mutex_.Await(absl::Condition(&ready));
        if (stopped_) return;
        piece = &pieces_[claimed_++];
        failed = status_;
      }
      absl::StatusOr<Result> result = failed.ok() ? piece->work() : failed;
      // Frees what the work holds, on this thread.
      piece->work = nullptr;
      const absl::MutexLock lock(&mutex_);
      piece->result = std::move(result);
    }
  }

  void RunTake() {
    while (true) {
      absl::StatusOr<Result> result;
      {
        const absl::MutexLock lock(&mutex_);
        const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
          return stopped_ || (!pieces_.empty() && pieces_.front().result.has_value());
        };
        mutex_.Await(absl::Condition(&ready));
        if (stopped_) return;
        result = *std::move(pieces_.front().result);
        if (status_.ok()) status_ = result.status();
        if (!status_.ok()) {
          PopFront();
          continue;
        }
      }
      const absl::Status taken = take_(*std::move(result));
      const absl::MutexLock lock(&mutex_);
      status_ = taken;
      // Only now, so that Drain waits for the take.
      PopFront();
    }
  }

  void PopFront() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    pieces_.pop_front();
    --claimed_;
  }

  const size_t window_;
  const Take take_;
  absl::Mutex mutex_;
  std::deque<Piece> pieces_ ABSL_GUARDED_BY(mutex_);  // not taken yet
  size_t claimed_ ABSL_GUARDED_BY(mutex_) = 0;        // of them, by threads
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_IN_ORDER_QUEUE_H_
