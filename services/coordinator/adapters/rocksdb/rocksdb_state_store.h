#ifndef KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_ROCKSDB_STATE_STORE_H_
#define KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_ROCKSDB_STATE_STORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "services/coordinator/core/state/state_store.h"

namespace rocksdb {
class DB;
}

namespace kernelmill::coordinator {

// The coordinator's state in its own RocksDB. Thread-safe.
//
// Errors: DATA_LOSS: a checksum or a row is wrong; a damaged database is not opened, except that a
// torn end of the log, which was never acknowledged, is dropped. RESOURCE_EXHAUSTED: the disk is
// full. FAILED_PRECONDITION: another process has the database open, a newer build wrote it, or a
// restore is unfinished.
class RocksDbStateStore : public StateStore {
 public:
  // `now`: jobs that follow a restore are numbered by it.
  static absl::StatusOr<std::unique_ptr<RocksDbStateStore>> Open(const std::string& directory,
                                                                 absl::Time now = absl::Now());
  ~RocksDbStateStore() override;

  absl::Status Write(const std::vector<Change>& changes, bool sync) override;
  absl::StatusOr<std::vector<JobRow>> Jobs() override;
  absl::StatusOr<uint32_t> LastSequence() override;
  absl::Status ForEachTask(uint32_t job, absl::FunctionRef<bool(const TaskRow&)> visit) override;
  absl::Status ForEachSpan(uint64_t first_task,
                           absl::FunctionRef<bool(const v1::TaskSpan&)> visit) override;
  absl::StatusOr<v1::JobSpec> Spec(uint32_t job) override;
  absl::StatusOr<v1::JobStatus> Status(uint32_t job) override;
  absl::StatusOr<std::vector<TaskFailure>> Failures(uint32_t job, const TaskKey* after,
                                                    size_t limit) override;
  absl::Status ForEachLockPart(uint32_t job,
                               absl::FunctionRef<bool(const v1::JobSpec&)> visit) override;
  absl::StatusOr<TaskRow> Task(uint64_t id) override;
  absl::StatusOr<PinRecord> LastPin(const std::string& git, const std::string& ref) override;

  // Returns the name of this coordinator, which distinguishes its holds from those of others that
  // share the store: eight random hexadecimal digits, made with the database.
  absl::StatusOr<std::string> OwnerName();
  // Writes a backup while the database is used; see common/rocksdb/backup.h.
  absl::StatusOr<int64_t> BackUp(const std::string& dir, const std::atomic<bool>& stop);

 private:
  explicit RocksDbStateStore(std::unique_ptr<rocksdb::DB> db);
  absl::Status MakeOwnerName();
  absl::Status SkipSequences(absl::Time now);
  absl::StatusOr<std::string> Read(const std::string& key);
  // Reads a value; empty if the key does not exist.
  absl::StatusOr<std::string> ReadOrEmpty(const std::string& key);

  std::unique_ptr<rocksdb::DB> db_;
  uint32_t last_sequence_ = 0;  // only used by Write
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_ROCKSDB_STATE_STORE_H_
