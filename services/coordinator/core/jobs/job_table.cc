#include "services/coordinator/core/jobs/job_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/job_spec.h"

namespace kernelmill::coordinator {
namespace {

// JobTable owns every job of the coordinator. A job is in one of two maps: running_ (with its plan
// and tasks in memory) or ended_ (a summary; the rest is in the store). ids_ and requests_ find a
// job's sequence number in both.
//
// Each change to a job is made in memory first and is added to a Change. The caller, the scheduler,
// holds its mutex during the call, appends the Change to the commit queue under the same mutex, and
// answers its client only when the Change is stored. So the order of changes in memory is the order
// in the store, and a crash loses only changes that no client has seen.
//
// A job ends once for each run. A retry, or a lost blob, begins another run under the same sequence
// number: the tasks of the run before are erased, and the action cache answers for what they had
// done.
constexpr size_t kMaxRequestId = 256;
constexpr int32_t kMaxPriority = 100;

// Returns the wall clock's time, for display and for the retention of ended jobs.
int64_t WallMillis() { return absl::ToUnixMillis(absl::Now()); }

access::CallerLimits::Options JobLimits(const JobTable::Options& options) {
  return {"unfinished jobs",
          {"max-jobs-per-caller", options.max_jobs_per_caller},
          {"max-jobs", options.max_unfinished_jobs},
          "wait for some, or cancel them"};
}

access::CallerLimits::Options ByteLimits(const JobTable::Options& options) {
  return {"bytes in unfinished jobs",
          {"max-queued-bytes-per-caller", options.max_queued_bytes_per_caller},
          {"max-queued-bytes", options.max_queued_bytes},
          "wait for some, or cancel them"};
}

// The size of the spec, which is most of what an unfinished job occupies before it has tasks.
int64_t QueuedBytes(const JobRow& row) { return static_cast<int64_t>(row.spec.ByteSizeLong()); }

}  // namespace

JobTable::JobTable(const Options& options, StateStore& store)
    : options_(options),
      store_(store),
      job_limits_(JobLimits(options)),
      byte_limits_(ByteLimits(options)) {}

// Reads all jobs when the coordinator starts. `change` gets what the loading changes: abandoned
// jobs, and jobs that are planned again.
absl::Status JobTable::Load(Change& change) {
  ASSIGN_OR_RETURN(last_sequence_, store_.LastSequence());
  ASSIGN_OR_RETURN(std::vector<JobRow> rows, store_.Jobs());
  for (JobRow& row : rows) {
    last_sequence_ = std::max(last_sequence_, row.sequence);
    ids_[row.status.job()] = row.sequence;
    if (!row.request_id.empty()) requests_[row.request_id] = row.sequence;
    if (row.status.state() != v1::JOB_STATE_RUNNING) {
      ended_[row.sequence] = {std::move(row.status)};
    } else if (options_.abandon_unfinished) {
      Abandon(row, change);
    } else {
      RETURN_IF_ERROR(Resume(std::move(row), change));
    }
  }
  return absl::OkStatus();
}

// Ends an unfinished job of an earlier process that is not to be continued (abandon_unfinished).
void JobTable::Abandon(const JobRow& row, Change& change) {
  v1::JobStatus status = row.status;
  status.set_state(v1::JOB_STATE_ABANDONED);
  status.set_ended_unix_ms(WallMillis());
  ended_[row.sequence] = {status};
  change.ended.push_back({.sequence = row.sequence, .status = std::move(status)});
}

// Continues an unfinished job. If this build plans as the build that wrote the tasks, the stored
// outcomes are replayed; otherwise the job starts from its spec. Room is kept without a check: the
// limits refuse new jobs, never jobs that were accepted before.
absl::Status JobTable::Resume(JobRow row, Change& change) {
  ASSIGN_OR_RETURN(row.spec, store_.Spec(row.sequence));
  rooms_[row.sequence] = {job_limits_.Keep(row.caller),
                          byte_limits_.Keep(row.caller, QueuedBytes(row)), row.caller};
  if (row.plan == PlanFingerprint()) {
    auto job = std::make_unique<Job>(row.sequence, row.status, row.spec);
    const auto rows = [&](Job::RowVisitor visit) {
      return store_.ForEachTask(row.sequence, visit);
    };
    ASSIGN_OR_RETURN(const bool fits, job->Replay(rows, change.unix_ms));
    if (fits) {
      running_[row.sequence] = std::move(job);
      return absl::OkStatus();
    }
  }
  LogWarning("planning a job again, because another build planned it", {{"job", row.status.job()}});
  change.erased.push_back(row.sequence);
  Start(std::move(row), change);
  return absl::OkStatus();
}

void JobTable::Start(JobRow row, Change& change) {
  row.plan = PlanFingerprint();
  auto job = std::make_unique<Job>(row.sequence, row.status, row.spec);
  job->Start(change);
  running_[row.sequence] = std::move(job);
  change.jobs.push_back(std::move(row));
}

// Returns the job's places under the limits; they are free again when the Room is destroyed.
// RESOURCE_EXHAUSTED: a limit is reached.
absl::StatusOr<JobTable::Room> JobTable::TakeRoom(const JobRow& row) {
  RETURN_IF_ERROR(CheckTasks());
  Room room;
  room.caller = row.caller;
  ASSIGN_OR_RETURN(room.job, job_limits_.Take(row.caller));
  ASSIGN_OR_RETURN(room.bytes, byte_limits_.Take(row.caller, QueuedBytes(row)));
  return room;
}

absl::Status JobTable::CheckTasks() const {
  int64_t tasks = 0;
  for (const auto& [sequence, job] : running_) tasks += static_cast<int64_t>(job->task_count());
  if (tasks < options_.max_open_tasks) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the running jobs have ", tasks, " tasks; wait for some, or cancel them"));
}

absl::Status JobTable::CheckSubmission(const v1::JobSpec& spec, const std::string& request_id,
                                       int32_t priority) {
  RETURN_IF_ERROR(job::CheckJobSpec(spec));
  if (priority < -kMaxPriority || priority > kMaxPriority) {
    return absl::InvalidArgumentError(
        absl::StrCat("priority: must be ", -kMaxPriority, " to ", kMaxPriority));
  }
  if (request_id.size() > kMaxRequestId) {
    return absl::InvalidArgumentError(
        absl::StrCat("request_id: must have at most ", kMaxRequestId, " bytes"));
  }
  return absl::OkStatus();
}

// A request id makes a submission idempotent: a client whose connection broke sends the same id
// again and gets the id of the job that the first call made.
absl::StatusOr<std::string> JobTable::Submit(v1::JobSpec spec, const Submission& submission,
                                             Change& change) {
  const std::string& request_id = submission.request_id;
  const auto known = requests_.find(request_id);
  if (!request_id.empty() && known != requests_.end()) return GetId(known->second);
  JobRow row;
  row.request_id = request_id;
  row.caller = submission.caller;
  row.spec = job::WithDefaults(std::move(spec));
  ASSIGN_OR_RETURN(Room room, TakeRoom(row));
  row.sequence = ++last_sequence_;
  rooms_[row.sequence] = std::move(room);
  std::string id = absl::StrFormat("%s-%06d", row.spec.name(), row.sequence);
  row.status.set_job(id);
  row.status.set_name(row.spec.name());
  row.status.set_state(v1::JOB_STATE_RUNNING);
  row.status.set_submitted_unix_ms(WallMillis());
  row.status.set_priority(submission.priority);
  row.status.set_no_cache(submission.no_cache);
  row.status.set_runs(1);
  row.status.set_owner(submission.caller);
  ids_[id] = row.sequence;
  if (!request_id.empty()) requests_[request_id] = row.sequence;
  Start(std::move(row), change);
  return id;
}

// Begins the next run of a job under its old id. `row` brings the spec: the lock of the run before,
// so that all sources stay pinned to the same commits.
void JobTable::StartAgain(JobRow row, const v1::JobStatus& before, bool no_cache, Change& change) {
  row.status.set_job(before.job());
  row.status.set_name(before.name());
  row.status.set_state(v1::JOB_STATE_RUNNING);
  row.status.set_submitted_unix_ms(before.submitted_unix_ms());
  row.status.set_priority(before.priority());
  row.status.set_owner(before.owner());
  row.status.set_no_cache(no_cache);
  row.status.set_runs(std::max(before.runs(), 1) + 1);
  LogInfo("job runs again", {{"job", before.job()}, {"run", row.status.runs()}});
  change.erased.push_back(row.sequence);
  Start(std::move(row), change);
}

// Restarts an ended job for a client. The job needs room again, since it gave its room back at its
// end.
absl::Status JobTable::RunAgain(const v1::JobStatus& before, v1::JobSpec lock,
                                const std::string& caller, bool no_cache, Change& change) {
  ASSIGN_OR_RETURN(const uint32_t sequence, FindSequence(before.job()));
  JobRow row;
  row.sequence = sequence;
  row.caller = caller;
  row.spec = std::move(lock);
  ASSIGN_OR_RETURN(rooms_[sequence], TakeRoom(row));
  ended_.erase(sequence);
  StartAgain(std::move(row), before, no_cache, change);
  return absl::OkStatus();
}

// Restarts a running job because the store lost a blob that it needs. The job keeps its room and
// its request id.
void JobTable::BeginAgain(Job& job, Change& change) {
  JobRow row;
  row.sequence = job.sequence();
  row.caller = rooms_[row.sequence].caller;
  for (const auto& [request, sequence] : requests_) {
    if (sequence == row.sequence) row.request_id = request;
  }
  const bool no_cache = job.no_cache();
  const EndedJob before = job.TakeEnd();
  for (const v1::JobSpec& part : before.lock) row.spec.MergeFrom(part);
  // Rows of the dropped run in this change would be written after the run is erased; remove them.
  std::erase_if(change.tasks,
                [&](const TaskRow& task) { return TaskJob(task.id) == row.sequence; });
  std::erase_if(change.spans,
                [&](const v1::TaskSpan& span) { return TaskJob(span.task()) == row.sequence; });
  StartAgain(std::move(row), before.status, no_cache, change);
}

// Moves the job from running_ to ended_. Memory keeps a summary without failures and counters,
// because the coordinator may remember thousands of ended jobs.
void JobTable::End(Job& job, Change& change) {
  const uint32_t sequence = job.sequence();
  EndedJob end = job.TakeEnd();
  end.status.set_ended_unix_ms(WallMillis());
  v1::JobStatus summary = end.status;
  summary.clear_failures();
  summary.clear_counters();
  LogInfo("job ended", {{"job", job.id()},
                        {"state", v1::JobState_Name(end.status.state())},
                        {"failures", end.status.failure_count()}});
  running_.erase(sequence);
  rooms_.erase(sequence);
  ended_[sequence] = {std::move(summary)};
  change.ended.push_back(std::move(end));
}

// A reader of an ended job waits for this ticket, so that it never reports an end that is not
// stored.
void JobTable::SetEndTicket(uint32_t sequence, uint64_t ticket) {
  const auto ended = ended_.find(sequence);
  if (ended != ended_.end()) ended->second.ticket = ticket;
}

// Linear in the number of requests; jobs are deleted rarely.
void JobTable::Forget(uint32_t sequence, Change& change) {
  const std::string id = GetId(sequence);
  ended_.erase(sequence);
  ids_.erase(id);
  std::erase_if(requests_, [&](const auto& request) { return request.second == sequence; });
  LogInfo("job deleted", {{"job", id}});
  change.deleted.push_back(sequence);
}

absl::Status JobTable::Delete(uint32_t sequence, Change& change) {
  if (running_.count(sequence) > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", GetId(sequence), " is running; cancel it first"));
  }
  Forget(sequence, change);
  return absl::OkStatus();
}

// The loop collects first, because Forget changes ended_.
void JobTable::DeleteOld(absl::Time now, Change& change) {
  if (options_.retention <= absl::ZeroDuration()) return;
  const int64_t before = absl::ToUnixMillis(now - options_.retention);
  std::vector<uint32_t> old;
  for (const auto& [sequence, ended] : ended_) {
    if (ended.summary.ended_unix_ms() <= before) old.push_back(sequence);
  }
  for (const uint32_t sequence : old) Forget(sequence, change);
}

absl::StatusOr<uint32_t> JobTable::FindSequence(const std::string& id) const {
  const auto at = ids_.find(id);
  if (at == ids_.end()) return absl::NotFoundError(absl::StrCat("no job ", JsonString(id)));
  return at->second;
}

std::string JobTable::GetId(uint32_t sequence) const {
  const Job* const job = Running(sequence);
  return job != nullptr ? job->id() : ended_.at(sequence).summary.job();
}

const std::string& JobTable::GetOwner(uint32_t sequence) const {
  const Job* const job = Running(sequence);
  return job != nullptr ? job->owner() : ended_.at(sequence).summary.owner();
}

Job* JobTable::Running(uint32_t sequence) const {
  const auto job = running_.find(sequence);
  return job == running_.end() ? nullptr : job->second.get();
}

std::vector<v1::JobStatus> JobTable::List() const {
  std::map<uint32_t, v1::JobStatus> all;
  for (const auto& [sequence, job] : running_) all[sequence] = job->Summary();
  for (const auto& [sequence, ended] : ended_) all[sequence] = ended.summary;
  std::vector<v1::JobStatus> newest_first;
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    newest_first.push_back(std::move(at->second));
  }
  return newest_first;
}

std::vector<JobSummary> JobTable::Summaries() const {
  std::vector<JobSummary> jobs;
  for (const auto& [sequence, job] : running_) {
    jobs.push_back({job->id(), v1::JOB_STATE_RUNNING, {}});
  }
  for (const auto& [sequence, ended] : ended_) {
    jobs.push_back({ended.summary.job(), ended.summary.state(), ended.summary.dataset()});
  }
  return jobs;
}

void JobTable::AddTo(QueueStats& stats) const {
  stats.jobs[v1::JOB_STATE_RUNNING] += static_cast<int64_t>(running_.size());
  for (const auto& [sequence, ended] : ended_) ++stats.jobs[ended.summary.state()];
  for (const auto& [sequence, job] : running_) {
    for (int i = 0; i < kStageCount; ++i) job->AddTo(static_cast<StageId>(i), stats.tasks[i]);
    stats.suspects += job->suspects();
    const int64_t since = job->submitted_unix_ms();
    if (stats.oldest_job_ms == 0 || since < stats.oldest_job_ms) stats.oldest_job_ms = since;
  }
}

}  // namespace kernelmill::coordinator
