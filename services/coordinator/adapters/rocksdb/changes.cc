#include "services/coordinator/adapters/rocksdb/changes.h"

#include <cstdint>
#include <string>

#include "services/coordinator/adapters/rocksdb/rows.h"

namespace kernelmill::coordinator {
namespace {

rocksdb::Status PutJob(const JobRow& row, rocksdb::WriteBatch* batch) {
  rocksdb::Status status;
  if (!row.request_id.empty()) status = batch->Put(JobKey("r/", row.sequence), row.request_id);
  if (status.ok() && !row.caller.empty()) {
    status = batch->Put(JobKey("c/", row.sequence), row.caller);
  }
  if (status.ok()) status = batch->Put(JobKey("p/", row.sequence), row.plan);
  if (status.ok()) {
    status = batch->Put(JobKey("s/", row.sequence), row.spec.SerializeAsString());
  }
  if (status.ok()) {
    status = batch->Put(JobKey("j/", row.sequence), row.status.SerializeAsString());
  }
  return status;
}

// Deletes the tasks of a job, their attempts, and the job's end.
rocksdb::Status DeleteRun(uint32_t job, rocksdb::WriteBatch* batch) {
  rocksdb::Status status;
  for (const char* prefix : {"t/", "f/", "l/"}) {
    if (status.ok()) status = batch->DeleteRange(JobKey(prefix, job), JobKey(prefix, job + 1));
  }
  if (!status.ok()) return status;
  return batch->DeleteRange(SpanKey(TaskId(job, 0), 0), SpanKey(TaskId(job + 1, 0), 0));
}

}  // namespace

rocksdb::Status PutEnd(const EndedJob& job, rocksdb::WriteBatch* batch) {
  rocksdb::Status status = batch->Put(JobKey("j/", job.sequence), job.status.SerializeAsString());
  for (const char* prefix : {"c/", "p/"}) {
    if (status.ok()) status = batch->Delete(JobKey(prefix, job.sequence));
  }
  for (const TaskFailure& failure : job.failures) {
    if (!status.ok()) return status;
    status = batch->Put(JobKey("f/", job.sequence) + EncodeTaskKey(failure.task),
                        failure.failure.SerializeAsString());
  }
  for (uint32_t number = 0; number < job.lock.size(); ++number) {
    if (!status.ok()) return status;
    std::string key = JobKey("l/", job.sequence);
    AppendFixed32(&key, number);
    status = batch->Put(key, job.lock[number].SerializeAsString());
  }
  return status;
}

rocksdb::Status PutChange(const Change& change, rocksdb::WriteBatch* batch) {
  rocksdb::Status status;
  for (const uint32_t job : change.erased) {
    if (!status.ok()) return status;
    status = DeleteRun(job, batch);
  }
  for (const uint32_t job : change.deleted) {
    for (const char* prefix : {"r/", "c/", "p/", "s/", "j/"}) {
      if (status.ok()) status = batch->Delete(JobKey(prefix, job));
    }
    if (!status.ok()) return status;
    status = DeleteRun(job, batch);
  }
  for (const JobRow& job : change.jobs) {
    if (!status.ok()) return status;
    status = PutJob(job, batch);
  }
  for (const EndedJob& job : change.ended) {
    if (!status.ok()) return status;
    status = PutEnd(job, batch);
  }
  for (const TaskRow& task : change.tasks) {
    if (!status.ok()) return status;
    status = batch->Put(TaskRowKey(task.id), EncodeTask(task));
  }
  for (const v1::TaskSpan& span : change.spans) {
    if (!status.ok()) return status;
    const auto attempt = static_cast<uint32_t>(span.attempt());
    status = batch->Put(SpanKey(span.task(), attempt), EncodeSpan(span));
  }
  for (const PinRecord& pin : change.pins) {
    if (!status.ok()) return status;
    status = batch->Put(PinKey(pin.git, pin.ref), EncodePin(pin));
  }
  return status;
}

}  // namespace kernelmill::coordinator
