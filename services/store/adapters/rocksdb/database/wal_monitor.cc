#include "services/store/adapters/rocksdb/database/wal_monitor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"

namespace kernelmill::store {

class MonitoredWal : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  MonitoredWal(std::unique_ptr<rocksdb::FSWritableFile> file, uint64_t number, WalMonitor* monitor)
      : FSWritableFileOwnerWrapper(std::move(file)), number_(number), monitor_(monitor) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    return Appended(data.size(), FSWritableFileOwnerWrapper::Append(data, options, debug));
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& info,
                           rocksdb::IODebugContext* debug) override {
    return Appended(data.size(), FSWritableFileOwnerWrapper::Append(data, options, info, debug));
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    const uint64_t size = size_;
    return Synced(size, FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    const uint64_t size = size_;
    return Synced(size, FSWritableFileOwnerWrapper::Fsync(options, debug));
  }

 private:
  rocksdb::IOStatus Appended(uint64_t bytes, rocksdb::IOStatus status) {
    if (status.ok()) {
      size_ += bytes;
    } else {
      monitor_->Failed(status, "writing the write-ahead log");
    }
    return status;
  }
  rocksdb::IOStatus Synced(uint64_t size, rocksdb::IOStatus status) {
    if (status.ok()) {
      monitor_->Synced(number_, size);
    } else {
      monitor_->Failed(status, "syncing the write-ahead log");
    }
    return status;
  }

  const uint64_t number_;
  WalMonitor* const monitor_;
  std::atomic<uint64_t> size_{0};
};

WalMonitor::WalMonitor(const std::shared_ptr<rocksdb::FileSystem>& target,
                       std::unique_ptr<SyncedSizes> sizes,
                       std::function<void(const absl::Status&)> on_broken)
    : FileSystemWrapper(target), sizes_(std::move(sizes)), on_broken_(std::move(on_broken)) {}

rocksdb::IOStatus WalMonitor::NewWritableFile(const std::string& name,
                                              const rocksdb::FileOptions& options,
                                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                                              rocksdb::IODebugContext* debug) {
  rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
  uint64_t number = 0;
  if (status.ok() && ParseWalName(name, &number)) {
    *file = std::make_unique<MonitoredWal>(std::move(*file), number, this);
  }
  return status;
}

void WalMonitor::Synced(uint64_t number, uint64_t size) { sizes_->Note(number, size); }

void WalMonitor::Failed(const rocksdb::Status& status, const char* what) {
  if (status.IsNoSpace()) return;  // RocksDB goes on by itself once there is room
  {
    absl::MutexLock lock(&mutex_);
    if (broken_) return;
    failure_ = absl::UnavailableError(
        absl::StrCat(what, " failed; nothing is acknowledged any more: ", status.ToString()));
    broken_ = true;
  }
  LogError("the database can no longer be written", {{"error", this->status().ToString()}});
  if (on_broken_) on_broken_(this->status());
}

absl::Status WalMonitor::status() const {
  if (!broken_) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  return failure_;
}

namespace {

// What RocksDB finds damaged is no such failure: it refuses to write, and what can be read is
// served.
class FailureListener : public rocksdb::EventListener {
 public:
  explicit FailureListener(std::shared_ptr<WalMonitor> monitor) : monitor_(std::move(monitor)) {}
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    if (error->IsIOError()) monitor_->Failed(*error, "writing the database");
  }

 private:
  const std::shared_ptr<WalMonitor> monitor_;
};

}  // namespace

std::shared_ptr<rocksdb::EventListener> NewFailureListener(std::shared_ptr<WalMonitor> monitor) {
  return std::make_shared<FailureListener>(std::move(monitor));
}

}  // namespace kernelmill::store
