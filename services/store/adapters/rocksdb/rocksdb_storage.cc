#include "services/store/adapters/rocksdb/rocksdb_storage.h"

#include <utility>

#include "common/base/status.h"
#include "services/store/adapters/rocksdb/backup.h"
#include "services/store/adapters/rocksdb/blobs.h"
#include "services/store/adapters/rocksdb/database/database.h"
#include "services/store/adapters/rocksdb/disk.h"
#include "services/store/adapters/rocksdb/holds.h"
#include "services/store/adapters/rocksdb/staged_blob.h"
#include "services/store/adapters/rocksdb/uses.h"

namespace kernelmill::store {
namespace {

class RocksDbStorage : public Storage {
 public:
  RocksDbStorage(std::unique_ptr<Database> database, std::vector<std::string> abandoned_uploads)
      : database_(std::move(database)),
        blobs_(database_.get(), std::move(abandoned_uploads)),
        uses_(database_.get()),
        holds_(database_.get()),
        disk_(database_.get()) {}

  Blobs& blobs() override { return blobs_; }
  Uses& uses() override { return uses_; }
  Holds& holds() override { return holds_; }
  Disk& disk() override { return disk_; }

 private:
  const std::unique_ptr<Database> database_;
  RocksDbBlobs blobs_;
  RocksDbUses uses_;
  RocksDbHolds holds_;
  RocksDbDisk disk_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Storage>> OpenRocksDbStorage(const std::string& dir,
                                                            const RocksDbOptions& options) {
  RETURN_IF_ERROR(CheckRestored(dir));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(dir, options));
  // Before the first upload begins, all that there are were abandoned.
  ASSIGN_OR_RETURN(std::vector<std::string> abandoned, ListStagings(database.get()));
  return std::make_unique<RocksDbStorage>(std::move(database), std::move(abandoned));
}

}  // namespace kernelmill::store
