#include "services/store/core/testing/memory_storage.h"

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::store {

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
  absl::Status Commit(const BlobId& id) override {
    absl::MutexLock lock(&storage_->mutex_);
    RETURN_IF_ERROR(storage_->write_status_);
    storage_->blobs_[ToString(id)] = bytes_;
    return absl::OkStatus();
  }

 private:
  MemoryStorage* const storage_;
  std::string bytes_;
};

absl::StatusOr<std::vector<bool>> MemoryStorage::Contains(absl::Span<const BlobId> ids) {
  absl::MutexLock lock(&mutex_);
  std::vector<bool> held;
  for (const BlobId& id : ids) held.push_back(blobs_.count(ToString(id)) > 0);
  return held;
}

absl::Status MemoryStorage::Put(absl::Span<const CheckedBlob> blobs) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  for (const CheckedBlob& blob : blobs) blobs_[ToString(blob.id)] = std::string(blob.bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<StagedBlob>> MemoryStorage::Stage() {
  return std::make_unique<MemoryStagedBlob>(this);
}

absl::Status MemoryStorage::Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink) {
  std::string bytes;
  {
    absl::MutexLock lock(&mutex_);
    const auto at = blobs_.find(ToString(id));
    if (at == blobs_.end()) return absl::NotFoundError(ToString(id));
    bytes = at->second.substr(offset, length);
  }
  return sink(bytes);
}

absl::StatusOr<std::string> MemoryStorage::GetResult(absl::string_view instance,
                                                     const BlobId& action) {
  absl::MutexLock lock(&mutex_);
  const auto at = results_.find(absl::StrCat(ToString(action), "/", instance));
  if (at == results_.end()) return absl::NotFoundError(ToString(action));
  return at->second;
}

absl::Status MemoryStorage::PutResult(absl::string_view instance, const BlobId& action,
                                      absl::string_view result) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(write_status_);
  results_[absl::StrCat(ToString(action), "/", instance)] = std::string(result);
  return absl::OkStatus();
}

void MemoryStorage::FailWrites(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  write_status_ = status;
}

bool MemoryStorage::Drop(const BlobId& id) {
  absl::MutexLock lock(&mutex_);
  return blobs_.erase(ToString(id)) > 0;
}

int MemoryStorage::open_stages() const {
  absl::MutexLock lock(&mutex_);
  return open_stages_;
}

}  // namespace kernelmill::store
