#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_SETTLER_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_SETTLER_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/store/adapters/rocksdb/database.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// What is left to do after a database was opened, in steps, while it is served: the chunks of
// broken uploads go, and the blobs and results of a database of format "1" get their use records,
// as if they were used now. Until then those are found by their headers alone. Thread-safe.
class Settler {
 public:
  // Before the first upload begins.
  static absl::StatusOr<std::unique_ptr<Settler>> Open(Database* database);

  // Whether there may be blobs and results without a use record.
  bool uses_are_missing() const { return uses_are_missing_.load(std::memory_order_acquire); }
  // True once all is done. Nobody touches or drops at the time.
  absl::StatusOr<bool> Step(Tick now);

 private:
  explicit Settler(Database* database) : database_(database) {}
  // Gives use records to the next few; the key to go on with goes to next_.
  absl::Status AddUses(Tick now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Database* const database_;
  std::atomic<bool> uses_are_missing_{false};
  absl::Mutex mutex_;
  std::vector<std::string> stagings_ ABSL_GUARDED_BY(mutex_);
  std::string next_ ABSL_GUARDED_BY(mutex_);  // as under "settle"; empty: none
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_SETTLER_H_
