#include "services/store/core/testing/memory_storage.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::store {
namespace {

std::string ResultKey(absl::string_view instance, const BlobId& action) {
  return absl::StrCat(ToString(action), "/", instance);
}

}  // namespace

class MemoryStagedBlob : public StagedBlob {
 public:
  explicit MemoryStagedBlob(MemoryStorage* storage) : storage_(storage) {
    absl::MutexLock lock(&storage_->mutex_);
    ++storage_->open_stages_;
  }
  ~MemoryStagedBlob() override {
    absl::MutexLock lock(&storage_->mutex_);
    --storage_->open_stages_;
  }
  absl::Status Append(absl::string_view chunk) override {
    absl::MutexLock lock(&storage_->mutex_);
    RETURN_IF_ERROR(storage_->write_status_);
    bytes_.append(chunk.data(), chunk.size());
    return absl::OkStatus();
  }
  absl::Status Commit(const BlobId& id, Epoch now) override {
    absl::MutexLock lock(&storage_->mutex_);
    RETURN_IF_ERROR(storage_->write_status_);
    storage_->Store(id, bytes_, now);
    return absl::OkStatus();
  }

 private:
  MemoryStorage* const storage_;
  std::string bytes_;
};

void MemoryStorage::Store(const BlobId& id, absl::string_view bytes, Epoch now) {
  const std::string key = ToString(id);
  if (blobs_.count(key) == 0) {
    usage_.blobs += 1;
    usage_.blob_bytes += id.size;
  }
  usage_.written += id.size;
  blobs_[key] = {.bytes = std::string(bytes), .last = now};
  ids_[key] = id;
  marked_.erase(key);
}

absl::StatusOr<std::vector<Epoch>> MemoryStorage::LastUses(absl::Span<const BlobId> ids) {
  absl::MutexLock lock(&mutex_);
  std::vector<Epoch> last;
  for (const BlobId& id : ids) {
    ++look_ups_;
    const auto at = blobs_.find(ToString(id));
    last.push_back(at == blobs_.end() ? kNoEpoch : at->second.last);
  }
  return last;
}

absl::Status MemoryStorage::Touch(absl::Span<const LastUse> uses, Epoch now) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  for (const LastUse& use : uses) {
    ++touches_;
    const auto at = blobs_.find(ToString(use.id));
    if (at == blobs_.end() || at->second.last != use.epoch) {
      return absl::InternalError("the used item has changed");
    }
    at->second.last = now;
  }
  return absl::OkStatus();
}

absl::Status MemoryStorage::Put(absl::Span<const CheckedBlob> blobs, bool fresh, Epoch now) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  for (const CheckedBlob& blob : blobs) {
    if (fresh && blobs_.count(ToString(blob.id)) > 0) {
      return absl::InternalError("a blob that was counted as new already exists");
    }
    Store(blob.id, blob.bytes, now);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<StagedBlob>> MemoryStorage::Stage() {
  return std::make_unique<MemoryStagedBlob>(this);
}

absl::Status MemoryStorage::Read(const BlobId& id, int64_t offset, int64_t length, PieceSink sink) {
  std::string bytes;
  {
    absl::MutexLock lock(&mutex_);
    const auto at = blobs_.find(ToString(id));
    if (at == blobs_.end()) return absl::NotFoundError(ToString(id));
    if (at->second.damaged) return absl::DataLossError(ToString(id));
    bytes = at->second.bytes.substr(offset, length);
  }
  return sink({bytes, nullptr});
}

absl::StatusOr<StoredResult> MemoryStorage::GetResult(absl::string_view instance,
                                                      const BlobId& action) {
  absl::MutexLock lock(&mutex_);
  const auto at = results_.find(ResultKey(instance, action));
  if (at == results_.end()) return absl::NotFoundError(ToString(action));
  return StoredResult{.bytes = at->second.bytes, .last_use = at->second.last};
}

absl::Status MemoryStorage::TouchResult(absl::string_view instance, const BlobId& action,
                                        Epoch now) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  const auto at = results_.find(ResultKey(instance, action));
  if (at != results_.end()) at->second.last = now;
  return absl::OkStatus();
}

absl::Status MemoryStorage::PutResult(absl::string_view instance, const BlobId& action,
                                      absl::string_view result, Epoch now) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  const auto [at, fresh] = results_.try_emplace(ResultKey(instance, action));
  const auto size = static_cast<int64_t>(result.size());
  usage_.results += fresh;
  usage_.result_bytes += size - static_cast<int64_t>(at->second.bytes.size());
  usage_.written += size;
  at->second = {.bytes = std::string(result), .last = now};
  result_ids_[at->first] = {.instance = std::string(instance), .action = action};
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ResultId>> MemoryStorage::ListResults(const ResultId* after,
                                                                   size_t max, ResultSink sink) {
  absl::MutexLock lock(&mutex_);
  auto at = after == nullptr ? results_.begin()
                             : results_.upper_bound(ResultKey(after->instance, after->action));
  std::optional<ResultId> last;
  for (size_t passed = 0; at != results_.end() && passed < max; ++at, ++passed) {
    last = result_ids_[at->first];
    sink(*last, at->second.bytes);
  }
  return last;
}

absl::StatusOr<int64_t> MemoryStorage::DeleteResults(absl::Span<const ResultId> results) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  int64_t deleted = 0;
  for (const ResultId& result : results) {
    const auto at = results_.find(ResultKey(result.instance, result.action));
    if (at == results_.end()) continue;
    ++deleted;
    usage_.result_bytes -= static_cast<int64_t>(at->second.bytes.size());
    results_.erase(at);
  }
  usage_.results -= deleted;
  return deleted;
}

EpochState MemoryStorage::epoch() const {
  absl::MutexLock lock(&mutex_);
  return epoch_;
}

absl::Status MemoryStorage::SetEpoch(const EpochState& epoch) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  epoch_ = epoch;
  return absl::OkStatus();
}

bool MemoryStorage::IsHeld(const std::string& key) const {
  return std::any_of(holds_.begin(), holds_.end(),
                     [&](const auto& hold) { return hold.second.blobs.count(key) > 0; });
}

bool MemoryStorage::EvictOne(const EvictRequest& request, Evicted* evicted) {
  const auto by_use = [](const auto& a, const auto& b) { return a.second.last < b.second.last; };
  const auto blob = std::min_element(blobs_.begin(), blobs_.end(), by_use);
  const auto result = std::min_element(results_.begin(), results_.end(), by_use);
  const bool a_blob = blob != blobs_.end() && (result == results_.end() || by_use(*blob, *result));
  if (a_blob && blob->second.last < request.before) {
    if (IsHeld(blob->first)) {
      blob->second.last = request.now;
      return true;
    }
    const BlobId id = ids_[blob->first];
    evicted->blobs.push_back(id);
    evicted->bytes += id.size;
    usage_.blobs -= 1;
    usage_.blob_bytes -= id.size;
    marked_.erase(blob->first);
    ids_.erase(blob->first);
    blobs_.erase(blob);
    return true;
  }
  if (a_blob || result == results_.end() || result->second.last >= request.before) return false;
  evicted->results += 1;
  const auto size = static_cast<int64_t>(result->second.bytes.size());
  evicted->bytes += size;
  usage_.results -= 1;
  usage_.result_bytes -= size;
  results_.erase(result);
  return true;
}

absl::StatusOr<Evicted> MemoryStorage::EvictOldest(const EvictRequest& request) {
  constexpr int kAtOnce = 8;
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  Evicted evicted;
  for (int i = 0; i < kAtOnce && evicted.bytes < request.bytes; ++i) {
    if (!EvictOne(request, &evicted)) {
      evicted.finished = true;
      break;
    }
  }
  return evicted;
}

absl::StatusOr<Evictable> MemoryStorage::CountOldest(const EvictRequest& request) {
  absl::MutexLock lock(&mutex_);
  std::multimap<Epoch, std::pair<bool, int64_t>> items;  // is a blob; size
  for (const auto& [key, blob] : blobs_) {
    if (!IsHeld(key)) items.insert({blob.last, {true, ids_[key].size}});
  }
  for (const auto& [key, result] : results_) {
    items.insert({result.last, {false, static_cast<int64_t>(result.bytes.size())}});
  }
  Evictable sum;
  for (const auto& [last, item] : items) {
    if (last >= request.before || sum.bytes >= request.bytes) break;
    ++(item.first ? sum.blobs : sum.results);
    sum.bytes += item.second;
  }
  return sum;
}

absl::Status MemoryStorage::Delete(const BlobId& id) {
  absl::MutexLock lock(&mutex_);
  if (blobs_.erase(ToString(id)) == 0) return absl::OkStatus();
  usage_.blobs -= 1;
  usage_.blob_bytes -= id.size;
  marked_.erase(ToString(id));
  ids_.erase(ToString(id));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BlobId>> MemoryStorage::List(const BlobId* after, size_t max) {
  absl::MutexLock lock(&mutex_);
  std::vector<BlobId> ids;
  for (auto at = after == nullptr ? ids_.begin() : ids_.upper_bound(ToString(*after));
       at != ids_.end() && ids.size() < max; ++at) {
    ids.push_back(at->second);
  }
  return ids;
}

absl::StatusOr<std::vector<BlobId>> MemoryStorage::Damaged() {
  absl::MutexLock lock(&mutex_);
  std::vector<BlobId> ids;
  for (const std::string& key : marked_) ids.push_back(ids_[key]);
  return ids;
}

absl::Status MemoryStorage::MarkDamaged(const BlobId& id) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  marked_.insert(ToString(id));
  return absl::OkStatus();
}

absl::Status MemoryStorage::Save(const HoldRecord& hold, absl::Span<const BlobId> blobs) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  HoldEntry entry{.record = hold, .blobs = {}};
  for (const BlobId& id : blobs) entry.blobs.insert(ToString(id));
  holds_[hold.name] = std::move(entry);
  return absl::OkStatus();
}

absl::Status MemoryStorage::Update(const HoldRecord& hold) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  const auto at = holds_.find(hold.name);
  if (at != holds_.end()) at->second.record = hold;
  return absl::OkStatus();
}

absl::Status MemoryStorage::Delete(absl::string_view name) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  holds_.erase(std::string(name));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<HoldRecord>> MemoryStorage::List() {
  absl::MutexLock lock(&mutex_);
  std::vector<HoldRecord> records;
  for (const auto& [name, entry] : holds_) records.push_back(entry.record);
  return records;
}

absl::StatusOr<int64_t> MemoryStorage::SumBytes(absl::string_view name) {
  absl::MutexLock lock(&mutex_);
  const auto at = holds_.find(std::string(name));
  if (at == holds_.end()) return 0;
  int64_t sum = 0;
  for (const std::string& key : at->second.blobs) {
    const auto blob = blobs_.find(key);
    if (blob != blobs_.end()) sum += static_cast<int64_t>(blob->second.bytes.size());
  }
  return sum;
}

Usage MemoryStorage::usage() const {
  absl::MutexLock lock(&mutex_);
  return usage_;
}

absl::StatusOr<Space> MemoryStorage::Measure() {
  absl::MutexLock lock(&mutex_);
  Space space{.disk_bytes = usage_.blob_bytes, .free_bytes = int64_t{1} << 40};
  for (const auto& [key, result] : results_) space.disk_bytes += result.bytes.size();
  return space;
}

absl::StatusOr<int64_t> MemoryStorage::BackUp(const std::string&) {
  return absl::UnimplementedError("memory has no folders");
}

void MemoryStorage::FailWrites(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  write_status_ = status;
}

void MemoryStorage::Damage(const BlobId& id) {
  absl::MutexLock lock(&mutex_);
  const auto at = blobs_.find(ToString(id));
  if (at != blobs_.end()) at->second.damaged = true;
}

void MemoryStorage::Falsify(const BlobId& id, const std::string& bytes) {
  absl::MutexLock lock(&mutex_);
  const auto at = blobs_.find(ToString(id));
  if (at != blobs_.end()) at->second.bytes = bytes;
}

int MemoryStorage::open_stages() const {
  absl::MutexLock lock(&mutex_);
  return open_stages_;
}

int MemoryStorage::touches() const {
  absl::MutexLock lock(&mutex_);
  return touches_;
}

int MemoryStorage::look_ups() const {
  absl::MutexLock lock(&mutex_);
  return look_ups_;
}

}  // namespace kernelmill::store
