#ifndef KERNELMILL_SERVICES_STORE_CORE_ACTIVE_HOLDS_H_
#define KERNELMILL_SERVICES_STORE_CORE_ACTIVE_HOLDS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// A hold as a client asks for it.
struct HoldRequest {
  std::string name;
  std::vector<BlobId> blobs;
  bool everything_used_from_now = false;
  int64_t ttl_ms = 0;  // 0: until it is released
};

// A hold as it is.
struct HoldState {
  HoldRecord record;
  absl::Duration left = absl::InfiniteDuration();
};

// The holds in force: names that keep blobs from being evicted. Durable, but for how much of their
// time is left: that starts anew with the process, on the monotonic clock. Thread-safe.
class ActiveHolds {
 public:
  struct Limits {
    size_t name_bytes = 256;
    size_t blobs = 100'000;  // of one hold
    size_t holds = 10'000;
    int64_t all_blobs = 20'000'000;  // of all holds
  };

  // `now` is monotonic. `records` must outlive this. Call Load before anything else.
  ActiveHolds(Holds* records, std::function<absl::Duration()> now);
  absl::Status Load();

  // Makes the hold, or renews it and replaces its blobs: one that held uses before goes on to hold
  // them from its first epoch on.
  // INVALID_ARGUMENT: the name, the count or the time are not in order. RESOURCE_EXHAUSTED: too
  // many holds.
  absl::Status Hold(const HoldRequest& request, Epoch now);
  // OK also where there is no such hold.
  absl::Status Release(absl::string_view name);
  // Ends those whose time is over.
  absl::Status Expire();

  // What was used in this epoch, or later, is held. kNoEpoch: no hold holds uses.
  Epoch HeldSince() const;
  // Records of uses were lost: nobody can tell what was used since a hold of uses began, so that
  // each holds everything from now on. SaveChanged makes it last.
  void HoldAllUses();
  absl::Status SaveChanged();

  std::vector<HoldState> List() const;
  size_t size() const;

 private:
  struct Entry {
    HoldRecord record;
    absl::Duration expires;
    bool unsaved = false;  // HoldAllUses changed it
  };

  absl::Status Check(const HoldRequest& request) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration Expiry(int64_t ttl_ms) const;

  Holds* const records_;
  const std::function<absl::Duration()> now_;
  const Limits limits_;
  absl::Mutex changes_;  // one change of the records at a time; taken before mutex_
  mutable absl::Mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_ ABSL_GUARDED_BY(mutex_);
  int64_t blobs_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_ACTIVE_HOLDS_H_
