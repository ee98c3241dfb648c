#ifndef KERNELMILL_TESTS_BENCH_DEDUP_FILE_BLOB_STORE_H_
#define KERNELMILL_TESTS_BENCH_DEDUP_FILE_BLOB_STORE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/cas/blob_store.h"

namespace kernelmill::bench {

// Blobs one after another in a file, so that what a stage keeps in memory is the stage's own. Not
// thread-safe; knows no actions.
class FileBlobStore final : public cas::BlobStore {
 public:
  // Replaces the file.
  explicit FileBlobStore(const std::string& path);
  ~FileBlobStore() override;

  absl::StatusOr<std::vector<cas::Digest>> FindMissing(
      const std::vector<cas::Digest>& digests) override;
  absl::Status Put(const std::vector<cas::Blob>& blobs) override;
  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override;
  absl::StatusOr<cas::ActionResult> GetActionResult(const cas::Digest& action) override;
  absl::Status PutActionResult(const cas::Digest& action, const cas::ActionResult& result) override;

 private:
  int file_ = -1;
  int64_t end_ = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> places_;  // by hash: offset and size
};

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_DEDUP_FILE_BLOB_STORE_H_
