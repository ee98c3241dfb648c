#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_STAGED_BLOB_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_STAGED_BLOB_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/store/adapters/rocksdb/database/database.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// A large blob under a staging id of its own; database/records.cc says how it becomes visible.
// `database` must outlive it.
std::unique_ptr<StagedBlob> NewRocksDbStagedBlob(Database* database);

// The staging ids of all uploads that are not finished.
absl::StatusOr<std::vector<std::string>> ListStagings(Database* database);
// Deletes all of one of them.
absl::Status DeleteStaging(Database* database, absl::string_view staging);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_STAGED_BLOB_H_
