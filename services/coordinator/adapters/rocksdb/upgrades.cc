// Format 1 had neither crashes nor sub-shards in the rows of tasks.
//
// Format 2 kept the coordinator's name in the file `owner`, which no backup had. Its jobs might
// have no owner but their caller; ended jobs kept the unused rows "c/" and "p/", and might have all
// failures and the lock in their status.
#include "services/coordinator/adapters/rocksdb/upgrades.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/rocksdb/rocksdb.h"
#include "services/coordinator/adapters/rocksdb/changes.h"
#include "services/coordinator/adapters/rocksdb/rows.h"

namespace kernelmill::coordinator {
namespace {

constexpr size_t kOwnerDigits = 8;
constexpr char kOwnerFile[] = "owner";

absl::Status Write(rocksdb::DB& db, rocksdb::WriteBatch& batch) {
  rocksdb::WriteOptions sync;
  sync.sync = true;
  return FromRocksStatus(db.Write(sync, &batch), "upgrade");
}

// Passes every job with its status.
absl::Status ForEachJob(rocksdb::DB& db, absl::FunctionRef<absl::Status(EndedJob)> visit) {
  const std::unique_ptr<rocksdb::Iterator> at(db.NewIterator(rocksdb::ReadOptions()));
  for (at->Seek("j/"); at->Valid() && at->key().starts_with("j/"); at->Next()) {
    absl::string_view key(at->key().data() + 2, at->key().size() - 2);
    EndedJob job;
    if (!TakeFixed32(&key, &job.sequence) ||
        !job.status.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a job is not readable");
    }
    RETURN_IF_ERROR(visit(std::move(job)));
  }
  return FromRocksStatus(at->status(), "jobs");
}

// Drops all tasks and gives each unfinished job a plan that matches no build, so that it is planned
// again; the action cache answers for the work that was done. One batch.
absl::Status DropTasks(rocksdb::DB& db) {
  rocksdb::WriteBatch batch;
  RETURN_IF_ERROR(FromRocksStatus(batch.DeleteRange("t/", "t0"), "upgrade"));
  uint32_t last = 0;
  RETURN_IF_ERROR(ForEachJob(db, [&](const EndedJob& job) {
    last = job.sequence;
    if (job.status.state() != v1::JOB_STATE_RUNNING) return absl::OkStatus();
    return FromRocksStatus(batch.Put(JobKey("p/", job.sequence), "format 1"), "upgrade");
  }));
  std::string sequence;
  AppendFixed32(&sequence, last);
  RETURN_IF_ERROR(FromRocksStatus(batch.Put(kSequenceKey, sequence), "upgrade"));
  return Write(db, batch);
}

// Moves failures and lock out of a status that has them all, tens of megabytes for a job with
// 100,000 sources. The tasks of the failures were not stored, only their order; the TaskKeys made
// here keep the order.
void CutUp(EndedJob* job) {
  job->lock = SplitSpec(std::move(*job->status.mutable_lock()));
  job->status.clear_lock();
  google::protobuf::RepeatedPtrField<v1::Failure> all;
  all.Swap(job->status.mutable_failures());
  job->status.set_failure_count(all.size());
  for (int i = 0; i < all.size(); ++i) {
    if (i < kFailuresInStatus) *job->status.add_failures() = all[i];
    job->failures.push_back({{.stage = StageId::kDiscover, .source = i}, std::move(all[i])});
  }
}

// Each job is its own batch: it may be large.
absl::Status UpgradeJob(rocksdb::DB& db, EndedJob job) {
  rocksdb::WriteBatch batch;
  if (job.status.owner().empty()) {
    std::string caller;
    const rocksdb::Status read =
        db.Get(rocksdb::ReadOptions(), JobKey("c/", job.sequence), &caller);
    if (!read.IsNotFound()) RETURN_IF_ERROR(FromRocksStatus(read, "a caller"));
    job.status.set_owner(caller);
  }
  rocksdb::Status put;
  if (job.status.state() == v1::JOB_STATE_RUNNING) {
    put = batch.Put(JobKey("j/", job.sequence), job.status.SerializeAsString());
  } else {
    if (job.status.has_lock()) {
      for (const char* prefix : {"f/", "l/"}) {
        if (!put.ok()) break;
        put = batch.DeleteRange(JobKey(prefix, job.sequence), JobKey(prefix, job.sequence + 1));
      }
      CutUp(&job);
    }
    if (put.ok()) put = PutEnd(job, &batch);
  }
  RETURN_IF_ERROR(FromRocksStatus(put, "upgrade"));
  return Write(db, batch);
}

// Moves the name from its file into the database. DATA_LOSS: the file contains something else.
absl::Status MoveOwnerName(rocksdb::DB& db, const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/", kOwnerFile);
  const absl::StatusOr<std::string> name = ReadFile(path, 1024);
  if (absl::IsNotFound(name.status())) return absl::OkStatus();
  RETURN_IF_ERROR(name.status());
  if (!IsHex(*name, kOwnerDigits)) {
    return absl::DataLossError(
        absl::StrCat(path, ": must contain ", kOwnerDigits, " hexadecimal digits"));
  }
  rocksdb::WriteBatch batch;
  RETURN_IF_ERROR(FromRocksStatus(batch.Put(kOwnerKey, *name), "upgrade"));
  RETURN_IF_ERROR(Write(db, batch));
  std::error_code error;
  std::filesystem::remove(path, error);
  return error ? ErrnoStatus(error.value(), path) : absl::OkStatus();
}

absl::Status UpgradeJobs(rocksdb::DB& db, const std::string& directory) {
  RETURN_IF_ERROR(ForEachJob(db, [&db](EndedJob job) { return UpgradeJob(db, std::move(job)); }));
  return MoveOwnerName(db, directory);
}

}  // namespace

Formats StateFormats(rocksdb::DB* db, const std::string& directory) {
  return {.key = "m/format",
          .oldest = 1,
          .steps = {{"plan unfinished jobs again", [db] { return DropTasks(*db); }},
                    {"divide the ends of jobs, and store the coordinator's name",
                     [db, directory] { return UpgradeJobs(*db, directory); }}},
          .files = {kOwnerFile}};
}

}  // namespace kernelmill::coordinator
