#ifndef KERNELMILL_COMMON_WORKER_TASK_STORE_H_
#define KERNELMILL_COMMON_WORKER_TASK_STORE_H_

#include <string>
#include <vector>

#include "common/cas/blob_store.h"
#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// The store as one leased task may use it. Results are written under the task's grant, and say
// which stage and worker they are of; where the task is to use no cache, none is found.
// Thread-safe.
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
  // NOT_FOUND also where the result of the task's action says that another stage has made it. Who
  // may write the entries of a stage's own caches could else pass one off as a result.
  absl::StatusOr<cas::ActionResult> GetActionResult(const cas::Digest& action) override;
  absl::Status PutActionResult(const cas::Digest& action, const cas::ActionResult& result) override;

 private:
  cas::BlobStore& store_;
  const v1::LeasedTask& task_;
  const cas::Digest& action_;
  const std::string& worker_;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_TASK_STORE_H_
