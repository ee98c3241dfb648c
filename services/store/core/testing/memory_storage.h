#ifndef KERNELMILL_SERVICES_STORE_CORE_TESTING_MEMORY_STORAGE_H_
#define KERNELMILL_SERVICES_STORE_CORE_TESTING_MEMORY_STORAGE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// A Storage in memory, for tests. Thread-safe.
class MemoryStorage : public Storage {
 public:
  absl::StatusOr<std::vector<bool>> Contains(absl::Span<const BlobId> ids) override;
  absl::Status Put(absl::Span<const CheckedBlob> blobs) override;
  absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() override;
  absl::Status Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink) override;
  absl::StatusOr<std::string> GetResult(absl::string_view instance, const BlobId& action) override;
  absl::Status PutResult(absl::string_view instance, const BlobId& action,
                         absl::string_view result) override;

  // Writes fail with this status from now on; OK ends it.
  void FailWrites(const absl::Status& status);
  bool Drop(const BlobId& id);
  int open_stages() const;  // staged blobs neither committed nor dropped

 private:
  friend class MemoryStagedBlob;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::string> blobs_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> results_ ABSL_GUARDED_BY(mutex_);
  absl::Status write_status_ ABSL_GUARDED_BY(mutex_);
  int open_stages_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_TESTING_MEMORY_STORAGE_H_
