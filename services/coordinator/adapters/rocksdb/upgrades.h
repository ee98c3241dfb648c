#ifndef KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_UPGRADES_H_
#define KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_UPGRADES_H_

#include <string>

#include "common/rocksdb/format.h"

namespace rocksdb {
class DB;
}

namespace kernelmill::coordinator {

inline constexpr char kOwnerKey[] = "m/owner";
inline constexpr char kSequenceKey[] = "m/sequence";

// Returns the formats of the coordinator's database in `directory` and the steps between them. `db`
// must outlive the steps.
Formats StateFormats(rocksdb::DB* db, const std::string& directory);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_UPGRADES_H_
