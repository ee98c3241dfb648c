#include "services/store/adapters/rocksdb/staged_blob.h"

#include <cstdint>
#include <string>

#include "absl/random/random.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/rocksdb.h"
#include "services/store/adapters/rocksdb/database/packing.h"
#include "services/store/adapters/rocksdb/database/records.h"
#include "services/store/adapters/rocksdb/uses.h"

namespace kernelmill::store {
namespace {

// Only has to differ from other ids; nothing rests on its being hard to guess.
std::string NewStagingId() {
  absl::BitGen random;
  std::string id(16, '\0');
  for (char& byte : id) byte = static_cast<char>(absl::Uniform<int>(random, 0, 256));
  return id;
}

class RocksDbStagedBlob : public StagedBlob {
 public:
  explicit RocksDbStagedBlob(Database* database) : database_(database), staging_(NewStagingId()) {}

  ~RocksDbStagedBlob() override {
    if (done_ || chunks_ == 0) return;
    if (const absl::Status status = Drop(); !status.ok()) {
      // The "u" record is still there: the next opening deletes them.
      LogWarning("chunks of a broken upload stay until the next start",
                 {{"error", status.ToString()}});
    }
  }

  absl::Status Append(absl::string_view chunk) override {
    rocksdb::WriteBatch batch;
    if (chunks_ == 0) batch.Put(database_->cas(), StagingKey(staging_), "");
    PackedRecord(chunk).Put(database_->cas(), ChunkKey(staging_, chunks_), &batch);
    // Counted also if it fails: a part of it may have been written.
    ++chunks_;
    synced_ = false;
    return database_->WriteUnlogged(batch, "writing a chunk");
  }

  absl::Status Sync() override {
    if (!synced_) RETURN_IF_ERROR(database_->FlushContent());
    synced_ = true;
    return absl::OkStatus();
  }

  absl::Status Commit(const BlobId& id, Epoch now) override {
    rocksdb::WriteBatch batch;
    Usage delta{.written = id.size};
    RETURN_IF_ERROR(Sync());
    RETURN_IF_ERROR(AddReplacement(database_, id, now, &batch, &delta));
    batch.Put(database_->cas(), HeaderKey(id),
              EncodeHeader({Header::Place::kChunks, id.size, staging_}));
    batch.Delete(database_->cas(), StagingKey(staging_));
    RETURN_IF_ERROR(database_->WriteDurably(batch, ToString(id), delta));
    done_ = true;
    return absl::OkStatus();
  }

 private:
  absl::Status Drop() {
    rocksdb::WriteBatch batch;
    for (uint32_t i = 0; i < chunks_; ++i) {
      batch.Delete(database_->cas(), ChunkKey(staging_, i));
    }
    batch.Delete(database_->cas(), StagingKey(staging_));
    return database_->WriteLazily(batch, "dropping a staged blob");
  }

  Database* const database_;
  const std::string staging_;
  uint32_t chunks_ = 0;
  bool synced_ = false;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<StagedBlob> NewRocksDbStagedBlob(Database* database) {
  return std::make_unique<RocksDbStagedBlob>(database);
}

absl::StatusOr<std::vector<std::string>> ListStagings(Database* database) {
  std::vector<std::string> stagings;
  const std::unique_ptr<rocksdb::Iterator> it(
      database->db().NewIterator(rocksdb::ReadOptions(), database->cas()));
  for (it->Seek(ToSlice(kStagingPrefix));
       it->Valid() && absl::StartsWith(ToView(it->key()), kStagingPrefix); it->Next()) {
    stagings.emplace_back(ToView(it->key()).substr(kStagingPrefix.size()));
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "looking for unfinished uploads"));
  return stagings;
}

absl::Status DeleteStaging(Database* database, absl::string_view staging) {
  const std::string prefix = ChunkPrefix(staging);
  rocksdb::WriteBatch batch;
  const std::unique_ptr<rocksdb::Iterator> it(
      database->db().NewIterator(rocksdb::ReadOptions(), database->cas()));
  for (it->Seek(prefix); it->Valid() && absl::StartsWith(ToView(it->key()), prefix); it->Next()) {
    batch.Delete(database->cas(), it->key());
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "looking for abandoned chunks"));
  batch.Delete(database->cas(), StagingKey(staging));
  return database->WriteLazily(batch, "deleting abandoned chunks");
}

}  // namespace kernelmill::store
