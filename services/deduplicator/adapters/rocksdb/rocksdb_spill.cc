// key: the number, 8 bytes, big-endian, so that sets lie in their order; value: the bytes.

#include "services/deduplicator/adapters/rocksdb/rocksdb_spill.h"

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/rocksdb/process_logger.h"
#include "common/rocksdb/status.h"

namespace kernelmill::deduplicator {
namespace {

std::string KeyOf(uint64_t number) {
  std::string key(sizeof(number), '\0');
  for (size_t i = key.size(); i-- > 0; number >>= 8) key[i] = static_cast<char>(number & 0xff);
  return key;
}

class RocksdbSpill final : public SpillSpace {
 public:
  explicit RocksdbSpill(std::string parent) : parent_(std::move(parent)) {}

  absl::Status Put(uint64_t key, absl::string_view bytes) override {
    if (db_ == nullptr) RETURN_IF_ERROR(Open());
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    return FromRocksStatus(
        db_->Put(options, KeyOf(key), rocksdb::Slice(bytes.data(), bytes.size())), "spill");
  }

  absl::Status Get(uint64_t key, std::string* bytes) override {
    if (db_ == nullptr) return absl::InternalError("nothing was spilled");
    const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), KeyOf(key), bytes);
    if (status.IsNotFound()) return absl::InternalError(absl::StrCat("set ", key, " not spilled"));
    return FromRocksStatus(status, "spill");
  }

 private:
  absl::Status Open() {
    ASSIGN_OR_RETURN(TempDir dir, TempDir::Create(parent_));
    dir_ = std::move(dir);
    rocksdb::Options options;
    options.create_if_missing = true;
    options.info_log = NewProcessLogger();
    options.compression = rocksdb::kNoCompression;  // hashes do not compress
    rocksdb::DB* db = nullptr;
    RETURN_IF_ERROR(FromOpenStatus(rocksdb::DB::Open(options, dir_->path(), &db), dir_->path()));
    db_.reset(db);
    return absl::OkStatus();
  }

  const std::string parent_;
  std::optional<TempDir> dir_;  // outlives the database in it
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

std::unique_ptr<SpillSpace> NewRocksdbSpill(const std::string& parent) {
  return std::make_unique<RocksdbSpill>(parent);
}

}  // namespace kernelmill::deduplicator
