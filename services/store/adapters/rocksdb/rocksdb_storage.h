#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// Opens, or makes, the database in `dir`, which one process at a time can have open. Opening takes
// time for the log alone, not for the blobs held. FAILED_PRECONDITION: another process has it open,
// or a newer program wrote it; DATA_LOSS: it is damaged, and was left as it is.
absl::StatusOr<std::unique_ptr<Storage>> OpenRocksDbStorage(const std::string& dir,
                                                            size_t block_cache_bytes = 64 << 20);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_
