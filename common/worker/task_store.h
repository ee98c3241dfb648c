#ifndef KERNELMILL_COMMON_WORKER_TASK_STORE_H_
#define KERNELMILL_COMMON_WORKER_TASK_STORE_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cas/blob_store.h"
#include "common/rpc/retry.h"
#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// The store as one leased task may use it. Results are written with the task's grant, and record
// its stage and worker. A task without caching finds no results. Thread-safe.
class TaskStore : public cas::BlobStore {
 public:
  // `action` is the digest of the task's action. All must outlive it.
  TaskStore(cas::BlobStore& store, const v1::LeasedTask& task, const cas::Digest& action,
            const std::string& worker)
      : store_(store), task_(task), action_(action), worker_(worker) {}

  absl::StatusOr<std::vector<cas::Digest>> FindMissing(
      const std::vector<cas::Digest>& digests) override {
    return store_.FindMissing(digests);
  }
  absl::Status Put(const std::vector<cas::Blob>& blobs) override { return store_.Put(blobs); }
  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override {
    return store_.Get(digests);
  }
  // Also NOT_FOUND if the result of the task's action is from a different stage. Otherwise a worker
  // that may write entries of a stage's own caches could pass one off as the action's result.
  absl::StatusOr<cas::ActionResult> GetActionResult(const cas::Digest& action) override;
  absl::Status PutActionResult(const cas::Digest& action, const cas::ActionResult& result) override;

 private:
  cas::BlobStore& store_;
  const v1::LeasedTask& task_;
  const cas::Digest& action_;
  const std::string& worker_;
};

// Waits that long for the store, which answered `why`. Returns false to give up. Called with OK,
// and no wait, when the store answers again. Called from the threads that use the store.
using Pause = std::function<bool(absl::Duration, const absl::Status& why)>;

// A store that repeats each call until the store behind it can serve it. So an outage or a full
// disk costs a task neither its attempt nor its work. Repeats after UNAVAILABLE, DEADLINE_EXCEEDED
// and RESOURCE_EXHAUSTED: the store is unreachable, hangs, or is full. Thread-safe.
class PatientStore : public cas::BlobStore {
 public:
  // All arguments must outlive it. `backoff`'s max_attempts is ignored.
  PatientStore(cas::BlobStore& store, const rpc::RetryPolicy& backoff, const Pause& pause)
      : store_(store), backoff_(backoff), pause_(pause) {}

  absl::StatusOr<std::vector<cas::Digest>> FindMissing(
      const std::vector<cas::Digest>& digests) override;
  absl::Status Put(const std::vector<cas::Blob>& blobs) override;
  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override;
  absl::StatusOr<cas::ActionResult> GetActionResult(const cas::Digest& action) override;
  absl::Status PutActionResult(const cas::Digest& action, const cas::ActionResult& result) override;

  // True after the pause gave up; all calls then end with CANCELLED.
  bool gave_up() const { return gave_up_; }

 private:
  // Repeats `call` until the store serves it.
  template <typename Call>
  auto Patiently(Call call) -> decltype(call());

  cas::BlobStore& store_;
  const rpc::RetryPolicy& backoff_;
  const Pause& pause_;
  std::atomic<bool> gave_up_{false};
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_TASK_STORE_H_
