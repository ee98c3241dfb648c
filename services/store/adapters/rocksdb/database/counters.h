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

// The counters of a database. They are exact after a crash, without a scan. Thread-safe.
//
// The basic idea: a counter is the sum of many slots. A writer takes a free slot and puts the
// slot's new value into the same batch that it counts. So batches that are written at the same
// time, in any order, never write the same record. There are as many slots as there were concurrent
// writers.
class Counters {
 public:
  // One writer's change. It owns a slot while it lives. Not thread-safe.
  class Change {
   public:
    // Adds the slot's record to `batch`. An empty `delta` takes no slot.
    Change(Counters* counters, const Usage& delta, rocksdb::WriteBatch* batch);
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    // Applies the change to the sums; call it after the batch was written.
    void Commit();

   private:
    Counters* const counters_;
    const Usage delta_;
    size_t slot_ = 0;
  };

  // Reads all slots. Call it once, first. DATA_LOSS: a record is damaged.
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
