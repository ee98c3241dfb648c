#include "services/store/adapters/rocksdb/rocksdb_storage.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/rocksdb/status.h"
#include "services/store/adapters/rocksdb/backup.h"
#include "services/store/adapters/rocksdb/database.h"
#include "services/store/adapters/rocksdb/hold_table.h"
#include "services/store/adapters/rocksdb/packing.h"
#include "services/store/adapters/rocksdb/reclaim.h"
#include "services/store/adapters/rocksdb/records.h"
#include "services/store/adapters/rocksdb/settler.h"
#include "services/store/adapters/rocksdb/staged_blob.h"
#include "services/store/adapters/rocksdb/use_table.h"

namespace kernelmill::store {
namespace {

absl::Status Broken(const BlobId& id, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(ToString(id), ": ", what));
}

void AddWhole(Database* database, const CheckedBlob& blob, rocksdb::WriteBatch* batch) {
  const bool in_line = blob.id.size <= kMaxInlineBytes;
  if (!in_line) PackedRecord(blob.bytes).Put(database->cas(), BodyKey(blob.id), batch);
  batch->Put(database->cas(), HeaderKey(blob.id),
             EncodeHeader({in_line ? Header::Place::kInline : Header::Place::kBody, blob.id.size,
                           in_line ? blob.bytes : absl::string_view()}));
}

class RocksDbStorage : public Storage {
 public:
  RocksDbStorage(std::unique_ptr<Database> database, std::unique_ptr<Settler> settler)
      : database_(std::move(database)),
        settler_(std::move(settler)),
        holds_(database_.get()),
        dropper_(database_.get()),
        clock_(database_->opened_clock()) {}

  absl::StatusOr<std::vector<Tick>> LastUses(absl::Span<const BlobId> ids) override {
    std::vector<std::string> items;
    items.reserve(ids.size());
    for (const BlobId& id : ids) items.push_back(BlobItem(id.raw_hash()));
    // Asked before the records are read: a blob gets its record before it loses this way.
    const bool look_at_headers = settler_->uses_are_missing();
    ASSIGN_OR_RETURN(const std::vector<FoundUse> uses, ReadUses(database_.get(), items));
    std::vector<Tick> last;
    last.reserve(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool held = uses[i].found && uses[i].use.size == ids[i].size;
      last.push_back(held ? uses[i].use.tick : kNotHeld);
      if (!uses[i].found && look_at_headers) {
        ASSIGN_OR_RETURN(const bool header, HasHeader(ids[i]));
        if (header) last.back() = kUnmarked;
      }
    }
    return last;
  }

  absl::Status Touch(absl::Span<const Use> uses, Tick now) override {
    rocksdb::WriteBatch batch;
    for (const Use& use : uses) {
      if (use.last == kUnmarked) continue;  // Settle will mark it, later than now
      const FoundUse before{.found = true, .use = {.tick = use.last, .size = use.id.size}};
      AddUse(database_.get(), BlobItem(use.id.raw_hash()), before,
             {.tick = now, .size = use.id.size}, &batch);
    }
    if (batch.Count() == 0) return absl::OkStatus();
    return database_->WriteLazily(batch, "marking uses");
  }

  absl::Status Put(absl::Span<const CheckedBlob> blobs, bool fresh, Tick now) override {
    rocksdb::WriteBatch batch;
    Usage delta;
    for (const CheckedBlob& blob : blobs) {
      if (blob.id.size > kChunkBytes) return absl::InternalError("a large blob was not staged");
      delta.written += blob.id.size;
      if (fresh) {
        delta.blobs += 1;
        delta.blob_bytes += blob.id.size;
        AddUse(database_.get(), BlobItem(blob.id.raw_hash()), {},
               {.tick = now, .size = blob.id.size}, &batch);
      } else {
        RETURN_IF_ERROR(AddReplacement(database_.get(), blob.id, now, &batch, &delta));
      }
      AddWhole(database_.get(), blob, &batch);
    }
    return database_->WriteDurably(batch, "writing blobs", delta);
  }

  absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() override {
    return NewRocksStagedBlob(database_.get());
  }

  absl::Status Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink) override {
    ASSIGN_OR_RETURN(const bool done, ReadBody(id, offset, length, sink));
    if (done) return absl::OkStatus();
    rocksdb::PinnableSlice value;
    RETURN_IF_ERROR(database_->Get(database_->cas(), HeaderKey(id), &value, ToString(id)));
    const absl::StatusOr<Header> header = ParseHeader(ToView(value));
    if (!header.ok()) return Annotate(header.status(), ToString(id));
    if (header->size != id.size) {
      return absl::NotFoundError(absl::StrCat(ToString(id), ": held with another size"));
    }
    switch (header->place) {
      case Header::Place::kInline:
        // Its block may have been read along with a record's, which checks itself alone.
        if (Sha256(header->rest) != id.raw_hash()) return Broken(id, "its content does not match");
        return sink(header->rest.substr(offset, length));
      case Header::Place::kBody:
        return ReadRecord(id, BodyKey(id), id.size, offset, length, sink);
      case Header::Place::kChunks:
        return ReadChunks(id, header->rest, offset, length, sink);
    }
    return Broken(id, "a header of an unknown kind");
  }

  absl::StatusOr<StoredResult> GetResult(absl::string_view instance,
                                         const BlobId& action) override {
    const std::string key = ResultKey(instance, action);
    rocksdb::PinnableSlice value;
    RETURN_IF_ERROR(database_->Get(database_->ac(), key, &value,
                                   absl::StrCat("result of action ", ToString(action))));
    ASSIGN_OR_RETURN(const auto uses, ReadUses(database_.get(), {ResultItem(key)}));
    return StoredResult{.bytes = value.ToString(),
                        .last_use = uses.front().found ? uses.front().use.tick : kUnmarked};
  }

  absl::Status TouchResult(absl::string_view instance, const BlobId& action, Tick last,
                           Tick now) override {
    if (last == kUnmarked) return absl::OkStatus();
    const std::string item = ResultItem(ResultKey(instance, action));
    ASSIGN_OR_RETURN(const auto before, ReadUses(database_.get(), {item}));
    if (!before.front().found) return absl::OkStatus();
    rocksdb::WriteBatch batch;
    AddUse(database_.get(), item, before.front(), {.tick = now, .size = before.front().use.size},
           &batch);
    return database_->WriteLazily(batch, "marking the use of a result");
  }

  absl::Status PutResult(absl::string_view instance, const BlobId& action, absl::string_view result,
                         Tick now) override {
    const std::string key = ResultKey(instance, action);
    const std::string item = ResultItem(key);
    ASSIGN_OR_RETURN(const auto before, ReadUses(database_.get(), {item}));
    const int64_t size = static_cast<int64_t>(result.size());
    rocksdb::WriteBatch batch;
    batch.Put(database_->ac(), key, ToSlice(result));
    AddUse(database_.get(), item, before.front(), {.tick = now, .size = size}, &batch);
    return database_->WriteDurably(batch, "writing a result",
                                   {.results = before.front().found ? 0 : 1, .written = size});
  }

  ClockState clock() const override {
    absl::MutexLock lock(&mutex_);
    return clock_;
  }

  absl::Status SetClock(const ClockState& clock) override {
    rocksdb::WriteBatch batch;
    batch.Put(database_->main(), kClockKey, EncodeClock(clock));
    RETURN_IF_ERROR(database_->WriteLazily(batch, "advancing the clock of uses"));
    absl::MutexLock lock(&mutex_);
    clock_ = clock;
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Settle(Tick now) override { return settler_->Step(now); }

  absl::StatusOr<Dropped> DropOldest(const DropRequest& request) override {
    return dropper_.DropOldest(request);
  }

  absl::Status Drop(const BlobId& id) override {
    const std::string item = BlobItem(id.raw_hash());
    ASSIGN_OR_RETURN(const auto uses, ReadUses(database_.get(), {item}));
    rocksdb::WriteBatch batch;
    Usage delta;
    if (uses.front().found) {
      AddItemDeletion(database_.get(), item, uses.front().use, &batch, &delta);
    } else {
      AddContentDeletion(database_.get(), id, &batch);
    }
    return database_->WriteDurably(batch, "dropping a blob", delta);
  }

  absl::Status Reclaim() override {
    ASSIGN_OR_RETURN(const std::vector<BlobId> damaged, Damaged());
    return ReclaimSpace(database_.get(), damaged.empty(), &stop_);
  }

  absl::StatusOr<std::vector<BlobId>> List(const BlobId* after, size_t max) override {
    std::string from(kBlobUsePrefix);
    if (after != nullptr) absl::StrAppend(&from, after->raw_hash(), absl::string_view("\0", 1));
    return ListRecords(kBlobUsePrefix, from, max, [](absl::string_view value) {
      const absl::StatusOr<UseValue> use = ParseUse(value);
      return use.ok() ? absl::StatusOr<int64_t>(use->size) : use.status();
    });
  }

  absl::StatusOr<std::vector<BlobId>> Damaged() override {
    return ListRecords(kDamagePrefix, std::string(kDamagePrefix), kMaxDamaged, ParseSize);
  }

  absl::Status MarkDamaged(const BlobId& id) override {
    rocksdb::WriteBatch batch;
    batch.Put(database_->use(), DamageKey(id), EncodeSize(id.size));
    return database_->WriteLazily(batch, "marking damage");
  }

  absl::Status SaveHold(const HoldRecord& hold, absl::Span<const BlobId> blobs) override {
    return holds_.Save(hold, blobs);
  }
  absl::Status SaveFence(const HoldRecord& hold) override { return holds_.SaveFence(hold); }
  absl::Status DeleteHold(absl::string_view name) override { return holds_.Delete(name); }
  absl::StatusOr<std::vector<HoldRecord>> Holds() override { return holds_.All(); }

  Usage usage() const override { return database_->usage(); }
  absl::StatusOr<Space> MeasureSpace() override { return MeasureDatabase(database_.get()); }
  absl::StatusOr<int64_t> BackUp(const std::string& dir) override {
    return store::BackUp(&database_->db(), dir, stop_);
  }
  void Stop() override { stop_ = true; }

 private:
  static constexpr Tick kUnmarked = 0;  // no tick of the clock, which begins with 1
  static constexpr size_t kMaxDamaged = 1'000'000;

  absl::StatusOr<bool> HasHeader(const BlobId& id) {
    rocksdb::PinnableSlice value;
    const absl::Status status =
        database_->Get(database_->cas(), HeaderKey(id), &value, ToString(id));
    if (absl::IsNotFound(status)) return false;
    RETURN_IF_ERROR(status);
    const absl::StatusOr<Header> header = ParseHeader(ToView(value));
    if (!header.ok()) return Annotate(header.status(), ToString(id));
    return header->size == id.size;
  }

  // The blobs whose hashes stand after `prefix` in the keys of "use", from the key `from` on.
  absl::StatusOr<std::vector<BlobId>> ListRecords(
      absl::string_view prefix, const std::string& from, size_t max,
      absl::FunctionRef<absl::StatusOr<int64_t>(absl::string_view)> size_of) {
    std::vector<BlobId> ids;
    const std::unique_ptr<rocksdb::Iterator> it(
        database_->db().NewIterator(rocksdb::ReadOptions(), database_->use()));
    for (it->Seek(from);
         it->Valid() && absl::StartsWith(ToView(it->key()), prefix) && ids.size() < max;
         it->Next()) {
      const absl::string_view hash = ToView(it->key()).substr(prefix.size());
      if (hash.size() != sizeof(BlobId::hash)) return absl::DataLossError("a key is too short");
      ASSIGN_OR_RETURN(const int64_t size, size_of(ToView(it->value())));
      ids.push_back(MakeBlobId(hash, size));
    }
    RETURN_IF_ERROR(FromRocksStatus(it->status(), "listing blobs"));
    return ids;
  }

  // Passes a part of a body without a look at its header: the one is there if and only if the other
  // is. False: there is none, or something is wrong with it; the header tells what.
  absl::StatusOr<bool> ReadBody(const BlobId& id, int64_t offset, int64_t length, ByteSink sink) {
    if (id.size <= kMaxInlineBytes || id.size > kChunkBytes) return false;
    rocksdb::PinnableSlice value;
    const absl::Status status =
        database_->GetUnchecked(database_->cas(), BodyKey(id), &value, ToString(id));
    if (!status.ok() || IsPlainRecord(ToView(value), id.size)) return false;
    std::string buffer;
    const absl::StatusOr<absl::string_view> content = Unpack(ToView(value), id.size, &buffer);
    if (!content.ok()) return false;
    RETURN_IF_ERROR(sink(content->substr(offset, length)));
    return true;
  }

  // Passes a part of the content in the record under `key`, which has `size` bytes.
  absl::Status ReadRecord(const BlobId& id, const std::string& key, int64_t size, int64_t offset,
                          int64_t length, ByteSink sink) {
    rocksdb::PinnableSlice value;
    const absl::Status status =
        database_->GetUnchecked(database_->cas(), key, &value, ToString(id));
    if (absl::IsNotFound(status)) return Broken(id, "its header is there, its content is not");
    RETURN_IF_ERROR(status);
    if (IsPlainRecord(ToView(value), size)) {
      value.Reset();
      RETURN_IF_ERROR(database_->Get(database_->cas(), key, &value, ToString(id)));
      return sink(ToView(value).substr(offset, length));
    }
    std::string buffer;
    const absl::StatusOr<absl::string_view> content = Unpack(ToView(value), size, &buffer);
    if (!content.ok()) return Annotate(content.status(), ToString(id));
    return sink(content->substr(offset, length));
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
  const std::unique_ptr<Settler> settler_;
  std::atomic<bool> stop_{false};
  HoldTable holds_;
  Dropper dropper_;
  mutable absl::Mutex mutex_;
  ClockState clock_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Storage>> OpenRocksDbStorage(const std::string& dir,
                                                            const RocksDbOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(dir, options));
  ASSIGN_OR_RETURN(std::unique_ptr<Settler> settler, Settler::Open(database.get()));
  return std::make_unique<RocksDbStorage>(std::move(database), std::move(settler));
}

}  // namespace kernelmill::store
