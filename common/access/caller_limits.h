#ifndef KERNELMILL_COMMON_ACCESS_CALLER_LIMITS_H_
#define KERNELMILL_COMMON_ACCESS_CALLER_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace prometheus {
class Counter;
}

namespace kernelmill::access {

// A limit that an operator sets with a flag.
struct Limit {
  std::string flag;   // without "--"
  int64_t value = 0;  // 0: no limit
};

// Limits on a resource (waiting calls, jobs, bytes) for each caller and for all callers together. A
// caller is a key that the server made (CallerKey in authorizer.h). Only callers that have
// something take memory. Must outlive its places. Thread-safe.
class CallerLimits {
 public:
  struct Options {
    std::string what;  // plural: "unfinished jobs"
    Limit each;        // for one caller
    Limit all;         // for all callers together
    std::string hint;  // advice for a refused caller; may be empty
  };

  // Makes the counters of refusals, kernelmill_limit_refusals_total.
  explicit CallerLimits(Options options);

  // An amount that a caller has; its destructor returns the amount.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept;
    ~Place() { Free(); }

   private:
    friend class CallerLimits;
    Place(CallerLimits* limits, std::string caller, int64_t amount)
        : limits_(limits), caller_(std::move(caller)), amount_(amount) {}
    void Free();

    CallerLimits* limits_ = nullptr;
    std::string caller_;
    int64_t amount_ = 0;
  };

  // Takes an amount. RESOURCE_EXHAUSTED: the caller, or all together, would exceed the limit; the
  // message names the flag and its value.
  absl::StatusOr<Place> Take(const std::string& caller, int64_t amount = 1);
  // Waits at most `patience` for an amount. Errors: see Take.
  absl::StatusOr<Place> Await(const std::string& caller, absl::Duration patience,
                              int64_t amount = 1);
  // Takes an amount even if it exceeds the limit: for resources from before a restart.
  Place Keep(const std::string& caller, int64_t amount = 1);

  int64_t all() const;
  // Returns the number of callers that have something.
  size_t callers() const;

 private:
  int64_t Has(const std::string& caller) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Check(const std::string& caller, int64_t amount) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Refusal(const Limit& limit, absl::string_view who, int64_t has,
                       int64_t amount) const;
  Place Add(const std::string& caller, int64_t amount) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  prometheus::Counter& refused_each_;
  prometheus::Counter& refused_all_;
  mutable absl::Mutex mutex_;
  int64_t all_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, int64_t> each_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_CALLER_LIMITS_H_
