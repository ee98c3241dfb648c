#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_RECLAIM_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_RECLAIM_H_

#include <atomic>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/store/adapters/rocksdb/database.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// What the files of the database take, and the room that the disk has. Asks RocksDB for the sizes
// of what is live, which it knows, and the folder for the logs.
absl::StatusOr<Space> MeasureDatabase(Database* database);

// Gives the room of deleted records back to the disk.
//
// The basic idea: deletions reach the content in three steps. Writing the buffers out frees the
// logs. Compacting the keys, which are few bytes, drops the references to deleted content, so that
// RocksDB knows how much of each blob file is garbage, and deletes the files that are nothing else.
// Then, as content is dropped in the order of its use, which is about that of its writing, the
// oldest files hold most garbage: the largest run of oldest files that is garbage for more than a
// third is written anew without it. Damaged content is never copied: while some is known
// (`may_copy` false), only the first two steps are done.
// CANCELLED: `stop` has become true.
absl::Status ReclaimSpace(Database* database, bool may_copy, std::atomic<bool>* stop);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_RECLAIM_H_
