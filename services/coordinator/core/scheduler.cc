#include "services/coordinator/core/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/config/job_spec.h"

namespace kernelmill::coordinator {
namespace {

constexpr size_t kMaxRequestId = 256;
constexpr int32_t kMaxPriority = 100;

// For people to read alone: nothing is decided by the wall clock.
int64_t WallMillis() { return absl::ToUnixMillis(absl::Now()); }

}  // namespace

absl::StatusOr<std::unique_ptr<Scheduler>> Scheduler::Open(const Options& options,
                                                           StateStore& store, const Clock& clock) {
  ASSIGN_OR_RETURN(const uint64_t epoch, store.NextEpoch());
  std::unique_ptr<Scheduler> scheduler(new Scheduler(options, store, clock, epoch));
  RETURN_IF_ERROR(scheduler->Load());
  return scheduler;
}

Scheduler::Scheduler(const Options& options, StateStore& store, const Clock& clock, uint64_t epoch)
    : options_(options),
      store_(store),
      clock_(clock),
      commits_(store),
      leases_(epoch, options.lease_ttl),
      hosts_(options.host_limit) {}

absl::Status Scheduler::Load() {
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(last_sequence_, store_.LastSequence());
    ASSIGN_OR_RETURN(std::vector<JobRow> rows, store_.Jobs());
    Change change;
    for (JobRow& row : rows) {
      last_sequence_ = std::max(last_sequence_, row.sequence);
      ids_[row.status.job()] = row.sequence;
      if (!row.request_id.empty()) requests_[row.request_id] = row.sequence;
      if (row.status.state() != v1::JOB_STATE_RUNNING) {
        ended_[row.sequence] = {std::move(row.status), 0};
      } else if (options_.abandon_unfinished) {
        Abandon(row, change);
      } else {
        RETURN_IF_ERROR(Resume(std::move(row), change));
      }
    }
    ticket = Append(std::move(change));
  }
  return commits_.Wait(ticket, /*sync=*/true);
}

void Scheduler::Abandon(const JobRow& row, Change& change) {
  v1::JobStatus status = row.status;
  status.set_state(v1::JOB_STATE_ABANDONED);
  status.set_ended_unix_ms(WallMillis());
  ended_[row.sequence] = {status, 0};
  change.statuses.emplace_back(row.sequence, std::move(status));
}

absl::Status Scheduler::Resume(JobRow row, Change& change) {
  auto job = std::make_unique<Job>(row.sequence, row.status, row.spec);
  bool fits = row.plan == PlanFingerprint();
  if (fits) {
    ASSIGN_OR_RETURN(fits, job->Replay([&](Job::RowVisitor visit) {
      return store_.ForEachTask(row.sequence, visit);
    }));
  }
  if (!fits) {
    LogWarning("job is planned anew: another build planned it", {{"job", row.status.job()}});
    job = std::make_unique<Job>(row.sequence, row.status, row.spec);
    change.erased.push_back(row.sequence);
    row.plan = PlanFingerprint();
    job->Start(change);
    change.jobs.push_back(row);
  }
  // Who holds a lease from before may go on; the others' leases run out.
  for (const uint32_t index : job->LeasedTasks()) {
    const uint64_t task = TaskId(row.sequence, index);
    LeaseTable::Terms terms = TermsOf(*job, index, job->ActionOf(index));
    in_flight_.Lead(terms.action, task);
    hosts_.Take(terms.host, task, clock_.Now());
    leases_.Restore(task, job->Find(index)->token, clock_.Now(), std::move(terms));
  }
  running_[row.sequence] = std::move(job);
  return absl::OkStatus();
}

uint64_t Scheduler::Append(Change change) {
  bool readied = !change.jobs.empty();
  for (const TaskRow& task : change.tasks) readied |= task.state == TaskState::kReady;
  const bool any = !change.empty();
  const uint64_t ticket = commits_.Append(std::move(change));
  if (any) changed_.Notify();
  if (readied) ready_.Notify();
  return ticket;
}

absl::Status Scheduler::CheckRoom() {
  if (static_cast<int64_t>(running_.size()) >= options_.max_unfinished_jobs) {
    return absl::ResourceExhaustedError(
        absl::StrCat(running_.size(), " jobs have not ended; wait for some, or cancel them"));
  }
  int64_t tasks = 0;
  for (const auto& [sequence, job] : running_) tasks += static_cast<int64_t>(job->task_count());
  if (tasks < options_.max_open_tasks) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the running jobs have ", tasks, " tasks; wait for some, or cancel them"));
}

absl::StatusOr<std::string> Scheduler::Submit(const v1::JobSpec& spec,
                                              const std::string& request_id, int32_t priority) {
  RETURN_IF_ERROR(config::CheckJobSpec(spec));
  if (priority < -kMaxPriority || priority > kMaxPriority) {
    return absl::InvalidArgumentError(
        absl::StrCat("priority: is not ", -kMaxPriority, " to ", kMaxPriority));
  }
  if (request_id.size() > kMaxRequestId) {
    return absl::InvalidArgumentError(
        absl::StrCat("request_id: longer than ", kMaxRequestId, " bytes"));
  }
  RETURN_IF_ERROR(status());
  std::string id;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    const auto known = requests_.find(request_id);
    if (!request_id.empty() && known != requests_.end()) {
      id = IdOf(known->second);
      ticket = commits_.last();  // it may not be kept yet
    } else {
      RETURN_IF_ERROR(CheckRoom());
      JobRow row;
      row.sequence = ++last_sequence_;
      row.request_id = request_id;
      row.plan = PlanFingerprint();
      row.spec = config::WithDefaults(spec);
      id = absl::StrFormat("%s-%06d", spec.name(), row.sequence);
      row.status.set_job(id);
      row.status.set_name(spec.name());
      row.status.set_state(v1::JOB_STATE_RUNNING);
      row.status.set_submitted_unix_ms(WallMillis());
      row.status.set_priority(priority);
      row.status.set_runs(1);
      auto job = std::make_unique<Job>(row.sequence, row.status, row.spec);
      Change change;
      job->Start(change);
      ids_[id] = row.sequence;
      if (!request_id.empty()) requests_[request_id] = row.sequence;
      running_[row.sequence] = std::move(job);
      change.jobs.push_back(std::move(row));
      ticket = Append(std::move(change));
    }
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  return id;
}

absl::StatusOr<uint32_t> Scheduler::SequenceOf(const std::string& id) const {
  const auto at = ids_.find(id);
  if (at == ids_.end()) return absl::NotFoundError(absl::StrCat("no job ", JsonString(id)));
  return at->second;
}

std::string Scheduler::IdOf(uint32_t sequence) const {
  const auto job = running_.find(sequence);
  return job != running_.end() ? job->second->id() : ended_.at(sequence).summary.job();
}

absl::StatusOr<v1::JobStatus> Scheduler::GetJob(const std::string& id) {
  uint32_t sequence = 0;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(sequence, SequenceOf(id));
    const auto job = running_.find(sequence);
    if (job != running_.end()) return job->second->Status();
    ticket = ended_.at(sequence).ticket;
  }
  // That a job has ended is told once it is kept: a crash must not take it back.
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  return store_.Status(sequence);
}

absl::StatusOr<uint64_t> Scheduler::JobVersion(const std::string& id) {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const uint32_t sequence, SequenceOf(id));
  const auto job = running_.find(sequence);
  return job == running_.end() ? 0 : job->second->version();
}

std::vector<v1::JobStatus> Scheduler::ListJobs() {
  std::map<uint32_t, v1::JobStatus> all;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [sequence, job] : running_) all[sequence] = job->Summary();
    for (const auto& [sequence, ended] : ended_) all[sequence] = ended.summary;
  }
  std::vector<v1::JobStatus> newest_first;
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    newest_first.push_back(std::move(at->second));
  }
  return newest_first;
}

void Scheduler::Settle(Job& job, Change& change) {
  if (!job.ended()) return;
  const uint32_t sequence = job.sequence();
  v1::JobStatus status = job.Status();
  status.set_ended_unix_ms(WallMillis());
  v1::JobStatus summary = job.Summary();
  summary.set_ended_unix_ms(status.ended_unix_ms());
  if (status.has_dataset()) *summary.mutable_dataset() = status.dataset();
  std::vector<uint64_t> followers;
  for (const uint32_t index : job.LeasedTasks()) {
    for (const uint64_t task : LetGo(leases_.Release(TaskId(sequence, index)))) {
      followers.push_back(task);
    }
  }
  LogInfo("job ended", {{"job", job.id()},
                        {"state", v1::JobState_Name(status.state())},
                        {"failures", status.failures_size()}});
  running_.erase(sequence);
  for (const uint64_t task : followers) Requeue(task);
  change.statuses.emplace_back(sequence, std::move(status));
  ended_[sequence] = {std::move(summary), Append(std::exchange(change, {}))};
}

void Scheduler::Drain() {
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
  }
  ready_.Notify();
  changed_.Notify();
}

bool Scheduler::draining() const {
  absl::MutexLock lock(&mutex_);
  return draining_;
}

Scheduler::Tally Scheduler::Count() const {
  absl::MutexLock lock(&mutex_);
  Tally tally;
  tally.leases = static_cast<int64_t>(leases_.size());
  tally.jobs[v1::JOB_STATE_RUNNING] = static_cast<int64_t>(running_.size());
  for (const auto& [sequence, ended] : ended_) ++tally.jobs[ended.summary.state()];
  for (const auto& [sequence, job] : running_) {
    const v1::JobStatus status = job->Summary();
    for (const v1::StageProgress& stage : status.stages()) {
      v1::StageProgress& sum = tally.tasks[stage.stage()];
      sum.set_total(sum.total() + stage.total());
      sum.set_done(sum.done() + stage.done());
      sum.set_failed(sum.failed() + stage.failed());
      sum.set_running(sum.running() + stage.running());
    }
  }
  return tally;
}

}  // namespace kernelmill::coordinator
