#ifndef KERNELMILL_COMMON_WORKER_PATIENT_STORE_H_
#define KERNELMILL_COMMON_WORKER_PATIENT_STORE_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cas/blob_store.h"
#include "common/rpc/retry.h"

namespace kernelmill::worker {

// Waits that long for the store, since it answered `why`. False: give up. An OK `why` says that the
// store answers again; it waits for nothing. Called from whatever thread uses the store.
using Pause = std::function<bool(absl::Duration, const absl::Status& why)>;

// The store as one task sees it: a call that the store cannot serve now is made again until it can.
// So an outage, or a disk that is full, costs a task neither its attempt nor the work that it has
// done. Away are UNAVAILABLE, DEADLINE_EXCEEDED and RESOURCE_EXHAUSTED: the store is out of reach,
// hangs, or has no room. Thread-safe.
class PatientStore : public cas::BlobStore {
 public:
  // All must outlive it. Of `backoff`, max_attempts is not used.
  PatientStore(cas::BlobStore& store, const rpc::RetryPolicy& backoff, const Pause& pause)
      : store_(store), backoff_(backoff), pause_(pause) {}

  absl::StatusOr<std::vector<cas::Digest>> FindMissing(
      const std::vector<cas::Digest>& digests) override;
  absl::Status Put(const std::vector<cas::Blob>& blobs) override;
  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override;
  absl::StatusOr<cas::ActionResult> GetActionResult(const cas::Digest& action) override;
  absl::Status PutActionResult(const cas::Digest& action, const cas::ActionResult& result) override;

  // The pause gave up: this call, and every later one, ends with CANCELLED.
  bool gave_up() const { return gave_up_; }

 private:
  // Calls `call` until the store serves it.
  template <typename Call>
  auto Patiently(Call call) -> decltype(call());

  cas::BlobStore& store_;
  const rpc::RetryPolicy& backoff_;
  const Pause& pause_;
  std::atomic<bool> gave_up_{false};
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_PATIENT_STORE_H_
