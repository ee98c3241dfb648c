#ifndef KERNELMILL_COMMON_BASE_IN_ORDER_H_
#define KERNELMILL_COMMON_BASE_IN_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/base/status.h"

namespace kernelmill {

// Calls `work(i)` for each i below `count` on `threads` threads, in any order, and passes the
// results to `take` in the order of i, on the calling thread. At most `window` results exist at a
// time, which bounds the memory. With one thread everything runs on the calling thread.
//
// Returns the first error in the order of i, not in time, so that the same inputs always fail in
// the same way.
template <typename Result>
absl::Status InOrder(int threads, size_t count, size_t window,
                     absl::FunctionRef<absl::StatusOr<Result>(size_t)> work,
                     absl::FunctionRef<absl::Status(size_t, Result)> take);

namespace in_order_internal {

// A ring of results between the working threads and the taking thread. Thread-safe.
template <typename Result>
class Window {
 public:
  Window(size_t count, size_t size) : count_(count), places_(std::max<size_t>(size, 1)) {}

  // Waits until the window has room and returns the next piece to work on; nothing if all pieces
  // are claimed or the window is stopped.
  std::optional<size_t> Claim() {
    const absl::MutexLock lock(&mutex_);
    const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stopped_ || next_ == count_ || next_ < taken_ + places_.size();
    };
    mutex_.Await(absl::Condition(&ready));
    if (stopped_ || next_ == count_) return std::nullopt;
    return next_++;
  }

  void Put(size_t i, absl::StatusOr<Result> result) {
    const absl::MutexLock lock(&mutex_);
    places_[i % places_.size()] = std::move(result);
  }

  // Waits for the result of piece `i`. Call it for each piece, in order.
  absl::StatusOr<Result> Take(size_t i) {
    const absl::MutexLock lock(&mutex_);
    std::optional<absl::StatusOr<Result>>& place = places_[i % places_.size()];
    const auto ready = [&place] { return place.has_value(); };
    mutex_.Await(absl::Condition(&ready));
    absl::StatusOr<Result> result = *std::move(place);
    place.reset();
    taken_ = i + 1;
    return result;
  }

  void Stop() {
    const absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }

 private:
  const size_t count_;
  absl::Mutex mutex_;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::optional<absl::StatusOr<Result>>> places_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace in_order_internal

template <typename Result>
absl::Status InOrder(int threads, size_t count, size_t window,
                     absl::FunctionRef<absl::StatusOr<Result>(size_t)> work,
                     absl::FunctionRef<absl::Status(size_t, Result)> take) {
  if (threads <= 1) {
    for (size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(Result result, work(i));
      RETURN_IF_ERROR(take(i, std::move(result)));
    }
    return absl::OkStatus();
  }
  in_order_internal::Window<Result> places(count, window);
  std::vector<std::thread> workers;
  for (size_t i = 0; i < std::min<size_t>(static_cast<size_t>(threads), count); ++i) {
    workers.emplace_back([&] {
      while (const std::optional<size_t> piece = places.Claim()) places.Put(*piece, work(*piece));
    });
  }
  absl::Status status;
  for (size_t i = 0; i < count && status.ok(); ++i) {
    absl::StatusOr<Result> result = places.Take(i);
    status = result.ok() ? take(i, *std::move(result)) : result.status();
  }
  places.Stop();
  for (std::thread& worker : workers) worker.join();
  return status;
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_IN_ORDER_H_
