#ifndef KERNELMILL_COMMON_CAS_TESTING_MEMORY_BLOB_STORE_H_
#define KERNELMILL_COMMON_CAS_TESTING_MEMORY_BLOB_STORE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/cas/blob_store.h"

namespace kernelmill::cas {

// A content store in memory, for tests, with injectable faults and without limits. tests/contract
// checks it against BlobStore's contract. Thread-safe.
class MemoryBlobStore : public BlobStore {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(const std::vector<Digest>& digests) override;
  absl::Status Put(const std::vector<Blob>& blobs) override;
  absl::StatusOr<std::vector<std::string>> Get(const std::vector<Digest>& digests) override;
  absl::StatusOr<ActionResult> GetActionResult(const Digest& action) override;
  absl::Status PutActionResult(const Digest& action, const ActionResult& result) override;

  // Makes the next `calls` calls fail with `status`.
  void FailNext(int calls, const absl::Status& status);
  // Deletes a blob. Returns false if it did not exist.
  bool Drop(const Digest& digest);
  // Damages a blob, so that reading it gives DATA_LOSS. Returns false if it does not exist or is
  // empty.
  bool Corrupt(const Digest& digest);

  int64_t blobs() const;    // stored blobs
  int64_t calls() const;    // all calls, including failed ones
  int64_t results() const;  // stored action results

 private:
  absl::Status BeginCall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Holds(const Digest& digest) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::map<std::string, std::string> blobs_ ABSL_GUARDED_BY(mutex_);  // by ToString(digest)
  std::map<std::string, ActionResult> results_ ABSL_GUARDED_BY(mutex_);
  int failures_left_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_TESTING_MEMORY_BLOB_STORE_H_
