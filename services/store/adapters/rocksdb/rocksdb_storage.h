#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/store/adapters/rocksdb/database/options.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// Opens, or makes, the database in `dir`, which one process at a time can have open. Opening takes
// time for the log alone, not for the blobs kept. FAILED_PRECONDITION: another process has it open,
// a program of another format wrote it, or a restore did not come to its end; DATA_LOSS: it is
// damaged, and was left as it is.
absl::StatusOr<std::unique_ptr<Storage>> OpenRocksDbStorage(const std::string& dir,
                                                            const RocksDbOptions& options = {});

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_
