#include "services/store/adapters/rocksdb/uses.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/rocksdb/rocksdb.h"

namespace kernelmill::store {
namespace {

constexpr size_t kEvictAtOnce = 512;     // bounds how long eviction blocks other uses
constexpr size_t kLookupsAtOnce = 1024;  // bounds the memory that MultiGet pins

// Looks up the items in one call, which reads blocks that they share once.
absl::Status ReadSome(Database* database, absl::Span<const std::string> items,
                      std::vector<FoundUse>* uses) {
  std::vector<std::string> keys;
  keys.reserve(items.size());
  for (const std::string& item : items) keys.push_back(UseKey(item));
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(items.size());
  std::vector<rocksdb::Status> statuses(items.size());
  database->db().MultiGet(rocksdb::ReadOptions(), database->use(), slices.size(), slices.data(),
                          values.data(), statuses.data());
  for (size_t i = 0; i < items.size(); ++i) {
    FoundUse& found = uses->emplace_back();
    if (statuses[i].IsNotFound()) continue;
    const absl::Status read = FromRocksStatus(statuses[i], "looking up a use");
    if (absl::IsDataLoss(read)) return database->NoteDamage(read);
    RETURN_IF_ERROR(read);
    ASSIGN_OR_RETURN(found.use, ParseUse(ToView(values[i])));
    found.found = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<FoundUse>> ReadUses(Database* database,
                                               absl::Span<const std::string> items) {
  std::vector<FoundUse> uses;
  uses.reserve(items.size());
  for (; !items.empty(); items.remove_prefix(std::min(items.size(), kLookupsAtOnce))) {
    RETURN_IF_ERROR(ReadSome(database, items.subspan(0, kLookupsAtOnce), &uses));
  }
  return uses;
}

// Moves the item in the index from its former epoch to `now`. Record and index entry change in one
// batch, so each item has exactly one current entry.
void AddUse(Database* database, absl::string_view item, const FoundUse& before, const UseValue& now,
            rocksdb::WriteBatch* batch) {
  if (before.found && before.use.epoch != now.epoch) {
    batch->Delete(database->use(), IndexKey(before.use.epoch, item));
  }
  batch->Put(database->use(), UseKey(item), EncodeUse(now));
  batch->Put(database->use(), IndexKey(now.epoch, item), "");
}

// Adds the deletion of the content that may exist under this id (a damaged one), and the new use.
// The caller adds the new content.
absl::Status AddReplacement(Database* database, const BlobId& id, Epoch now,
                            rocksdb::WriteBatch* batch, Usage* delta) {
  const std::string item = BlobItem(id.raw_hash());
  ASSIGN_OR_RETURN(const std::vector<FoundUse> before, ReadUses(database, {item}));
  if (!before.front().found) {
    delta->blobs += 1;
    delta->blob_bytes += id.size;
  }
  AddContentDeletion(database, id, batch);
  AddUse(database, item, before.front(), {.epoch = now, .size = id.size}, batch);
  return absl::OkStatus();
}

// Deletes by the size, which tells where the content is. Only chunks need the header, which has
// their staging id; if it cannot be read, the chunks stay as garbage.
void AddContentDeletion(Database* database, const BlobId& id, rocksdb::WriteBatch* batch) {
  batch->Delete(database->use(), DamageKey(id));
  batch->Delete(database->cas(), HeaderKey(id));
  if (id.size <= kMaxInlineBytes) return;
  if (id.size <= kChunkBytes) {
    batch->Delete(database->cas(), BodyKey(id));
    return;
  }
  rocksdb::PinnableSlice value;
  if (!database->Get(database->cas(), HeaderKey(id), &value, "").ok()) return;
  const absl::StatusOr<Header> header = ParseHeader(ToView(value));
  if (!header.ok() || header->place != Header::Place::kChunks) return;
  const uint32_t chunks = static_cast<uint32_t>((id.size + kChunkBytes - 1) / kChunkBytes);
  for (uint32_t i = 0; i < chunks; ++i) {
    batch->Delete(database->cas(), ChunkKey(header->rest, i));
  }
}

void AddItemDeletion(Database* database, absl::string_view item, const UseValue& use,
                     rocksdb::WriteBatch* batch, Usage* delta) {
  if (IsBlobItem(item)) {
    AddContentDeletion(database, MakeBlobId(ItemKey(item), use.size), batch);
    delta->blobs -= 1;
    delta->blob_bytes -= use.size;
  } else {
    batch->Delete(database->ac(), ToSlice(ItemKey(item)));
    delta->results -= 1;
    delta->result_bytes -= use.size;
  }
  batch->Delete(database->use(), UseKey(item));
  batch->Delete(database->use(), IndexKey(use.epoch, item));
}

// A stored blob with the same hash and another size counts as missing: the digest is wrong.
absl::StatusOr<std::vector<Epoch>> RocksDbUses::LastUses(absl::Span<const BlobId> ids) {
  std::vector<std::string> items;
  items.reserve(ids.size());
  for (const BlobId& id : ids) items.push_back(BlobItem(id.raw_hash()));
  ASSIGN_OR_RETURN(const std::vector<FoundUse> uses, ReadUses(database_, items));
  std::vector<Epoch> last;
  last.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool there = uses[i].found && uses[i].use.size == ids[i].size;
    last.push_back(there ? uses[i].use.epoch : kNoEpoch);
  }
  return last;
}

// Written without a sync. A crash may lose uses; Database::NoteBoot then finds it out.
absl::Status RocksDbUses::Touch(absl::Span<const LastUse> uses, Epoch now) {
  rocksdb::WriteBatch batch;
  for (const LastUse& use : uses) {
    const FoundUse before{.found = true, .use = {.epoch = use.epoch, .size = use.id.size}};
    AddUse(database_, BlobItem(use.id.raw_hash()), before, {.epoch = now, .size = use.id.size},
           &batch);
  }
  return database_->WriteLazily(batch, "recording uses");
}

absl::Status RocksDbUses::TouchResult(absl::string_view instance, const BlobId& action, Epoch now) {
  const std::string item = ResultItem(ResultKey(instance, action));
  ASSIGN_OR_RETURN(const auto before, ReadUses(database_, {item}));
  if (!before.front().found) return absl::OkStatus();
  rocksdb::WriteBatch batch;
  AddUse(database_, item, before.front(), {.epoch = now, .size = before.front().use.size}, &batch);
  return database_->WriteLazily(batch, "recording the use of a result");
}

EpochState RocksDbUses::epoch() const {
  absl::MutexLock lock(&epoch_mutex_);
  return epoch_;
}

absl::Status RocksDbUses::SetEpoch(const EpochState& epoch) {
  rocksdb::WriteBatch batch;
  batch.Put(database_->main(), kEpochKey, EncodeEpoch(epoch));
  RETURN_IF_ERROR(database_->WriteLazily(batch, "advancing the epoch"));
  absl::MutexLock lock(&epoch_mutex_);
  epoch_ = epoch;
  return absl::OkStatus();
}

// Eviction walks the index "t" epoch item in order, that is from the least recently used item on.
// An index entry is a hint: a crash can leave an entry whose item was used again or deleted. So
// each entry is compared with the item's record "l", and a stale entry is deleted. A held item is
// recorded as used now, which moves it to the end of the index; the next eviction does not meet it
// again.

absl::StatusOr<std::vector<std::string>> RocksDbUses::OldestKeys(Epoch before) {
  const std::string bound = IndexBound(before);
  const rocksdb::Slice upper(bound);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(options, database_->use()));
  std::vector<std::string> keys;
  for (it->Seek(from_); it->Valid() && keys.size() < kEvictAtOnce; it->Next()) {
    keys.push_back(it->key().ToString());
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "looking for the least recently used items"));
  return keys;
}

absl::StatusOr<bool> RocksDbUses::IsHeld(absl::string_view item) {
  if (!IsBlobItem(item)) return false;
  const std::string prefix = HeldPrefix(ItemKey(item));
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(rocksdb::ReadOptions(), database_->hold()));
  it->Seek(prefix);
  const bool held = it->Valid() && absl::StartsWith(ToView(it->key()), prefix);
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "looking for holds"));
  return held;
}

absl::StatusOr<Evicted> RocksDbUses::EvictOldest(const EvictRequest& request) {
  absl::MutexLock lock(&eviction_mutex_);
  ASSIGN_OR_RETURN(const std::vector<std::string> keys, OldestKeys(request.before));
  std::vector<std::string> items;
  for (const std::string& key : keys) items.emplace_back(IndexKeyItem(key));
  ASSIGN_OR_RETURN(const std::vector<FoundUse> uses, ReadUses(database_, items));
  Evicted evicted;
  Usage delta;
  rocksdb::WriteBatch batch;
  size_t done = 0;
  for (; done < keys.size() && evicted.bytes < request.bytes; ++done) {
    const std::string& item = items[done];
    const FoundUse& use = uses[done];
    if (!use.found || use.use.epoch != IndexKeyEpoch(keys[done])) {  // a stale entry
      batch.Delete(database_->use(), keys[done]);
      continue;
    }
    ASSIGN_OR_RETURN(const bool held, IsHeld(item));
    if (held) {
      AddUse(database_, item, use, {.epoch = request.now, .size = use.use.size}, &batch);
      continue;
    }
    AddItemDeletion(database_, item, use.use, &batch, &delta);
    evicted.bytes += use.use.size;
    if (IsBlobItem(item)) {
      evicted.blobs.push_back(MakeBlobId(ItemKey(item), use.use.size));
    } else {
      ++evicted.results;
    }
  }
  if (batch.Count() > 0) {
    RETURN_IF_ERROR(database_->WriteLazily(batch, "evicting the least recently used items", delta));
  }
  // The next step starts after the last entry that this one handled. Starting at the beginning
  // would read the marks of all deleted entries again.
  if (done > 0) from_ = absl::StrCat(keys[done - 1], absl::string_view("\0", 1));
  evicted.finished = done == keys.size() && keys.size() < kEvictAtOnce;
  return evicted;
}

absl::Status RocksDbUses::CountSome(absl::Span<const std::string> keys, const EvictRequest& request,
                                    Evictable* sum) {
  std::vector<std::string> items;
  for (const std::string& key : keys) items.emplace_back(IndexKeyItem(key));
  ASSIGN_OR_RETURN(const std::vector<FoundUse> uses, ReadUses(database_, items));
  for (size_t i = 0; i < keys.size() && sum->bytes < request.bytes; ++i) {
    const FoundUse& use = uses[i];
    if (!use.found || use.use.epoch != IndexKeyEpoch(keys[i])) continue;
    ASSIGN_OR_RETURN(const bool held, IsHeld(items[i]));
    if (held) continue;
    sum->bytes += use.use.size;
    ++(IsBlobItem(items[i]) ? sum->blobs : sum->results);
  }
  return absl::OkStatus();
}

absl::StatusOr<Evictable> RocksDbUses::CountOldest(const EvictRequest& request) {
  const std::string bound = IndexBound(request.before);
  const rocksdb::Slice upper(bound);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(options, database_->use()));
  Evictable sum;
  std::vector<std::string> keys;
  it->Seek(IndexBound(0));
  while (it->Valid() && sum.bytes < request.bytes) {
    for (keys.clear(); it->Valid() && keys.size() < kLookupsAtOnce; it->Next()) {
      keys.push_back(it->key().ToString());
    }
    RETURN_IF_ERROR(CountSome(keys, request, &sum));
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "counting the items that could be evicted"));
  return sum;
}

absl::StatusOr<HoldValue> RocksDbHolds::Find(absl::string_view name) {
  rocksdb::PinnableSlice value;
  RETURN_IF_ERROR(database_->Get(database_->hold(), HoldKey(name), &value, "hold"));
  ASSIGN_OR_RETURN(HoldValue hold, ParseHold(ToView(value)));
  hold.record.name = std::string(name);
  return hold;
}

// Adds the deletion of the hold's list and of its entries by blob.
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

// Reads the largest id at the first call.
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

// Replaces the hold of that name, if it exists. The new list has a new id, so that its entries by
// blob cannot mix with those of the list before.
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

// The records of uses have the sizes of blobs.
absl::StatusOr<int64_t> RocksDbHolds::SumBytes(absl::string_view name) {
  const absl::StatusOr<HoldValue> hold = Find(name);
  if (absl::IsNotFound(hold.status())) return 0;
  RETURN_IF_ERROR(hold.status());
  rocksdb::PinnableSlice list;
  RETURN_IF_ERROR(
      database_->Get(database_->hold(), HoldListKey(hold->id), &list, "blobs of a hold"));
  constexpr size_t kHashBytes = sizeof(BlobId::hash);
  std::vector<std::string> items;
  for (absl::string_view rest = ToView(list); rest.size() >= kHashBytes;
       rest.remove_prefix(kHashBytes)) {
    items.push_back(BlobItem(rest.substr(0, kHashBytes)));
  }
  ASSIGN_OR_RETURN(const std::vector<FoundUse> uses, ReadUses(database_, items));
  int64_t sum = 0;
  for (const FoundUse& found : uses) sum += found.found ? found.use.size : 0;
  return sum;
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
