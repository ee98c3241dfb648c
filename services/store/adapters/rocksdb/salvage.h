#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_SALVAGE_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_SALVAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// The result of a repair.
struct RepairReport {
  int64_t blobs = 0;  // kept
  int64_t blob_bytes = 0;
  int64_t results = 0;  // kept
  int64_t holds = 0;    // kept
  int64_t lost_blobs = 0;
  std::vector<BlobId> lost;         // some of them, at most kNamed
  bool results_forgotten = false;   // all of them
  std::vector<std::string> damage;  // what was found, in words
  std::string old_files;            // the folder that has the damaged database now

  static constexpr size_t kNamed = 1000;
};

// Replaces the database in `dir`, which is damaged or does not open, by a new one with all that can
// still be read. No store may run on it. The old files are moved into a subfolder. Needs as much
// free space as the database takes. If it is killed, the store refuses to open the folder until a
// repair has finished.
//
// Blobs are kept if they match their hash. Action results have no hash, and one that was deleted
// must not come back from an older table: so they are all kept, or, if their tables or the log are
// damaged, all forgotten. Then stages run again and find the blobs that they store.
//
// NOT_FOUND: no database. FAILED_PRECONDITION: a process has it open, or another format.
absl::StatusOr<RepairReport> RepairDatabase(const std::string& dir);

// Checks that no unfinished repair is in `dir`. FAILED_PRECONDITION: there is one.
absl::Status CheckRepaired(const std::string& dir);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_SALVAGE_H_
