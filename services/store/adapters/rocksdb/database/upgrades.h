#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_UPGRADES_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_UPGRADES_H_

#include <rocksdb/db.h>

#include "common/rocksdb/format.h"

namespace kernelmill::store {

inline constexpr int kOldestFormat = 2;
inline constexpr int kNewestFormat = 3;

// Returns the formats of the store's database and the steps between them. `db` and `use`, its
// column family, must outlive the steps.
Formats StoreFormats(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* use);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_UPGRADES_H_
