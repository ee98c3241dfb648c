#include "services/store/adapters/rocksdb/blobs.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/rocksdb.h"
#include "services/store/adapters/rocksdb/database/packing.h"
#include "services/store/adapters/rocksdb/database/records.h"
#include "services/store/adapters/rocksdb/uses.h"

namespace kernelmill::store {
namespace {

// The largest number of damage marks that Damaged() reads, which bounds its memory.
constexpr size_t kMaxDamaged = 1'000'000;

absl::Status Broken(const BlobId& id, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(ToString(id), ": ", what));
}

// Adds a blob of at most kChunkBytes: in its header if it is small, else as header and body.
void AddWhole(Database* database, const CheckedBlob& blob, rocksdb::WriteBatch* batch) {
  const bool in_line = blob.id.size <= kMaxInlineBytes;
  if (!in_line) PackedRecord(blob.bytes).Put(database->cas(), BodyKey(blob.id), batch);
  batch->Put(database->cas(), HeaderKey(blob.id),
             EncodeHeader({in_line ? Header::Place::kInline : Header::Place::kBody, blob.id.size,
                           in_line ? blob.bytes : absl::string_view()}));
}

// A packed record that was read, and its content.
struct PackedBytes {
  rocksdb::PinnableSlice value;
  std::string buffer;
  absl::string_view content;

  // DATA_LOSS: the record is damaged.
  absl::Status Open(int64_t size) {
    ASSIGN_OR_RETURN(content, Unpack(ToView(value), size, &buffer));
    return absl::OkStatus();
  }
};

// Returns a part of the content. A value of a blob file has memory of its own, which the piece may
// keep. A smaller value may be in RocksDB's block cache, which must not be used after the database.
Piece GetPiece(const std::shared_ptr<PackedBytes>& record, int64_t offset, int64_t length) {
  constexpr size_t kMinOwned = 64 << 10;
  const absl::string_view bytes = record->content.substr(offset, length);
  if (record->value.size() < kMinOwned) return {bytes, nullptr};
  return {bytes, record};
}

}  // namespace

RocksDbBlobs::RocksDbBlobs(Database* database, std::vector<std::string> abandoned_uploads)
    : database_(database), abandoned_uploads_(std::move(abandoned_uploads)) {}

// Writes all blobs in one synced batch. `fresh` promises that no blob exists, which saves the
// lookups.
absl::Status RocksDbBlobs::Put(absl::Span<const CheckedBlob> blobs, bool fresh, Epoch now) {
  rocksdb::WriteBatch batch;
  Usage delta;
  for (const CheckedBlob& blob : blobs) {
    if (blob.id.size > kChunkBytes) return absl::InternalError("a large blob was not staged");
    delta.written += blob.id.size;
    if (fresh) {
      delta.blobs += 1;
      delta.blob_bytes += blob.id.size;
      AddUse(database_, BlobItem(blob.id.raw_hash()), {}, {.epoch = now, .size = blob.id.size},
             &batch);
    } else {
      RETURN_IF_ERROR(AddReplacement(database_, blob.id, now, &batch, &delta));
    }
    AddWhole(database_, blob, &batch);
  }
  return database_->WriteDurably(batch, "writing blobs", delta);
}

absl::StatusOr<std::unique_ptr<StagedBlob>> RocksDbBlobs::Stage() {
  return NewRocksDbStagedBlob(database_);
}

// Deletes the chunks of one upload that an earlier process left. Returns whether all are deleted.
absl::StatusOr<bool> RocksDbBlobs::DeleteAbandonedUpload() {
  absl::MutexLock lock(&mutex_);
  if (abandoned_uploads_.empty()) return true;
  RETURN_IF_ERROR(DeleteStaging(database_, abandoned_uploads_.back()));
  abandoned_uploads_.pop_back();
  if (abandoned_uploads_.empty()) LogInfo("deleted all abandoned uploads");
  return abandoned_uploads_.empty();
}

// NOT_FOUND: the blob does not exist. DATA_LOSS: it is damaged. `sink` may have got a part before.
absl::Status RocksDbBlobs::Read(const BlobId& id, int64_t offset, int64_t length, PieceSink sink) {
  ASSIGN_OR_RETURN(const bool done, ReadBody(id, offset, length, sink));
  if (done) return absl::OkStatus();
  rocksdb::PinnableSlice value;
  RETURN_IF_ERROR(database_->Get(database_->cas(), HeaderKey(id), &value, ToString(id)));
  const absl::StatusOr<Header> header = ParseHeader(ToView(value));
  if (!header.ok()) return Annotate(header.status(), ToString(id));
  if (header->size != id.size) {
    return absl::NotFoundError(absl::StrCat(ToString(id), ": stored with a different size"));
  }
  switch (header->place) {
    case Header::Place::kInline:
      // RocksDB may have cached this block for GetUnchecked, which verifies no block checksum.
      if (Sha256(header->rest) != id.raw_hash()) return Broken(id, "its content does not match");
      return sink({header->rest.substr(offset, length), nullptr});
    case Header::Place::kBody:
      return ReadRecord(id, {BodyKey(id), id.size}, offset, length, sink);
    case Header::Place::kChunks:
      return ReadChunks(id, header->rest, offset, length, sink);
  }
  return Broken(id, "the header has an unknown kind");
}

// Passes a part of a body without reading its header: one lookup instead of two. Body and header
// are written and deleted together. Returns false if the body is missing or damaged; the caller
// then reads the header to find out why.
absl::StatusOr<bool> RocksDbBlobs::ReadBody(const BlobId& id, int64_t offset, int64_t length,
                                            PieceSink sink) {
  if (id.size <= kMaxInlineBytes || id.size > kChunkBytes) return false;
  const auto record = std::make_shared<PackedBytes>();
  const absl::Status status =
      database_->GetUnchecked(database_->cas(), BodyKey(id), &record->value, ToString(id));
  if (!status.ok()) return false;
  if (!record->Open(id.size).ok()) return false;
  RETURN_IF_ERROR(sink(GetPiece(record, offset, length)));
  return true;
}

// Passes a part of the record's content.
absl::Status RocksDbBlobs::ReadRecord(const BlobId& id, const Record& record, int64_t offset,
                                      int64_t length, PieceSink sink) {
  const auto packed = std::make_shared<PackedBytes>();
  const absl::Status status =
      database_->GetUnchecked(database_->cas(), record.key, &packed->value, ToString(id));
  if (absl::IsNotFound(status)) return Broken(id, "the content is missing, the header exists");
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(Annotate(packed->Open(record.size), ToString(id)));
  return sink(GetPiece(packed, offset, length));
}

absl::Status RocksDbBlobs::ReadChunks(const BlobId& id, absl::string_view staging, int64_t offset,
                                      int64_t length, PieceSink sink) {
  while (length > 0) {
    const int64_t index = offset / kChunkBytes;
    const int64_t start = index * kChunkBytes;
    const int64_t size = std::min(kChunkBytes, id.size - start);
    const int64_t take = std::min(length, start + size - offset);
    RETURN_IF_ERROR(ReadRecord(id, {ChunkKey(staging, index), size}, offset - start, take, sink));
    offset += take;
    length -= take;
  }
  return absl::OkStatus();
}

// Content without a record of its use is deleted as well.
absl::Status RocksDbBlobs::Delete(const BlobId& id) {
  const std::string item = BlobItem(id.raw_hash());
  ASSIGN_OR_RETURN(const auto uses, ReadUses(database_, {item}));
  rocksdb::WriteBatch batch;
  Usage delta;
  if (uses.front().found) {
    AddItemDeletion(database_, item, uses.front().use, &batch, &delta);
  } else {
    AddContentDeletion(database_, id, &batch);
  }
  return database_->WriteDurably(batch, "deleting a blob", delta);
}

absl::StatusOr<StoredResult> RocksDbBlobs::GetResult(absl::string_view instance,
                                                     const BlobId& action) {
  const std::string key = ResultKey(instance, action);
  rocksdb::PinnableSlice value;
  RETURN_IF_ERROR(database_->Get(database_->ac(), key, &value,
                                 absl::StrCat("result of action ", ToString(action))));
  ASSIGN_OR_RETURN(const auto uses, ReadUses(database_, {ResultItem(key)}));
  return StoredResult{.bytes = value.ToString(), .last_use = uses.front().use.epoch};
}

absl::Status RocksDbBlobs::PutResult(absl::string_view instance, const BlobId& action,
                                     absl::string_view result, Epoch now) {
  const std::string key = ResultKey(instance, action);
  const std::string item = ResultItem(key);
  ASSIGN_OR_RETURN(const auto before, ReadUses(database_, {item}));
  const int64_t size = static_cast<int64_t>(result.size());
  rocksdb::WriteBatch batch;
  batch.Put(database_->ac(), key, ToSlice(result));
  AddUse(database_, item, before.front(), {.epoch = now, .size = size}, &batch);
  const FoundUse& old = before.front();
  return database_->WriteDurably(batch, "writing a result",
                                 {.results = old.found ? 0 : 1,
                                  .result_bytes = size - (old.found ? old.use.size : 0),
                                  .written = size});
}

absl::StatusOr<std::optional<ResultId>> RocksDbBlobs::ListResults(const ResultId* after, size_t max,
                                                                  ResultSink sink) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;  // a scan of all results would evict useful blocks
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(options, database_->ac()));
  const std::string from =
      after == nullptr
          ? ""
          : absl::StrCat(ResultKey(after->instance, after->action), absl::string_view("\0", 1));
  std::optional<ResultId> last;
  size_t passed = 0;
  for (it->Seek(from); it->Valid() && passed < max; it->Next(), ++passed) {
    ASSIGN_OR_RETURN(last, ParseResultKey(ToView(it->key())));
    sink(*last, ToView(it->value()));
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "listing results"));
  return last;
}

// Returns how many of the results existed.
absl::StatusOr<int64_t> RocksDbBlobs::DeleteResults(absl::Span<const ResultId> results) {
  std::vector<std::string> items;
  for (const ResultId& result : results) {
    items.push_back(ResultItem(ResultKey(result.instance, result.action)));
  }
  ASSIGN_OR_RETURN(const auto uses, ReadUses(database_, items));
  rocksdb::WriteBatch batch;
  Usage delta;
  for (size_t i = 0; i < items.size(); ++i) {
    if (uses[i].found) AddItemDeletion(database_, items[i], uses[i].use, &batch, &delta);
  }
  RETURN_IF_ERROR(database_->WriteDurably(batch, "deleting results", delta));
  return -delta.results;
}

absl::StatusOr<std::vector<BlobId>> RocksDbBlobs::List(const BlobId* after, size_t max) {
  std::string from(kBlobUsePrefix);
  if (after != nullptr) absl::StrAppend(&from, after->raw_hash(), absl::string_view("\0", 1));
  return ListRecords(kBlobUsePrefix, from, max, [](absl::string_view value) {
    const absl::StatusOr<UseValue> use = ParseUse(value);
    return use.ok() ? absl::StatusOr<int64_t>(use->size) : use.status();
  });
}

absl::StatusOr<std::vector<BlobId>> RocksDbBlobs::Damaged() {
  return ListRecords(kDamagePrefix, std::string(kDamagePrefix), kMaxDamaged, ParseSize);
}

// Lists the keys of "use" that are `prefix` and a hash, from the key `from` on.
absl::StatusOr<std::vector<BlobId>> RocksDbBlobs::ListRecords(
    absl::string_view prefix, const std::string& from, size_t max,
    absl::FunctionRef<absl::StatusOr<int64_t>(absl::string_view)> size_of) {
  std::vector<BlobId> ids;
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(rocksdb::ReadOptions(), database_->use()));
  for (it->Seek(from);
       it->Valid() && absl::StartsWith(ToView(it->key()), prefix) && ids.size() < max; it->Next()) {
    const absl::string_view hash = ToView(it->key()).substr(prefix.size());
    if (hash.size() != sizeof(BlobId::hash)) return absl::DataLossError("a key is too short");
    ASSIGN_OR_RETURN(const int64_t size, size_of(ToView(it->value())));
    ids.push_back(MakeBlobId(hash, size));
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "listing blobs"));
  return ids;
}

// Deletes the content too: Reclaim must not copy it, since RocksDB stops all writes when it reads
// damage.
absl::Status RocksDbBlobs::MarkDamaged(const BlobId& id) {
  rocksdb::WriteBatch batch;
  AddContentDeletion(database_, id, &batch);
  batch.Put(database_->use(), DamageKey(id), EncodeSize(id.size));
  return database_->WriteLazily(batch, "marking damage");
}

namespace {

// Makes a staging id. It must be unique, not secret.
std::string NewStagingId() {
  absl::BitGen random;
  std::string id(16, '\0');
  for (char& byte : id) byte = static_cast<char>(absl::Uniform<int>(random, 0, 256));
  return id;
}

// A large blob whose chunks are written without the log, because they would go to the disk twice
// otherwise. Sync flushes them; Commit then writes the header in one synced batch. Not thread-safe.
class RocksDbStagedBlob : public StagedBlob {
 public:
  explicit RocksDbStagedBlob(Database* database) : database_(database), staging_(NewStagingId()) {}

  ~RocksDbStagedBlob() override {
    if (done_ || chunks_ == 0) return;
    if (const absl::Status status = Drop(); !status.ok()) {
      // The "u" record still exists, so the next start deletes the chunks.
      LogWarning("cannot delete the chunks of a broken upload; the next start deletes them",
                 {{"error", status.ToString()}});
    }
  }

  absl::Status Append(absl::string_view chunk) override {
    rocksdb::WriteBatch batch;
    if (chunks_ == 0) batch.Put(database_->cas(), StagingKey(staging_), "");
    PackedRecord(chunk).Put(database_->cas(), ChunkKey(staging_, chunks_), &batch);
    // Counted even if the write fails: a part of the chunk may be on the disk.
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
