#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_STAGED_BLOB_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_STAGED_BLOB_H_

#include <memory>

#include "absl/status/status.h"
#include "services/store/adapters/rocksdb/database.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// A large blob under a staging id of its own; records.cc says how it becomes visible. `database`
// must outlive it.
std::unique_ptr<StagedBlob> NewRocksStagedBlob(Database* database);

// Deletes what staged blobs left behind when the last process ended without their destructors.
absl::Status DeleteAbandonedChunks(Database* database);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_STAGED_BLOB_H_
