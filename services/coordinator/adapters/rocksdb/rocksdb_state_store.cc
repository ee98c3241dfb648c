// clang-format off
// The grammar of the database. Numbers are big-endian, with their size in bytes after the colon. `job`
// is a job's sequence number (4 bytes), `task` a task's id (8 bytes, the first 4 are its job).
//
//   "m/format"         -> "3"; the version of this grammar (common/rocksdb/format.h); upgrades.cc makes
//                         it of older ones
//   "m/owner"          -> the name of this coordinator in its holds: 8 random hexadecimal digits
//   "m/sequence"       -> sequence:4; the largest sequence number ever used
//   "r/" job           -> the client's request id, if it gave one
//   "c/" job           -> the submitting caller, if known, of a running job
//   "p/" job           -> the PlanFingerprint of the tasks of a running job
//   "s/" job           -> JobSpec, with defaults
//   "j/" job           -> JobStatus: at submission; after the end the final one, with its first failures
//   "f/" job stage:1 source:4 shard:4 sub_shard:2
//                      -> Failure of that task; written when the job ends
//   "l/" job number:4  -> JobSpec: a part of the job's lock (SplitSpec); written when the job ends
//   "t/" task          -> state:1 stage:1 cached:1 crashes:1 sub_shard:2 source:4 shard:4 attempts:4
//                         token:8 rest
//                         rest: StageResult of a DONE task; google.rpc.Status of the last error of
//                         any other task, if there is one
//   "a/" task attempt:4
//                      -> TaskSpan without its task, for an ended attempt
//   "v/" hash          -> seconds:8 code:1 git_size:4 ref_size:4 git ref commit; the last attempt to
//                         pin a git ref: Unix seconds and status code
//                         hash: hexadecimal SHA-256 of git "\n" ref
// clang-format on
//
// All of a Change is in one WriteBatch: a task's result is stored together with the tasks that
// follow from it, or not at all.

#include "services/coordinator/adapters/rocksdb/rocksdb_state_store.h"

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/rocksdb/backup.h"
#include "common/rocksdb/format.h"
#include "common/rocksdb/rocksdb.h"
#include "services/coordinator/adapters/rocksdb/changes.h"
#include "services/coordinator/adapters/rocksdb/rows.h"
#include "services/coordinator/adapters/rocksdb/upgrades.h"

namespace kernelmill::coordinator {
namespace {

// 2026-01-01 in Unix seconds, from which SkipSequences counts.
constexpr int64_t kFirstSecond = 1'767'225'600;
// More jobs than one submits between two backups.
constexpr int64_t kRestoreStep = 1000;

rocksdb::Options OpenOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  // Drops a torn tail, which was never acknowledged, and refuses damage in the middle of the log.
  // (The default would drop everything after the damage, acknowledged or not.)
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.paranoid_checks = true;
  options.write_buffer_size = 16 << 20;
  options.max_total_wal_size = 64 << 20;
  options.info_log = NewProcessLogger();
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RocksDbStateStore>> RocksDbStateStore::Open(
    const std::string& directory, absl::Time now) {
  RETURN_IF_ERROR(CheckRestored(directory));
  RETURN_IF_ERROR(PrepareDatabaseFolder(directory));
  rocksdb::DB* db = nullptr;
  RETURN_IF_ERROR(FromOpenStatus(rocksdb::DB::Open(OpenOptions(), directory, &db), directory));
  std::unique_ptr<RocksDbStateStore> store(new RocksDbStateStore(std::unique_ptr<rocksdb::DB>(db)));
  RETURN_IF_ERROR(Annotate(UpgradeFormat(*db, directory, StateFormats(db, directory)), directory));
  RETURN_IF_ERROR(Annotate(store->MakeOwnerName(), directory));
  if (IsRestored(directory)) {
    RETURN_IF_ERROR(Annotate(store->SkipSequences(now), directory));
    RETURN_IF_ERROR(ForgetRestore(directory));
  }
  ASSIGN_OR_RETURN(store->last_sequence_, store->LastSequence());
  return store;
}

RocksDbStateStore::RocksDbStateStore(std::unique_ptr<rocksdb::DB> db) : db_(std::move(db)) {}
RocksDbStateStore::~RocksDbStateStore() = default;

absl::StatusOr<std::string> RocksDbStateStore::Read(const std::string& key) {
  std::string value;
  RETURN_IF_ERROR(FromRocksStatus(db_->Get(rocksdb::ReadOptions(), key, &value), "read"));
  return value;
}

absl::StatusOr<std::string> RocksDbStateStore::ReadOrEmpty(const std::string& key) {
  absl::StatusOr<std::string> value = Read(key);
  if (absl::IsNotFound(value.status())) return "";
  return value;
}

// A coordinator that shares its store with others tells its holds from theirs by this name.
absl::Status RocksDbStateStore::MakeOwnerName() {
  const absl::StatusOr<std::string> known = OwnerName();
  if (!absl::IsNotFound(known.status())) return known.status();
  std::random_device random;
  rocksdb::WriteOptions sync;
  sync.sync = true;
  return FromRocksStatus(
      db_->Put(sync, kOwnerKey, absl::StrCat(absl::Hex(random(), absl::kZeroPad8))), "owner");
}

absl::StatusOr<std::string> RocksDbStateStore::OwnerName() { return Read(kOwnerKey); }

absl::StatusOr<int64_t> RocksDbStateStore::BackUp(const std::string& dir,
                                                  const std::atomic<bool>& stop) {
  return kernelmill::BackUp(db_.get(), kCoordinatorDatabase, dir, stop);
}

// Jobs that were submitted after the backup are gone, but clients know their names, so these must
// not come again; nor must names that followed an earlier restore of the same backup. Goes on with
// the number of seconds since 2026, which is above all of these as long as coordinators get less
// than a job a second. If the clock is behind, a step ahead has to do.
absl::Status RocksDbStateStore::SkipSequences(absl::Time now) {
  ASSIGN_OR_RETURN(const uint32_t last, LastSequence());
  const int64_t seconds = absl::ToUnixSeconds(now) - kFirstSecond;
  std::string value;
  AppendFixed32(&value, static_cast<uint32_t>(std::max(seconds, last + kRestoreStep)));
  rocksdb::WriteOptions sync;
  sync.sync = true;
  return FromRocksStatus(db_->Put(sync, kSequenceKey, value), "sequence");
}

absl::StatusOr<uint32_t> RocksDbStateStore::LastSequence() {
  const absl::StatusOr<std::string> kept = Read(kSequenceKey);
  if (absl::IsNotFound(kept.status())) return 0;
  RETURN_IF_ERROR(kept.status());
  absl::string_view value = *kept;
  uint32_t sequence = 0;
  if (!TakeFixed32(&value, &sequence)) return absl::DataLossError("sequence is not readable");
  return sequence;
}

// Writes all changes as one batch. The commit queue calls it from one thread at a time, so
// last_sequence_ needs no lock.
absl::Status RocksDbStateStore::Write(const std::vector<Change>& changes, bool sync) {
  rocksdb::WriteBatch batch;
  for (const Change& change : changes) {
    RETURN_IF_ERROR(FromRocksStatus(PutChange(change, &batch), "batch"));
    for (const JobRow& job : change.jobs) {
      if (job.sequence <= last_sequence_) continue;  // the job runs again
      last_sequence_ = job.sequence;
      std::string last;
      AppendFixed32(&last, last_sequence_);
      RETURN_IF_ERROR(FromRocksStatus(batch.Put(kSequenceKey, last), "batch"));
    }
  }
  rocksdb::WriteOptions options;
  options.sync = sync;
  // RocksDB does not write an empty batch to the log, so it would not sync either.
  if (changes.empty()) return sync ? FromRocksStatus(db_->SyncWAL(), "sync") : absl::OkStatus();
  return FromRocksStatus(db_->Write(options, &batch), "write");
}

// Reads every job without its spec. Ended jobs lose their failures and counters, which clients read
// later one by one.
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
    ASSIGN_OR_RETURN(row.request_id, ReadOrEmpty(JobKey("r/", row.sequence)));
    if (row.status.state() != v1::JOB_STATE_RUNNING) {
      row.status.clear_failures();
      row.status.clear_counters();
      continue;
    }
    ASSIGN_OR_RETURN(row.caller, ReadOrEmpty(JobKey("c/", row.sequence)));
    ASSIGN_OR_RETURN(row.plan, Read(JobKey("p/", row.sequence)));
  }
  RETURN_IF_ERROR(FromRocksStatus(at->status(), "jobs"));
  return rows;
}

absl::Status RocksDbStateStore::ForEachTask(uint32_t job,
                                            absl::FunctionRef<bool(const TaskRow&)> visit) {
  // A scan of many rows that are read once: it must not push useful blocks out of the cache.
  rocksdb::ReadOptions options;
  options.readahead_size = 2 << 20;
  options.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
  const std::string prefix = JobKey("t/", job);
  for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next()) {
    absl::string_view key(at->key().data() + 2, at->key().size() - 2);
    uint64_t id = 0;
    if (!TakeFixed64(&key, &id) || !key.empty()) {
      return absl::DataLossError("a task's key is not readable");
    }
    ASSIGN_OR_RETURN(const TaskRow row,
                     DecodeTask(id, absl::string_view(at->value().data(), at->value().size())));
    if (!visit(row)) return absl::OkStatus();
  }
  return FromRocksStatus(at->status(), "tasks");
}

absl::Status RocksDbStateStore::ForEachSpan(uint64_t first_task,
                                            absl::FunctionRef<bool(const v1::TaskSpan&)> visit) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
  const std::string prefix = JobKey("a/", TaskJob(first_task));
  at->Seek(SpanKey(first_task, 0));
  for (; at->Valid() && at->key().starts_with(prefix); at->Next()) {
    absl::string_view key(at->key().data() + 2, at->key().size() - 2);
    uint64_t task = 0;
    uint32_t attempt = 0;
    if (!TakeFixed64(&key, &task) || !TakeFixed32(&key, &attempt) || !key.empty()) {
      return absl::DataLossError("an attempt's key is not readable");
    }
    ASSIGN_OR_RETURN(const v1::TaskSpan span,
                     DecodeSpan(task, absl::string_view(at->value().data(), at->value().size())));
    if (!visit(span)) return absl::OkStatus();
  }
  return FromRocksStatus(at->status(), "attempts");
}

absl::StatusOr<v1::JobSpec> RocksDbStateStore::Spec(uint32_t job) {
  ASSIGN_OR_RETURN(const std::string value, Read(JobKey("s/", job)));
  v1::JobSpec spec;
  if (!spec.ParseFromString(value)) return absl::DataLossError("a spec is not readable");
  return spec;
}

absl::StatusOr<v1::JobStatus> RocksDbStateStore::Status(uint32_t job) {
  ASSIGN_OR_RETURN(const std::string value, Read(JobKey("j/", job)));
  v1::JobStatus status;
  if (!status.ParseFromString(value)) return absl::DataLossError("a job is not readable");
  return status;
}

absl::StatusOr<std::vector<TaskFailure>> RocksDbStateStore::Failures(uint32_t job,
                                                                     const TaskKey* after,
                                                                     size_t limit) {
  const std::string prefix = JobKey("f/", job);
  // All keys have the same size, so the next key is after this key plus one byte.
  const std::string from = after == nullptr ? prefix : prefix + EncodeTaskKey(*after) + '\0';
  std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(rocksdb::ReadOptions()));
  std::vector<TaskFailure> failures;
  for (at->Seek(from); failures.size() < limit && at->Valid() && at->key().starts_with(prefix);
       at->Next()) {
    absl::string_view key(at->key().data() + prefix.size(), at->key().size() - prefix.size());
    TaskFailure& failure = failures.emplace_back();
    if (!TakeTaskKey(&key, &failure.task) || !key.empty() ||
        !failure.failure.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a failure is not readable");
    }
  }
  RETURN_IF_ERROR(FromRocksStatus(at->status(), "failures"));
  return failures;
}

absl::Status RocksDbStateStore::ForEachLockPart(uint32_t job,
                                                absl::FunctionRef<bool(const v1::JobSpec&)> visit) {
  std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(rocksdb::ReadOptions()));
  const std::string prefix = JobKey("l/", job);
  for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next()) {
    v1::JobSpec part;
    if (!part.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a lock is not readable");
    }
    if (!visit(part)) return absl::OkStatus();
  }
  return FromRocksStatus(at->status(), "lock");
}

absl::StatusOr<PinRecord> RocksDbStateStore::LastPin(const std::string& git,
                                                     const std::string& ref) {
  ASSIGN_OR_RETURN(const std::string value, Read(PinKey(git, ref)));
  return DecodePin(value);
}

absl::StatusOr<TaskRow> RocksDbStateStore::Task(uint64_t id) {
  ASSIGN_OR_RETURN(const std::string value, Read(TaskRowKey(id)));
  return DecodeTask(id, value);
}

}  // namespace kernelmill::coordinator
