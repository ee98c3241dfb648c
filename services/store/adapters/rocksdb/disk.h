#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DISK_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DISK_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/store/adapters/rocksdb/database/database.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// The files of the database: measured, compacted and backed up. Thread-safe.
class RocksDbDisk : public Disk {
 public:
  // `database` must outlive this.
  explicit RocksDbDisk(Database* database) : database_(database) {}

  absl::StatusOr<Space> Measure() override;
  Effort effort() override;
  absl::Status Reclaim() override;
  absl::StatusOr<int64_t> BackUp(const std::string& dir) override;
  void Stop() override { stop_ = true; }

 private:
  absl::Status Compact(rocksdb::ColumnFamilyHandle* family, double copied_share);
  absl::StatusOr<bool> HasDamage();

  Database* const database_;
  std::atomic<bool> stop_{false};
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DISK_H_
