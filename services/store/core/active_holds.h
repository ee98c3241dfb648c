#ifndef KERNELMILL_SERVICES_STORE_CORE_ACTIVE_HOLDS_H_
#define KERNELMILL_SERVICES_STORE_CORE_ACTIVE_HOLDS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// A hold as a client requests it.
struct HoldRequest {
  std::string name;
  std::vector<BlobId> blobs;
  bool everything_used_from_now = false;
  int64_t ttl_ms = 0;  // 0: until Release
};

// An existing hold, and how long it still lasts.
struct HoldState {
  HoldRecord record;
  absl::Duration left = absl::InfiniteDuration();
};

// The active holds. A hold has a name and protects blobs from eviction: a list of blobs, or all
// that are used from some epoch on. Holds are durable; their time to live runs on the monotonic
// clock and restarts with the process. Thread-safe.
class ActiveHolds {
 public:
  struct Limits {
    size_t name_bytes = 256;
    size_t blobs = 100'000;  // in one hold
    size_t holds = 10'000;
    int64_t all_blobs = 20'000'000;  // in all holds together
  };

  // `now` returns monotonic time. `records` must outlive this. Call Load first.
  ActiveHolds(Holds* records, std::function<absl::Duration()> now);
  absl::Status Load();

  // Creates the hold, or renews it and replaces its blobs. A renewed hold of uses keeps its first
  // epoch. INVALID_ARGUMENT: the name, the number of blobs or the time is out of range.
  // RESOURCE_EXHAUSTED: too many holds, or blobs in holds.
  absl::Status Hold(const HoldRequest& request, Epoch now);
  // Deletes the hold. OK if it does not exist.
  absl::Status Release(absl::string_view name);
  // Deletes the holds whose time to live is over.
  absl::Status Expire();

  // Returns the epoch from which on all uses are held. kNoEpoch: no hold holds uses.
  Epoch HeldSince() const;
  // Makes every hold of uses hold everything. Call it when records of uses were lost: it is then
  // unknown what was used since a hold began. SaveChanged makes the change durable.
  void HoldAllUses();
  // Makes holds of everything (HoldAllUses, a repair) hold what is used from `since` on, and ends
  // kRepairHold. Returns whether it changed any.
  bool TrustUses(Epoch since);
  absl::Status SaveChanged();

  std::vector<HoldState> List() const;
  // Returns the bytes of the hold's blobs. Reads a record for each.
  absl::StatusOr<int64_t> SumBytes(absl::string_view name) { return records_->SumBytes(name); }
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
