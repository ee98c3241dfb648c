#include "services/store/adapters/rocksdb/holds.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/rocksdb/rocksdb.h"

namespace kernelmill::store {

absl::StatusOr<HoldValue> RocksDbHolds::Find(absl::string_view name) {
  rocksdb::PinnableSlice value;
  RETURN_IF_ERROR(database_->Get(database_->hold(), HoldKey(name), &value, "hold"));
  ASSIGN_OR_RETURN(HoldValue hold, ParseHold(ToView(value)));
  hold.record.name = std::string(name);
  return hold;
}

absl::Status RocksDbHolds::AddDeletion(uint64_t id, rocksdb::WriteBatch* batch) {
  rocksdb::PinnableSlice list;
  RETURN_IF_ERROR(database_->Get(database_->hold(), HoldListKey(id), &list, "blobs of a hold"));
  constexpr size_t kHashBytes = sizeof(BlobId::hash);
  for (absl::string_view rest = ToView(list); rest.size() >= kHashBytes;
       rest.remove_prefix(kHashBytes)) {
    batch->Delete(database_->hold(), HeldKey(rest.substr(0, kHashBytes), id));
  }
  batch->Delete(database_->hold(), HoldListKey(id));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> RocksDbHolds::NextId() {
  if (next_id_ == 0) {
    next_id_ = 1;
    const std::unique_ptr<rocksdb::Iterator> it(
        database_->db().NewIterator(rocksdb::ReadOptions(), database_->hold()));
    for (it->Seek(ToSlice(kHoldPrefix));
         it->Valid() && absl::StartsWith(ToView(it->key()), kHoldPrefix); it->Next()) {
      ASSIGN_OR_RETURN(const HoldValue hold, ParseHold(ToView(it->value())));
      next_id_ = std::max(next_id_, hold.id + 1);
    }
    RETURN_IF_ERROR(FromRocksStatus(it->status(), "reading the holds"));
  }
  return next_id_++;
}

absl::Status RocksDbHolds::Save(const HoldRecord& hold, absl::Span<const BlobId> blobs) {
  absl::MutexLock lock(&mutex_);
  rocksdb::WriteBatch batch;
  const absl::StatusOr<HoldValue> before = Find(hold.name);
  if (before.ok()) {
    RETURN_IF_ERROR(AddDeletion(before->id, &batch));
  } else if (!absl::IsNotFound(before.status())) {
    return before.status();
  }
  ASSIGN_OR_RETURN(const uint64_t id, NextId());
  std::string list;
  list.reserve(blobs.size() * sizeof(BlobId::hash));
  for (const BlobId& blob : blobs) {
    absl::StrAppend(&list, blob.raw_hash());
    batch.Put(database_->hold(), HeldKey(blob.raw_hash(), id), "");
  }
  batch.Put(database_->hold(), HoldListKey(id), list);
  batch.Put(database_->hold(), HoldKey(hold.name), EncodeHold({.id = id, .record = hold}));
  return database_->WriteDurably(batch, "writing a hold");
}

absl::Status RocksDbHolds::Update(const HoldRecord& hold) {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const HoldValue before, Find(hold.name));
  rocksdb::WriteBatch batch;
  batch.Put(database_->hold(), HoldKey(hold.name), EncodeHold({.id = before.id, .record = hold}));
  return database_->WriteDurably(batch, "writing a hold");
}

absl::Status RocksDbHolds::Delete(absl::string_view name) {
  absl::MutexLock lock(&mutex_);
  const absl::StatusOr<HoldValue> hold = Find(name);
  if (absl::IsNotFound(hold.status())) return absl::OkStatus();
  RETURN_IF_ERROR(hold.status());
  rocksdb::WriteBatch batch;
  RETURN_IF_ERROR(AddDeletion(hold->id, &batch));
  batch.Delete(database_->hold(), HoldKey(name));
  return database_->WriteDurably(batch, "ending a hold");
}

absl::StatusOr<std::vector<HoldRecord>> RocksDbHolds::List() {
  std::vector<HoldRecord> holds;
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(rocksdb::ReadOptions(), database_->hold()));
  for (it->Seek(ToSlice(kHoldPrefix));
       it->Valid() && absl::StartsWith(ToView(it->key()), kHoldPrefix); it->Next()) {
    ASSIGN_OR_RETURN(HoldValue hold, ParseHold(ToView(it->value())));
    hold.record.name = std::string(ToView(it->key()).substr(kHoldPrefix.size()));
    holds.push_back(std::move(hold.record));
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "reading the holds"));
  return holds;
}

}  // namespace kernelmill::store
