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

// A bound that an operator sets, as a refusal names it.
struct Limit {
  std::string flag;   // without "--"
  int64_t value = 0;  // 0: no limit
};

// How much of something callers may have at a time: each of them, and all together. It may be calls
// that wait, jobs, or bytes. A caller is a name that the server made (CallerKey in authorizer.h).
//
// Only who has something is remembered, so that a million callers that come and go leave nothing.
// Thread-safe; must outlive its places.
class CallerLimits {
 public:
  struct Options {
    std::string what;  // plural: "jobs that have not ended"
    Limit each;        // of one caller
    Limit all;         // of all together
    std::string hint;  // what a refused caller can do; may be empty
  };

  // Makes the counters of refusals, kernelmill_limit_refusals_total.
  explicit CallerLimits(Options options);

  // What a caller has, until this is destroyed.
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

  // RESOURCE_EXHAUSTED: the caller, or all together, would have more than they may. The text has
  // the flag and its value.
  absl::StatusOr<Place> Take(const std::string& caller, int64_t amount = 1);
  // Waits for a place of 1, at most that long; then as Take.
  absl::StatusOr<Place> Await(const std::string& caller, absl::Duration patience);
  // Counts what the caller has had since before a restart, be it too much.
  Place Keep(const std::string& caller, int64_t amount = 1);

  int64_t all() const;
  // Callers that have something now.
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
