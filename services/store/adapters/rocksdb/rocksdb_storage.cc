#include "services/store/adapters/rocksdb/rocksdb_storage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/rocksdb/status.h"
#include "services/store/adapters/rocksdb/database.h"
#include "services/store/adapters/rocksdb/records.h"
#include "services/store/adapters/rocksdb/staged_blob.h"

namespace kernelmill::store {
namespace {

constexpr size_t kLookupsAtOnce = 1024;  // bounds what MultiGet pins

absl::Status Damaged(const BlobId& id, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(ToString(id), ": ", what));
}

class RocksDbStorage : public Storage {
 public:
  explicit RocksDbStorage(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  absl::StatusOr<std::vector<bool>> Contains(absl::Span<const BlobId> ids) override {
    std::vector<bool> held;
    held.reserve(ids.size());
    for (; !ids.empty(); ids.remove_prefix(std::min(ids.size(), kLookupsAtOnce))) {
      RETURN_IF_ERROR(LookUp(ids.subspan(0, kLookupsAtOnce), &held));
    }
    return held;
  }

  absl::Status Put(absl::Span<const CheckedBlob> blobs) override {
    std::vector<BlobId> ids;
    ids.reserve(blobs.size());
    for (const CheckedBlob& blob : blobs) ids.push_back(blob.id);
    ASSIGN_OR_RETURN(const std::vector<bool> held, Contains(ids));
    rocksdb::WriteBatch batch;
    for (size_t i = 0; i < blobs.size(); ++i) {
      if (!held[i]) RETURN_IF_ERROR(AddWhole(blobs[i], &batch));
    }
    if (batch.Count() == 0) return absl::OkStatus();
    return database_->WriteDurably(batch, "writing blobs");
  }

  absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() override {
    return NewRocksStagedBlob(database_.get());
  }

  absl::Status Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink) override {
    rocksdb::PinnableSlice value;
    RETURN_IF_ERROR(database_->Get(database_->cas(), HeaderKey(id), &value, ToString(id)));
    const absl::StatusOr<Header> header = ParseHeader(ToView(value));
    if (!header.ok()) return Annotate(header.status(), ToString(id));
    if (header->size != id.size) {
      return absl::NotFoundError(absl::StrCat(ToString(id), ": held with another size"));
    }
    switch (header->place) {
      case Header::Place::kInline:
        return sink(header->rest.substr(offset, length));
      case Header::Place::kBody:
        return ReadRecord(id, BodyKey(id), id.size, offset, length, sink);
      case Header::Place::kChunks:
        return ReadChunks(id, header->rest, offset, length, sink);
    }
    return Damaged(id, "a header of an unknown kind");
  }

  absl::StatusOr<std::string> GetResult(absl::string_view instance, const BlobId& action) override {
    rocksdb::PinnableSlice value;
    RETURN_IF_ERROR(database_->Get(database_->ac(), ResultKey(instance, action), &value,
                                   absl::StrCat("result of action ", ToString(action))));
    return value.ToString();
  }

  absl::Status PutResult(absl::string_view instance, const BlobId& action,
                         absl::string_view result) override {
    rocksdb::WriteBatch batch;
    batch.Put(database_->ac(), ResultKey(instance, action), ToSlice(result));
    return database_->WriteDurably(batch, "writing a result");
  }

 private:
  // Appends for each id whether it is held.
  absl::Status LookUp(absl::Span<const BlobId> ids, std::vector<bool>* held) {
    std::vector<std::string> keys;
    keys.reserve(ids.size());
    for (const BlobId& id : ids) keys.push_back(HeaderKey(id));
    const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
    std::vector<rocksdb::PinnableSlice> values(ids.size());
    std::vector<rocksdb::Status> statuses(ids.size());
    database_->db().MultiGet(rocksdb::ReadOptions(), database_->cas(), slices.size(), slices.data(),
                             values.data(), statuses.data());
    for (size_t i = 0; i < ids.size(); ++i) {
      if (statuses[i].IsNotFound()) {
        held->push_back(false);
        continue;
      }
      RETURN_IF_ERROR(FromRocksStatus(statuses[i], ToString(ids[i])));
      const absl::StatusOr<Header> header = ParseHeader(ToView(values[i]));
      if (!header.ok()) return Annotate(header.status(), ToString(ids[i]));
      held->push_back(header->size == ids[i].size);
    }
    return absl::OkStatus();
  }

  absl::Status AddWhole(const CheckedBlob& blob, rocksdb::WriteBatch* batch) {
    if (blob.id.size > kChunkBytes) return absl::InternalError("a large blob was not staged");
    if (blob.id.size <= kMaxInlineBytes) {
      batch->Put(database_->cas(), HeaderKey(blob.id),
                 EncodeHeader({Header::Place::kInline, blob.id.size, blob.bytes}));
      return absl::OkStatus();
    }
    batch->Put(database_->cas(), BodyKey(blob.id), ToSlice(blob.bytes));
    batch->Put(database_->cas(), HeaderKey(blob.id),
               EncodeHeader({Header::Place::kBody, blob.id.size, ""}));
    return absl::OkStatus();
  }

  // Passes a part of the record under `key`, which must have `size` bytes.
  absl::Status ReadRecord(const BlobId& id, const std::string& key, int64_t size, int64_t offset,
                          int64_t length, ByteSink sink) {
    rocksdb::PinnableSlice value;
    const absl::Status status = database_->Get(database_->cas(), key, &value, ToString(id));
    if (absl::IsNotFound(status)) return Damaged(id, "its header is there, its content is not");
    RETURN_IF_ERROR(status);
    if (static_cast<int64_t>(value.size()) != size) return Damaged(id, "a part has another size");
    return sink(ToView(value).substr(offset, length));
  }

  absl::Status ReadChunks(const BlobId& id, absl::string_view staging, int64_t offset,
                          int64_t length, ByteSink sink) {
    while (length > 0) {
      const int64_t index = offset / kChunkBytes;
      const int64_t start = index * kChunkBytes;
      const int64_t size = std::min(kChunkBytes, id.size - start);
      const int64_t take = std::min(length, start + size - offset);
      RETURN_IF_ERROR(ReadRecord(id, ChunkKey(staging, index), size, offset - start, take, sink));
      offset += take;
      length -= take;
    }
    return absl::OkStatus();
  }

  const std::unique_ptr<Database> database_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Storage>> OpenRocksDbStorage(const std::string& dir,
                                                            size_t block_cache_bytes) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(dir, block_cache_bytes));
  RETURN_IF_ERROR(Annotate(DeleteAbandonedChunks(database.get()), dir));
  return std::make_unique<RocksDbStorage>(std::move(database));
}

}  // namespace kernelmill::store
