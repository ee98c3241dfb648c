#include "services/store/adapters/rocksdb/database/counters.h"

#include <rocksdb/db.h>

#include <limits>
#include <memory>

#include "absl/strings/match.h"
#include "common/base/status.h"
#include "common/rocksdb/rocksdb.h"
#include "services/store/adapters/rocksdb/database/records.h"

namespace kernelmill::store {
namespace {

constexpr size_t kNoSlot = std::numeric_limits<size_t>::max();

// The basic idea: the sums of blobs and bytes must be stored in the same batch as the blobs, but
// one row for all writers would make them wait for each other. So there are several rows ("slots"):
// a write takes a free slot, puts the slot's new value into its batch, and gives the slot back when
// the write has ended. A slot has one writer at a time, so its row is never overwritten with an
// older value. The sum of all slots is the total. There are as many slots as there were concurrent
// writes.
void Add(Usage* to, const Usage& delta) {
  to->blobs += delta.blobs;
  to->blob_bytes += delta.blob_bytes;
  to->results += delta.results;
  to->result_bytes += delta.result_bytes;
  to->written += delta.written;
}

bool IsNothing(const Usage& delta) {
  return delta.blobs == 0 && delta.blob_bytes == 0 && delta.results == 0 &&
         delta.result_bytes == 0 && delta.written == 0;
}

}  // namespace

Counters::Change::Change(Counters* counters, const Usage& delta, rocksdb::WriteBatch* batch)
    : counters_(counters), delta_(delta), slot_(kNoSlot) {
  if (IsNothing(delta)) return;
  Usage value;
  {
    absl::MutexLock lock(&counters_->mutex_);
    if (counters_->free_.empty()) {
      counters_->free_.push_back(counters_->slots_.size());
      counters_->slots_.emplace_back();
    }
    slot_ = counters_->free_.back();
    counters_->free_.pop_back();
    value = counters_->slots_[slot_];
  }
  Add(&value, delta);
  batch->Put(counters_->family_, CounterKey(static_cast<uint32_t>(slot_)), EncodeUsage(value));
}

// Without Commit the slot keeps its old value; the row on disk was not written either.
Counters::Change::~Change() {
  if (slot_ == kNoSlot) return;
  absl::MutexLock lock(&counters_->mutex_);
  counters_->free_.push_back(slot_);
}

void Counters::Change::Commit() {
  if (slot_ == kNoSlot) return;
  absl::MutexLock lock(&counters_->mutex_);
  Add(&counters_->slots_[slot_], delta_);
  Add(&counters_->sum_, delta_);
}

absl::Status Counters::Load(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  absl::MutexLock lock(&mutex_);
  family_ = family;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions(), family));
  for (it->Seek(ToSlice(kCounterPrefix));
       it->Valid() && absl::StartsWith(ToView(it->key()), kCounterPrefix); it->Next()) {
    ASSIGN_OR_RETURN(const Usage slot, ParseUsage(ToView(it->value())));
    free_.push_back(slots_.size());
    slots_.push_back(slot);
    Add(&sum_, slot);
  }
  return FromRocksStatus(it->status(), "reading the counters");
}

Usage Counters::sum() const {
  absl::MutexLock lock(&mutex_);
  return sum_;
}

}  // namespace kernelmill::store
