#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_LOST_CONTENT_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_LOST_CONTENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "services/store/adapters/rocksdb/database/database.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// Returns the blobs whose content is in a blob file that is shorter than RocksDB wrote it, or gone,
// and cannot be read. RocksDB itself finds out only when it reads the content, so the store would
// tell clients that such blobs exist. Asks for the size of each blob file; reads more only if one
// is too short.
absl::StatusOr<std::vector<BlobId>> FindLostContent(Database* database);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_LOST_CONTENT_H_
