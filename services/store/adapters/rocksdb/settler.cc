#include "services/store/adapters/rocksdb/settler.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/status.h"
#include "services/store/adapters/rocksdb/records.h"
#include "services/store/adapters/rocksdb/staged_blob.h"
#include "services/store/adapters/rocksdb/use_table.h"

namespace kernelmill::store {
namespace {

constexpr size_t kItemsAStep = 1000;

}  // namespace

absl::StatusOr<std::unique_ptr<Settler>> Settler::Open(Database* database) {
  std::unique_ptr<Settler> settler(new Settler(database));
  absl::MutexLock lock(&settler->mutex_);
  ASSIGN_OR_RETURN(settler->stagings_, AbandonedStagings(database));
  rocksdb::PinnableSlice next;
  const absl::Status status = database->Get(database->main(), kSettleKey, &next, kSettleKey);
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  settler->next_ = next.ToString();
  settler->uses_are_missing_ = status.ok();
  return settler;
}

absl::StatusOr<bool> Settler::Step(Tick now) {
  absl::MutexLock lock(&mutex_);
  if (!stagings_.empty()) {
    RETURN_IF_ERROR(DeleteStaging(database_, stagings_.back()));
    stagings_.pop_back();
    if (stagings_.empty()) LogInfo("deleted what broken uploads had left");
    return false;
  }
  if (!uses_are_missing_) return true;
  if (!next_.empty()) RETURN_IF_ERROR(AddUses(now));
  if (!next_.empty()) return false;
  RETURN_IF_ERROR(Finish());
  return true;
}

absl::Status Settler::AddUses(Tick now) {
  const bool results = next_.front() == 'a';
  const absl::string_view prefix = results ? absl::string_view() : kHeaderPrefix;
  const std::unique_ptr<rocksdb::Iterator> it(database_->db().NewIterator(
      rocksdb::ReadOptions(), results ? database_->ac() : database_->cas()));
  std::vector<std::string> items;
  std::vector<int64_t> sizes;
  for (it->Seek(next_.substr(1));
       it->Valid() && absl::StartsWith(ToView(it->key()), prefix) && items.size() < kItemsAStep;
       it->Next()) {
    if (results) {
      items.push_back(ResultItem(ToView(it->key())));
      sizes.push_back(static_cast<int64_t>(it->value().size()));
      continue;
    }
    const absl::StatusOr<Header> header = ParseHeader(ToView(it->value()));
    if (!header.ok()) continue;  // it cannot be read; it is as good as not there
    items.push_back(BlobItem(ToView(it->key()).substr(prefix.size())));
    sizes.push_back(header->size);
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "reading an older database"));
  const bool more = it->Valid() && absl::StartsWith(ToView(it->key()), prefix);
  std::string next;
  if (more) {
    next = absl::StrCat(next_.substr(0, 1), ToView(it->key()));
  } else if (!results) {
    next = "a";
  }
  ASSIGN_OR_RETURN(const std::vector<FoundUse> uses, ReadUses(database_, items));
  rocksdb::WriteBatch batch;
  Usage delta;
  for (size_t i = 0; i < items.size(); ++i) {
    if (uses[i].found) continue;  // written since
    AddUse(database_, items[i], uses[i], {.tick = now, .size = sizes[i]}, &batch);
    delta.results += results ? 1 : 0;
    delta.blobs += results ? 0 : 1;
    delta.blob_bytes += results ? 0 : sizes[i];
  }
  if (!next.empty()) batch.Put(database_->main(), kSettleKey, next);
  RETURN_IF_ERROR(database_->WriteLazily(batch, "bringing an older database up to date", delta));
  next_ = next;
  return absl::OkStatus();
}

absl::Status Settler::Finish() {
  rocksdb::WriteBatch batch;
  batch.Delete(database_->main(), kSettleKey);
  RETURN_IF_ERROR(database_->WriteDurably(batch, "bringing an older database up to date"));
  uses_are_missing_.store(false, std::memory_order_release);
  const Usage usage = database_->usage();
  LogInfo("brought an older database up to date",
          {{"blobs", usage.blobs}, {"results", usage.results}});
  return absl::OkStatus();
}

}  // namespace kernelmill::store
