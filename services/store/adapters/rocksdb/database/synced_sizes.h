#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_SYNCED_SIZES_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_SYNCED_SIZES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/base/file.h"

namespace kernelmill::store {

// A small file beside the database that says how far each of the latest logs has been synced, which
// is how far its writes were acknowledged. It tells a torn tail, which nobody was promised, from
// damage to what somebody was. It is written after each sync and never synced itself: a process
// that dies loses nothing of it; when the power goes, it may name less than was synced, never more.
// Thread-safe.
class SyncedSizes {
 public:
  // Opens, or makes, the file in `dir`.
  static absl::StatusOr<std::unique_ptr<SyncedSizes>> Open(const std::string& dir);
  SyncedSizes(const SyncedSizes&) = delete;
  SyncedSizes& operator=(const SyncedSizes&) = delete;

  // Whether the file was there: without it nothing is known of older logs.
  bool was_there() const { return was_there_; }
  // By the number of the log, as found when it was opened.
  const std::map<uint64_t, uint64_t>& found() const { return found_; }

  void Note(uint64_t number, uint64_t size);

 private:
  SyncedSizes(FileDescriptor file, bool was_there)
      : file_(std::move(file)), was_there_(was_there) {}

  const FileDescriptor file_;
  const bool was_there_;
  std::map<uint64_t, uint64_t> found_;
  absl::Mutex mutex_;
};

// Whether the path is that of a log, and its number.
bool ParseWalName(absl::string_view path, uint64_t* number);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_SYNCED_SIZES_H_
