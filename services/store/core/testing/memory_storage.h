#ifndef KERNELMILL_SERVICES_STORE_CORE_TESTING_MEMORY_STORAGE_H_
#define KERNELMILL_SERVICES_STORE_CORE_TESTING_MEMORY_STORAGE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// A Storage in memory, for tests, which is all of its ports in one. Its disk size is the size of
// its content, and it has no abandoned uploads. Thread-safe.
class MemoryStorage : public Storage, public Blobs, public Uses, public Holds, public Disk {
 public:
  Blobs& blobs() override { return *this; }
  Uses& uses() override { return *this; }
  Holds& holds() override { return *this; }
  Disk& disk() override { return *this; }

  absl::Status Put(absl::Span<const CheckedBlob> blobs, bool fresh, Epoch now) override;
  absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() override;
  absl::StatusOr<bool> DeleteAbandonedUpload() override { return true; }
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
  Usage usage() const override;

  absl::StatusOr<std::vector<Epoch>> LastUses(absl::Span<const BlobId> ids) override;
  absl::Status Touch(absl::Span<const LastUse> uses, Epoch now) override;
  absl::Status TouchResult(absl::string_view instance, const BlobId& action, Epoch now) override;
  EpochState epoch() const override;
  absl::Status SetEpoch(const EpochState& epoch) override;
  absl::StatusOr<Evicted> EvictOldest(const EvictRequest& request) override;
  absl::StatusOr<Evictable> CountOldest(const EvictRequest& request) override;

  absl::Status Save(const HoldRecord& hold, absl::Span<const BlobId> blobs) override;
  absl::Status Update(const HoldRecord& hold) override;
  absl::Status Delete(absl::string_view name) override;
  absl::StatusOr<std::vector<HoldRecord>> List() override;
  absl::StatusOr<int64_t> SumBytes(absl::string_view name) override;

  absl::StatusOr<Space> Measure() override;
  Effort effort() override { return {}; }
  absl::Status Reclaim() override { return absl::OkStatus(); }
  // UNIMPLEMENTED: memory has no folders.
  absl::StatusOr<int64_t> BackUp(const std::string& dir) override;
  void Stop() override {}

  // Makes every write fail with this status; OK makes them work again.
  void FailWrites(const absl::Status& status);
  // Makes reads of this blob fail with DATA_LOSS until it is put again.
  void Damage(const BlobId& id);
  // Replaces the blob's bytes, with a valid checksum.
  void Falsify(const BlobId& id, const std::string& bytes);
  int open_stages() const;  // staged blobs that exist now
  int touches() const;      // recorded uses
  int look_ups() const;     // blobs looked up with LastUses

 private:
  friend class MemoryStagedBlob;
  struct Item {
    std::string bytes;
    Epoch last = 0;
    bool damaged = false;
  };
  struct HoldEntry {
    HoldRecord record;
    std::set<std::string> blobs;
  };

  void Store(const BlobId& id, absl::string_view bytes, Epoch now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsHeld(const std::string& key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Evicts the item used longest ago, if `request` allows.
  bool EvictOne(const EvictRequest& request, Evicted* evicted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::map<std::string, Item> blobs_ ABSL_GUARDED_BY(mutex_);  // by "hash/size"
  std::map<std::string, Item> results_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, ResultId> result_ids_ ABSL_GUARDED_BY(mutex_);  // also of deleted results
  std::map<std::string, BlobId> ids_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> marked_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, HoldEntry> holds_ ABSL_GUARDED_BY(mutex_);
  EpochState epoch_ ABSL_GUARDED_BY(mutex_);
  Usage usage_ ABSL_GUARDED_BY(mutex_);
  absl::Status write_status_ ABSL_GUARDED_BY(mutex_);
  int open_stages_ ABSL_GUARDED_BY(mutex_) = 0;
  int touches_ ABSL_GUARDED_BY(mutex_) = 0;
  int look_ups_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_TESTING_MEMORY_STORAGE_H_
