#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_WAL_TAIL_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_WAL_TAIL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "services/store/adapters/rocksdb/database/synced_sizes.h"

namespace kernelmill::store {

// What the logs lost at their ends.
struct WalTails {
  uint64_t lost_bytes = 0;  // acknowledged, and no longer there
  uint64_t torn_bytes = 0;  // never acknowledged, and cut off
};

// Looks at the ends of the logs in `dir` before RocksDB does, which takes any damage within the
// last block for a torn write. Reads a block of each. A log that is shorter than it was when it was
// synced has lost acknowledged writes: the disk did not keep what it had promised, there is nothing
// to mend, and the caller says so. DATA_LOSS: the last block is damaged where it had been synced.
absl::StatusOr<WalTails> CheckWalTails(const std::string& dir, const SyncedSizes& sizes);

// RocksDB found a log damaged: cuts off each log's tail from the first record that is not whole, if
// all of it had not been synced yet. DATA_LOSS: the damage lies in what was acknowledged, or it
// cannot be told; nothing is changed then.
absl::StatusOr<WalTails> CutTornTails(const std::string& dir, const SyncedSizes& sizes);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_WAL_TAIL_H_
