#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_TUNING_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_TUNING_H_

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <vector>

#include "services/store/adapters/rocksdb/rocksdb_storage.h"

namespace kernelmill::store {

// RocksDB's options for this database, each with its reason.
rocksdb::DBOptions TunedDbOptions(const RocksDbOptions& options);
// In the order of Database: default, cas, ac, use, hold.
std::vector<rocksdb::ColumnFamilyDescriptor> TunedFamilies(const RocksDbOptions& options);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_TUNING_H_
