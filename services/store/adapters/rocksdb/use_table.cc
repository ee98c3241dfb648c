#include "services/store/adapters/rocksdb/use_table.h"

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/rocksdb/status.h"

namespace kernelmill::store {
namespace {

constexpr size_t kDropAtOnce = 512;      // bounds how long nobody may touch
constexpr size_t kLookupsAtOnce = 1024;  // bounds what MultiGet pins

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
    RETURN_IF_ERROR(FromRocksStatus(statuses[i], "looking up a use"));
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

void AddUse(Database* database, absl::string_view item, const FoundUse& before, const UseValue& now,
            rocksdb::WriteBatch* batch) {
  if (before.found && before.use.tick != now.tick) {
    batch->Delete(database->use(), IndexKey(before.use.tick, item));
  }
  batch->Put(database->use(), UseKey(item), EncodeUse(now));
  batch->Put(database->use(), IndexKey(now.tick, item), "");
}

absl::Status AddReplacement(Database* database, const BlobId& id, Tick now,
                            rocksdb::WriteBatch* batch, Usage* delta) {
  const std::string item = BlobItem(id.raw_hash());
  ASSIGN_OR_RETURN(const std::vector<FoundUse> before, ReadUses(database, {item}));
  if (!before.front().found) {
    delta->blobs += 1;
    delta->blob_bytes += id.size;
  }
  AddContentDeletion(database, id, batch);
  AddUse(database, item, before.front(), {.tick = now, .size = id.size}, batch);
  return absl::OkStatus();
}

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
    AddContentDeletion(database, MakeBlobId(KeyOfItem(item), use.size), batch);
    delta->blobs -= 1;
    delta->blob_bytes -= use.size;
  } else {
    batch->Delete(database->ac(), ToSlice(KeyOfItem(item)));
    delta->results -= 1;
  }
  batch->Delete(database->use(), UseKey(item));
  batch->Delete(database->use(), IndexKey(use.tick, item));
}

absl::StatusOr<std::vector<std::string>> Dropper::OldestKeys(Tick before) {
  const std::string bound = IndexBound(before);
  const rocksdb::Slice upper(bound);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(options, database_->use()));
  std::vector<std::string> keys;
  for (it->Seek(from_); it->Valid() && keys.size() < kDropAtOnce; it->Next()) {
    keys.push_back(it->key().ToString());
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "looking for what was used longest ago"));
  return keys;
}

absl::StatusOr<bool> Dropper::IsHeld(absl::string_view item) {
  if (!IsBlobItem(item)) return false;
  const std::string prefix = HeldPrefix(KeyOfItem(item));
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(rocksdb::ReadOptions(), database_->hold()));
  it->Seek(prefix);
  const bool held = it->Valid() && absl::StartsWith(ToView(it->key()), prefix);
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "looking for holds"));
  return held;
}

absl::StatusOr<Dropped> Dropper::DropOldest(const DropRequest& request) {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const std::vector<std::string> keys, OldestKeys(request.before));
  std::vector<std::string> items;
  for (const std::string& key : keys) items.emplace_back(ItemOfIndexKey(key));
  ASSIGN_OR_RETURN(const std::vector<FoundUse> uses, ReadUses(database_, items));
  Dropped dropped;
  Usage delta;
  rocksdb::WriteBatch batch;
  size_t done = 0;
  for (; done < keys.size() && dropped.bytes < request.bytes; ++done) {
    const std::string& item = items[done];
    const FoundUse& use = uses[done];
    if (!use.found || use.use.tick != TickOfIndexKey(keys[done])) {  // the index is a hint
      batch.Delete(database_->use(), keys[done]);
      continue;
    }
    ASSIGN_OR_RETURN(const bool held, IsHeld(item));
    if (held) {
      AddUse(database_, item, use, {.tick = request.now, .size = use.use.size}, &batch);
      continue;
    }
    AddItemDeletion(database_, item, use.use, &batch, &delta);
    dropped.bytes += use.use.size;
    if (IsBlobItem(item)) {
      dropped.blobs.push_back(MakeBlobId(KeyOfItem(item), use.use.size));
    } else {
      ++dropped.results;
    }
  }
  if (batch.Count() > 0) {
    RETURN_IF_ERROR(database_->WriteLazily(batch, "dropping what was used longest ago", delta));
  }
  if (done > 0) from_ = absl::StrCat(keys[done - 1], absl::string_view("\0", 1));
  dropped.finished = done == keys.size() && keys.size() < kDropAtOnce;
  return dropped;
}

}  // namespace kernelmill::store
