#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_COUNTERS_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_COUNTERS_H_

#include <rocksdb/write_batch.h>

#include <cstddef>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "services/store/core/storage.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
}  // namespace rocksdb

namespace kernelmill::store {

// The counters of a database, exact across crashes without a scan.
//
// The basic idea: they are the sum of many slots. A writer takes a slot that no one else has and
// puts the slot's new value into the very batch that it counts; so batches that are written at the
// same time, in whichever order, never write the same record. There are as many slots as there ever
// were writers at once. Thread-safe.
class Counters {
 public:
  // One writer's change. Not thread-safe.
  class Change {
   public:
    // Adds the record to `batch`. A change of nothing takes no slot.
    Change(Counters* counters, const Usage& delta, rocksdb::WriteBatch* batch);
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    // The batch was written.
    void Commit();

   private:
    Counters* const counters_;
    const Usage delta_;
    size_t slot_;
  };

  // DATA_LOSS: a record is damaged.
  absl::Status Load(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);

  Usage sum() const;

 private:
  rocksdb::ColumnFamilyHandle* family_ = nullptr;
  mutable absl::Mutex mutex_;
  std::vector<Usage> slots_ ABSL_GUARDED_BY(mutex_);
  std::vector<size_t> free_ ABSL_GUARDED_BY(mutex_);
  Usage sum_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_COUNTERS_H_
