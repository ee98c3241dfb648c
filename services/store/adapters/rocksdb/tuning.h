#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_TUNING_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_TUNING_H_

#include <rocksdb/options.h>

#include <cstddef>

namespace kernelmill::store {

// RocksDB's options for this database, each with its reason.
rocksdb::DBOptions TunedDbOptions();
rocksdb::ColumnFamilyOptions TunedCasOptions(size_t block_cache_bytes);
rocksdb::ColumnFamilyOptions TunedResultOptions(size_t block_cache_bytes);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_TUNING_H_
