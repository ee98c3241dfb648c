#include "services/coordinator/core/scheduler.h"

#include <optional>
#include <utility>

#include "common/base/status.h"

namespace kernelmill::coordinator {

absl::StatusOr<std::unique_ptr<Scheduler>> Scheduler::Open(const Options& options,
                                                           StateStore& store, const Clock& clock) {
  std::unique_ptr<Scheduler> scheduler(new Scheduler(options, store, clock));
  RETURN_IF_ERROR(scheduler->Load());
  return scheduler;
}

Scheduler::Scheduler(const Options& options, StateStore& store, const Clock& clock)
    : sync_completions_(options.sync_completions),
      store_(store),
      commits_(store),
      jobs_(options.jobs, store),
      dispatcher_(options.dispatch, jobs_, store, clock, ready_),
      outcomes_(options.outcomes, jobs_, dispatcher_, clock) {}

absl::Status Scheduler::Load() {
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change;
    RETURN_IF_ERROR(jobs_.Load(change));
    dispatcher_.RestoreLeases();
    ticket = Append(std::move(change));
  }
  return commits_.Wait(ticket, /*sync=*/true);
}

uint64_t Scheduler::Append(Change change) {
  bool readied = !change.jobs.empty();
  for (const TaskRow& task : change.tasks) readied |= task.state == TaskState::kReady;
  const bool any = !change.empty();
  std::vector<uint32_t> ended;
  for (const auto& [sequence, status] : change.statuses) ended.push_back(sequence);
  const uint64_t ticket = commits_.Append(std::move(change));
  for (const uint32_t sequence : ended) jobs_.SetEndTicket(sequence, ticket);
  if (any) changed_.Notify();
  if (readied) ready_.Notify();
  return ticket;
}

absl::StatusOr<std::string> Scheduler::Submit(const v1::JobSpec& spec,
                                              const std::string& request_id, int32_t priority) {
  RETURN_IF_ERROR(JobTable::CheckSubmission(spec, request_id, priority));
  RETURN_IF_ERROR(status());
  std::string id;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change;
    ASSIGN_OR_RETURN(id, jobs_.Submit(spec, request_id, priority, change));
    ticket = Append(std::move(change));
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  return id;
}

absl::StatusOr<v1::JobStatus> Scheduler::GetJob(const std::string& id) {
  uint32_t sequence = 0;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(sequence, jobs_.SequenceOf(id));
    if (const Job* const job = jobs_.Running(sequence)) return job->Status();
    ticket = jobs_.EndTicket(sequence);
  }
  // That a job has ended is told once it is kept: a crash must not take it back.
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  return store_.Status(sequence);
}

absl::StatusOr<uint64_t> Scheduler::JobVersion(const std::string& id) {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const uint32_t sequence, jobs_.SequenceOf(id));
  const Job* const job = jobs_.Running(sequence);
  return job == nullptr ? 0 : job->version();
}

std::vector<v1::JobStatus> Scheduler::ListJobs() {
  absl::MutexLock lock(&mutex_);
  return jobs_.List();
}

std::vector<JobSummary> Scheduler::JobSummaries() const {
  absl::MutexLock lock(&mutex_);
  return jobs_.Summaries();
}

absl::StatusOr<v1::JobStatus> Scheduler::Cancel(const std::string& id) {
  RETURN_IF_ERROR(status());
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(const uint32_t sequence, jobs_.SequenceOf(id));
    if (Job* const job = jobs_.Running(sequence)) {
      Change change;
      outcomes_.Cancel(*job, change);
      Append(std::move(change));
    }
  }
  return GetJob(id);  // which waits until its end is kept
}

absl::StatusOr<v1::JobStatus> Scheduler::Retry(const std::string& id) {
  RETURN_IF_ERROR(status());
  ASSIGN_OR_RETURN(const v1::JobStatus before, GetJob(id));
  if (before.state() == v1::JOB_STATE_RUNNING) return before;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(const uint32_t sequence, jobs_.SequenceOf(id));
    Change change;
    if (jobs_.Running(sequence) == nullptr) {  // nobody else was faster
      RETURN_IF_ERROR(jobs_.RunAgain(sequence, before, change));
    }
    ticket = Append(std::move(change));
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  return GetJob(id);
}

absl::Status Scheduler::Delete(const std::string& id) {
  RETURN_IF_ERROR(status());
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(const uint32_t sequence, jobs_.SequenceOf(id));
    Change change;
    RETURN_IF_ERROR(jobs_.Delete(sequence, change));
    ticket = Append(std::move(change));
  }
  return commits_.Wait(ticket, /*sync=*/true);
}

absl::Status Scheduler::DeleteOldJobs(absl::Time now) {
  Change change;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    jobs_.DeleteOld(now, change);
    if (change.empty()) return absl::OkStatus();
    ticket = Append(std::move(change));
  }
  return commits_.Wait(ticket, /*sync=*/true);
}

absl::StatusOr<Leases> Scheduler::Lease(const LeaseQuery& query) {
  RETURN_IF_ERROR(status());
  Leases leases;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (dispatcher_.draining()) return absl::UnavailableError("the coordinator is draining");
    Change change;
    const WorkerRegistry::Runs runs = dispatcher_.Hear(query);
    outcomes_.WorkerEnded(runs.ended, change);
    outcomes_.Expire(change);
    leases = dispatcher_.Lease(query, runs.current, change);
    ticket = Append(std::move(change));
  }
  if (!leases.tasks.empty()) RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/false));
  return leases;
}

absl::StatusOr<std::vector<v1::LeaseRef>> Scheduler::Renew(const std::vector<v1::LeaseRef>& leases,
                                                           const std::string& caller,
                                                           const std::string& waits_for) {
  RETURN_IF_ERROR(status());
  absl::MutexLock lock(&mutex_);
  Change change;
  outcomes_.Expire(change);
  Append(std::move(change));  // kept with the next change that somebody waits for
  std::vector<v1::LeaseRef> lost = dispatcher_.Renew(leases, caller);
  if (dispatcher_.SetWaiting(leases, caller, waits_for)) changed_.Notify();
  return lost;
}

absl::StatusOr<std::vector<absl::Status>> Scheduler::Complete(
    const std::vector<v1::Completion>& completions, const std::string& caller) {
  RETURN_IF_ERROR(status());
  std::vector<std::optional<absl::Status>> taken;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change;
    outcomes_.Expire(change);
    for (const v1::Completion& completion : completions) {
      taken.push_back(outcomes_.Complete(completion, caller, change));
    }
    // Of changes made before too: a repeated completion answers for them.
    ticket = Append(std::move(change));
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, sync_completions_));
  std::vector<absl::Status> statuses;
  for (size_t i = 0; i < completions.size(); ++i) {
    statuses.push_back(taken[i].has_value() ? *taken[i] : StatusOfStored(completions[i].lease()));
  }
  return statuses;
}

absl::Status Scheduler::StatusOfStored(const v1::LeaseRef& lease) {
  const absl::StatusOr<TaskRow> row = store_.Task(lease.task());
  if (absl::IsNotFound(row.status())) {
    return Outcomes::StatusOfRepeated(lease, TaskState::kReady, /*token=*/0);
  }
  RETURN_IF_ERROR(row.status());
  return Outcomes::StatusOfRepeated(lease, row->state, row->token);
}

void Scheduler::Tick() {
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change;
    outcomes_.Expire(change);
    ticket = Append(std::move(change));
  }
  // An error stays in status(), where the owner looks.
  if (status().ok()) commits_.Wait(ticket, /*sync=*/false).IgnoreError();
}

void Scheduler::Drain() {
  {
    absl::MutexLock lock(&mutex_);
    dispatcher_.Drain();
  }
  ready_.Notify();
  changed_.Notify();
}

bool Scheduler::draining() const {
  absl::MutexLock lock(&mutex_);
  return dispatcher_.draining();
}

QueueStats Scheduler::Stats() const {
  absl::MutexLock lock(&mutex_);
  QueueStats stats;
  jobs_.AddTo(stats);
  stats.leases = static_cast<int64_t>(dispatcher_.lease_count());
  return stats;
}

}  // namespace kernelmill::coordinator
