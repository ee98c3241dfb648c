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

// Opens the database in `dir`, or creates it. One process at a time can have it open. Opening reads
// the log, not the blobs. FAILED_PRECONDITION: another process has it open, a program with another
// format wrote it, or a restore is unfinished. DATA_LOSS: it is damaged; it is left unchanged.
absl::StatusOr<std::unique_ptr<Storage>> OpenRocksDbStorage(const std::string& dir,
                                                            const RocksDbOptions& options = {});

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_
