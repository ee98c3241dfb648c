#include "services/store/adapters/rocksdb/staged_blob.h"

#include <cstdint>
#include <string>

#include "absl/random/random.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/status.h"
#include "services/store/adapters/rocksdb/records.h"

namespace kernelmill::store {
namespace {

// Only has to differ from other ids; nothing rests on its being hard to guess.
std::string NewStagingId() {
  absl::BitGen random;
  std::string id(16, '\0');
  for (char& byte : id) byte = static_cast<char>(absl::Uniform<int>(random, 0, 256));
  return id;
}

class RocksStagedBlob : public StagedBlob {
 public:
  explicit RocksStagedBlob(Database* database) : database_(database), staging_(NewStagingId()) {}

  ~RocksStagedBlob() override {
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
    batch.Put(database_->cas(), ChunkKey(staging_, chunks_), ToSlice(chunk));
    // Counted also if it fails: a part of it may have been written.
    ++chunks_;
    return database_->WriteLazily(batch, "writing a chunk");
  }

  absl::Status Commit(const BlobId& id) override {
    absl::MutexLock lock(&database_->CommitMutex(id));
    rocksdb::PinnableSlice header;
    const absl::Status present =
        database_->Get(database_->cas(), HeaderKey(id), &header, ToString(id));
    if (present.ok()) {  // another upload of the same blob was faster
      const absl::Status dropped = Drop();
      done_ = dropped.ok();
      return absl::OkStatus();
    }
    if (!absl::IsNotFound(present)) return present;
    rocksdb::WriteBatch batch;
    batch.Put(database_->cas(), HeaderKey(id),
              EncodeHeader({Header::Place::kChunks, id.size, staging_}));
    batch.Delete(database_->cas(), StagingKey(staging_));
    RETURN_IF_ERROR(database_->WriteDurably(batch, ToString(id)));
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
  bool done_ = false;
};

}  // namespace

std::unique_ptr<StagedBlob> NewRocksStagedBlob(Database* database) {
  return std::make_unique<RocksStagedBlob>(database);
}

absl::Status DeleteAbandonedChunks(Database* database) {
  const std::unique_ptr<rocksdb::Iterator> records(
      database->db().NewIterator(rocksdb::ReadOptions(), database->cas()));
  const std::unique_ptr<rocksdb::Iterator> chunks(
      database->db().NewIterator(rocksdb::ReadOptions(), database->cas()));
  int64_t deleted = 0;
  for (records->Seek(ToSlice(kStagingPrefix));
       records->Valid() && absl::StartsWith(ToView(records->key()), kStagingPrefix);
       records->Next()) {
    const absl::string_view staging = ToView(records->key()).substr(kStagingPrefix.size());
    const std::string prefix = ChunkPrefix(staging);
    rocksdb::WriteBatch batch;
    for (chunks->Seek(prefix); chunks->Valid() && absl::StartsWith(ToView(chunks->key()), prefix);
         chunks->Next()) {
      batch.Delete(database->cas(), chunks->key());
      ++deleted;
    }
    RETURN_IF_ERROR(FromRocksStatus(chunks->status(), "looking for abandoned chunks"));
    batch.Delete(database->cas(), records->key());
    RETURN_IF_ERROR(database->WriteLazily(batch, "deleting abandoned chunks"));
  }
  if (deleted > 0) LogInfo("deleted chunks of broken uploads", {{"chunks", deleted}});
  return FromRocksStatus(records->status(), "looking for broken uploads");
}

}  // namespace kernelmill::store
