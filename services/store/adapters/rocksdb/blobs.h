#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_BLOBS_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_BLOBS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "services/store/adapters/rocksdb/database/database.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// Starts a large blob under a new staging id. database/records.cc says how it becomes visible.
// `database` must outlive the result.
std::unique_ptr<StagedBlob> NewRocksDbStagedBlob(Database* database);

// Returns the staging ids of all unfinished uploads.
absl::StatusOr<std::vector<std::string>> ListStagings(Database* database);
// Deletes the chunks and the record of one unfinished upload.
absl::Status DeleteStaging(Database* database, absl::string_view staging);

// Blobs and action results in the column families "cas" and "ac". Thread-safe.
class RocksDbBlobs : public Blobs {
 public:
  // `database` must outlive this. `abandoned_uploads`: staging ids that an earlier process left
  // behind; DeleteAbandonedUpload deletes them.
  RocksDbBlobs(Database* database, std::vector<std::string> abandoned_uploads);

  absl::Status Put(absl::Span<const CheckedBlob> blobs, bool fresh, Epoch now) override;
  absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() override;
  absl::StatusOr<bool> DeleteAbandonedUpload() override;
  absl::Status Read(const BlobId& id, int64_t offset, int64_t length, PieceSink sink) override;
  absl::Status Delete(const BlobId& id) override;
  absl::StatusOr<StoredResult> GetResult(absl::string_view instance, const BlobId& action) override;
  absl::Status PutResult(absl::string_view instance, const BlobId& action, absl::string_view result,
                         Epoch now) override;
  absl::StatusOr<std::optional<ResultId>> ListResults(const ResultId* after, size_t max,
                                                      ResultSink sink) override;
  absl::StatusOr<int64_t> DeleteResults(absl::Span<const ResultId> results) override;
  absl::StatusOr<std::vector<BlobId>> List(const BlobId* after, size_t max) override;
  absl::StatusOr<std::vector<BlobId>> Damaged() override;
  absl::Status MarkDamaged(const BlobId& id) override;
  Usage usage() const override { return database_->usage(); }

 private:
  absl::StatusOr<bool> ReadBody(const BlobId& id, int64_t offset, int64_t length, PieceSink sink);
  // A packed record, which has a blob's content or a chunk of it.
  struct Record {
    std::string key;
    int64_t size;  // the content's
  };
  absl::Status ReadRecord(const BlobId& id, const Record& record, int64_t offset, int64_t length,
                          PieceSink sink);
  absl::Status ReadChunks(const BlobId& id, absl::string_view staging, int64_t offset,
                          int64_t length, PieceSink sink);
  absl::StatusOr<std::vector<BlobId>> ListRecords(
      absl::string_view prefix, const std::string& from, size_t max,
      absl::FunctionRef<absl::StatusOr<int64_t>(absl::string_view)> size_of);

  Database* const database_;
  absl::Mutex mutex_;
  std::vector<std::string> abandoned_uploads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_BLOBS_H_
