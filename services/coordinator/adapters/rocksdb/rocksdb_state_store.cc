// What is kept, key -> value. Numbers are big-endian; <job> is a job's sequence number in 4 bytes,
// <task> a task's id in 8, of which the first 4 are its job.
//
//   "m/format"      -> "1", the version of this grammar
//   "m/epoch"       -> 8 bytes: how often the state was opened
//   "r/"<job>       -> the client's request id, where it gave one
//   "p/"<job>       -> the stage versions that the job's tasks were planned with, as text
//   "s/"<job>       -> JobSpec, with defaults
//   "j/"<job>       -> JobStatus: as it was submitted; once ended, as it ended
//   "t/"<task>      -> state:1 stage:1 cached:1 source:4 shard:4 attempts:4 token:8 rest
//                      rest: of a DONE task StageResult, of a FAILED one google.rpc.Status, else
//                      nothing
//
// Every Change is one part of one WriteBatch: a task's result and the tasks that follow from it are
// kept together or not at all.

#include "services/coordinator/adapters/rocksdb/rocksdb_state_store.h"

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/rocksdb/process_logger.h"
#include "common/rocksdb/status.h"
#include "services/coordinator/adapters/rocksdb/rows.h"

namespace kernelmill::coordinator {
namespace {

constexpr char kFormatKey[] = "m/format";
constexpr char kFormat[] = "1";
constexpr char kEpochKey[] = "m/epoch";

rocksdb::Options OpenOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  // A torn tail was never acknowledged and is dropped; damage in the middle of the log is refused.
  // (The default drops all that follows the damage, acknowledged or not.)
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.paranoid_checks = true;
  options.write_buffer_size = 16 << 20;
  options.max_total_wal_size = 64 << 20;
  options.info_log = NewProcessLogger();
  return options;
}

std::string JobKey(absl::string_view prefix, uint32_t job) {
  std::string key(prefix);
  AppendFixed32(&key, job);
  return key;
}

std::string TaskKeyOf(uint64_t id) {
  std::string key = "t/";
  AppendFixed64(&key, id);
  return key;
}

rocksdb::Status PutJob(const JobRow& row, rocksdb::WriteBatch* batch) {
  rocksdb::Status status;
  if (!row.request_id.empty()) status = batch->Put(JobKey("r/", row.sequence), row.request_id);
  if (status.ok()) status = batch->Put(JobKey("p/", row.sequence), row.plan);
  if (status.ok()) {
    status = batch->Put(JobKey("s/", row.sequence), row.spec.SerializeAsString());
  }
  if (status.ok()) {
    status = batch->Put(JobKey("j/", row.sequence), row.status.SerializeAsString());
  }
  return status;
}

rocksdb::Status PutChange(const Change& change, rocksdb::WriteBatch* batch) {
  rocksdb::Status status;
  for (const uint32_t job : change.erased) {
    if (!status.ok()) return status;
    status = batch->DeleteRange(TaskKeyOf(TaskId(job, 0)), TaskKeyOf(TaskId(job + 1, 0)));
  }
  for (const JobRow& job : change.jobs) {
    if (!status.ok()) return status;
    status = PutJob(job, batch);
  }
  for (const auto& [job, job_status] : change.statuses) {
    if (!status.ok()) return status;
    status = batch->Put(JobKey("j/", job), job_status.SerializeAsString());
  }
  for (const TaskRow& task : change.tasks) {
    if (!status.ok()) return status;
    status = batch->Put(TaskKeyOf(task.id), EncodeTask(task));
  }
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RocksDbStateStore>> RocksDbStateStore::Open(
    const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::InternalError(absl::StrCat(directory, ": ", error.message()));
  rocksdb::DB* db = nullptr;
  RETURN_IF_ERROR(FromOpenStatus(rocksdb::DB::Open(OpenOptions(), directory, &db), directory));
  std::unique_ptr<RocksDbStateStore> store(new RocksDbStateStore(std::unique_ptr<rocksdb::DB>(db)));
  RETURN_IF_ERROR(Annotate(store->CheckFormat(), directory));
  return store;
}

RocksDbStateStore::RocksDbStateStore(std::unique_ptr<rocksdb::DB> db) : db_(std::move(db)) {}
RocksDbStateStore::~RocksDbStateStore() = default;

absl::StatusOr<std::string> RocksDbStateStore::Read(const std::string& key) {
  std::string value;
  RETURN_IF_ERROR(FromRocksStatus(db_->Get(rocksdb::ReadOptions(), key, &value), "read"));
  return value;
}

absl::Status RocksDbStateStore::CheckFormat() {
  const absl::StatusOr<std::string> format = Read(kFormatKey);
  if (absl::IsNotFound(format.status())) {
    rocksdb::WriteOptions sync;
    sync.sync = true;
    return FromRocksStatus(db_->Put(sync, kFormatKey, kFormat), "format");
  }
  RETURN_IF_ERROR(format.status());
  if (*format == kFormat) return absl::OkStatus();
  return absl::FailedPreconditionError("the state was written by a newer build");
}

absl::StatusOr<uint64_t> RocksDbStateStore::NextEpoch() {
  uint64_t epoch = 0;
  const absl::StatusOr<std::string> kept = Read(kEpochKey);
  if (kept.ok()) {
    absl::string_view value = *kept;
    if (!TakeFixed64(&value, &epoch)) return absl::DataLossError("epoch is not readable");
  } else if (!absl::IsNotFound(kept.status())) {
    return kept.status();
  }
  std::string next;
  AppendFixed64(&next, ++epoch);
  rocksdb::WriteOptions sync;
  sync.sync = true;
  RETURN_IF_ERROR(FromRocksStatus(db_->Put(sync, kEpochKey, next), "epoch"));
  return epoch;
}

absl::Status RocksDbStateStore::Write(const std::vector<Change>& changes, bool sync) {
  rocksdb::WriteBatch batch;
  for (const Change& change : changes) {
    RETURN_IF_ERROR(FromRocksStatus(PutChange(change, &batch), "batch"));
  }
  rocksdb::WriteOptions options;
  options.sync = sync;
  // A batch that is empty would not reach the log, and would sync nothing.
  if (changes.empty()) return sync ? FromRocksStatus(db_->SyncWAL(), "sync") : absl::OkStatus();
  return FromRocksStatus(db_->Write(options, &batch), "write");
}

absl::StatusOr<std::vector<JobRow>> RocksDbStateStore::Jobs() {
  std::vector<JobRow> rows;
  std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(rocksdb::ReadOptions()));
  for (at->Seek("j/"); at->Valid() && at->key().starts_with("j/"); at->Next()) {
    JobRow& row = rows.emplace_back();
    absl::string_view key(at->key().data() + 2, at->key().size() - 2);
    if (!TakeFixed32(&key, &row.sequence) || !key.empty() ||
        !row.status.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a job is not readable");
    }
    const absl::StatusOr<std::string> request = Read(JobKey("r/", row.sequence));
    if (request.ok()) row.request_id = *request;
    if (!request.ok() && !absl::IsNotFound(request.status())) return request.status();
    if (row.status.state() != v1::JOB_STATE_RUNNING) {
      row.status.clear_failures();
      row.status.clear_counters();
      row.status.clear_lock();
      continue;
    }
    ASSIGN_OR_RETURN(row.plan, Read(JobKey("p/", row.sequence)));
    ASSIGN_OR_RETURN(const std::string spec, Read(JobKey("s/", row.sequence)));
    if (!row.spec.ParseFromString(spec)) return absl::DataLossError("a spec is not readable");
  }
  RETURN_IF_ERROR(FromRocksStatus(at->status(), "jobs"));
  return rows;
}

absl::StatusOr<std::vector<TaskRow>> RocksDbStateStore::Tasks(uint32_t job) {
  std::vector<TaskRow> rows;
  std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(rocksdb::ReadOptions()));
  const std::string prefix = JobKey("t/", job);
  for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next()) {
    absl::string_view key(at->key().data() + 2, at->key().size() - 2);
    uint64_t id = 0;
    if (!TakeFixed64(&key, &id) || !key.empty()) {
      return absl::DataLossError("a task's key is not readable");
    }
    ASSIGN_OR_RETURN(TaskRow row,
                     DecodeTask(id, absl::string_view(at->value().data(), at->value().size())));
    rows.push_back(std::move(row));
  }
  RETURN_IF_ERROR(FromRocksStatus(at->status(), "tasks"));
  return rows;
}

absl::StatusOr<v1::JobStatus> RocksDbStateStore::Status(uint32_t job) {
  ASSIGN_OR_RETURN(const std::string value, Read(JobKey("j/", job)));
  v1::JobStatus status;
  if (!status.ParseFromString(value)) return absl::DataLossError("a job is not readable");
  return status;
}

absl::StatusOr<TaskRow> RocksDbStateStore::Task(uint64_t id) {
  ASSIGN_OR_RETURN(const std::string value, Read(TaskKeyOf(id)));
  return DecodeTask(id, value);
}

}  // namespace kernelmill::coordinator
