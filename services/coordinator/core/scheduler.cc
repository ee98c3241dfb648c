#include "services/coordinator/core/scheduler.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "common/base/status.h"
#include "kernelmill/v1/crawl.pb.h"
#include "services/coordinator/core/plan/plan.h"
#include "services/coordinator/core/plan/task.h"

namespace kernelmill::coordinator {

namespace {

// One page of a job's failures. Its token is the task of the last failure before the page, so that
// pages stay consistent while the job runs, and when it ends between two pages.
class FailurePage {
 public:
  // Parses a request. INVALID_ARGUMENT: the page size or the token is invalid.
  static absl::StatusOr<FailurePage> Parse(const v1::ListFailuresRequest& request);

  // The last task before the page; null for the first page.
  const TaskKey* after() const { return after_.has_value() ? &*after_ : nullptr; }
  // The number of failures that Answer needs: one more than the page has, to find out whether it is
  // the last page.
  size_t limit() const { return size_ + 1; }

  // Makes the answer with as many of the failures as fit into the page and into a message.
  v1::ListFailuresResponse Answer(std::vector<TaskFailure> failures) const;

 private:
  FailurePage(size_t size, std::optional<TaskKey> after) : size_(size), after_(after) {}

  size_t size_;
  std::optional<TaskKey> after_;
};

constexpr int kMaxPageSize = 1000;
// Bounds a page; a failure has some kilobytes at most.
constexpr size_t kMaxPageBytes = 4 << 20;

// Returns the token "stage.source.shard.sub_shard", in numbers.
std::string ToToken(const TaskKey& task) {
  return absl::StrCat(static_cast<int>(task.stage), ".", task.source, ".", task.shard, ".",
                      task.sub_shard);
}

absl::StatusOr<TaskKey> ParseToken(const std::string& token) {
  const std::vector<std::string> parts = absl::StrSplit(token, '.');
  uint32_t stage = 0, sub_shard = 0;
  TaskKey task;
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[0], &stage) || stage >= kStageCount ||
      !absl::SimpleAtoi(parts[1], &task.source) || !absl::SimpleAtoi(parts[2], &task.shard) ||
      !absl::SimpleAtoi(parts[3], &sub_shard) || sub_shard > UINT16_MAX) {
    return absl::InvalidArgumentError("page_token: must be a token from an earlier answer");
  }
  task.stage = static_cast<StageId>(stage);
  task.sub_shard = static_cast<SubShard>(sub_shard);
  return task;
}

absl::StatusOr<FailurePage> FailurePage::Parse(const v1::ListFailuresRequest& request) {
  if (request.page_size() < 0 || request.page_size() > kMaxPageSize) {
    return absl::InvalidArgumentError(absl::StrCat("page_size: must be 0 to ", kMaxPageSize));
  }
  const int size = request.page_size() == 0 ? kMaxPageSize : request.page_size();
  if (request.page_token().empty()) return FailurePage(size, std::nullopt);
  const absl::StatusOr<TaskKey> after = ParseToken(request.page_token());
  if (!after.ok()) return after.status();
  return FailurePage(size, *after);
}

v1::ListFailuresResponse FailurePage::Answer(std::vector<TaskFailure> failures) const {
  v1::ListFailuresResponse answer;
  size_t bytes = 0;
  for (size_t i = 0; i < failures.size(); ++i) {
    const size_t more = failures[i].failure.ByteSizeLong();
    const bool full = i == size_ || (i > 0 && bytes + more > kMaxPageBytes);
    if (full) {
      answer.set_next_page_token(ToToken(failures[i - 1].task));
      break;
    }
    bytes += more;
    *answer.add_failures() = std::move(failures[i].failure);
  }
  return answer;
}

}  // namespace

// Scheduler is the coordinator's only entry: it orders all calls of clients and workers with one
// mutex. Each call that changes something has four steps:
//
// 1. Under mutex_: change the jobs, leases and queues in memory, and collect the rows in a Change.
// 2. Under mutex_: append the Change to the commit queue, which gives a ticket. So the order of the
//    commits is the order of the changes in memory.
// 3. Without mutex_: wait until the ticket is stored. One waiting thread writes for all
//    (commit_queue.cc).
// 4. Answer.
//
// So no client sees a state that a crash can undo, and no I/O happens under the mutex. Log lines
// and metrics are collected under the mutex too, and are written by the destructor of `lines` after
// it. Once a write fails, status() is an error for ever: memory is ahead of the store, so calls
// that change something are refused and the process ends.
//
// Leases are stored without a sync: after a power failure a task may be leased twice, which costs
// work but no result. Submissions are synced, and ends before a client sees them.
absl::StatusOr<std::unique_ptr<Scheduler>> Scheduler::Open(const Options& options,
                                                           StateStore& store, const Clock& clock) {
  std::unique_ptr<Scheduler> scheduler(new Scheduler(options, store, clock));
  RETURN_IF_ERROR(scheduler->Load());
  return scheduler;
}

Scheduler::Scheduler(const Options& options, StateStore& store, const Clock& clock)
    : sync_completions_(options.sync_completions),
      observer_(options.observer),
      store_(store),
      clock_(clock),
      commits_(store, observer_.synced),
      attempts_(&observer_),
      jobs_(options.jobs, store),
      dispatcher_(options.dispatch, {jobs_, store, clock, ready_, attempts_}),
      outcomes_(options.outcomes, jobs_, dispatcher_, clock, attempts_) {}

Change Scheduler::NewChange() const {
  Change change;
  change.unix_ms = absl::ToUnixMillis(clock_.WallNow());
  return change;
}

absl::Status Scheduler::Load() {
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change = NewChange();
    RETURN_IF_ERROR(jobs_.Load(change));
    dispatcher_.RestoreLeases();
    ticket = Append(std::move(change));
  }
  return commits_.Wait(ticket, /*sync=*/true);
}

// Appends the change and wakes those who wait for it: workers if a task became ready, watchers for
// any change. The caller holds mutex_.
uint64_t Scheduler::Append(Change change) {
  bool readied = !change.jobs.empty();
  for (const TaskRow& task : change.tasks) readied |= task.state == TaskState::kReady;
  const bool any = !change.empty();
  std::vector<uint32_t> ended;
  for (const EndedJob& job : change.ended) ended.push_back(job.sequence);
  const uint64_t ticket = commits_.Append(std::move(change));
  for (const uint32_t sequence : ended) jobs_.SetEndTicket(sequence, ticket);
  if (any) changed_.Notify();
  if (readied) ready_.Notify();
  return ticket;
}

absl::StatusOr<std::string> Scheduler::Submit(v1::JobSpec spec, const std::string& request_id,
                                              int32_t priority, const std::string& caller,
                                              bool no_cache) {
  RETURN_IF_ERROR(JobTable::CheckSubmission(spec, request_id, priority));
  RETURN_IF_ERROR(status());
  std::string id;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change = NewChange();
    ASSIGN_OR_RETURN(
        id, jobs_.Submit(std::move(spec), {request_id, priority, caller, no_cache}, change));
    ticket = Append(std::move(change));
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  return id;
}

// A running job is answered from memory, an ended one from the store.
absl::StatusOr<v1::JobStatus> Scheduler::GetJob(const std::string& id) {
  uint32_t sequence = 0;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(sequence, jobs_.FindSequence(id));
    if (const Job* const job = jobs_.Running(sequence)) {
      v1::JobStatus status = job->Status();
      dispatcher_.unserved().AddTo(*job, status);
      return status;
    }
    ticket = jobs_.EndTicket(sequence);
  }
  // The end of a job is reported only after it is stored, so that a crash cannot undo it.
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  return store_.Status(sequence);
}

absl::StatusOr<v1::ListFailuresResponse> Scheduler::ListFailures(
    const v1::ListFailuresRequest& request) {
  ASSIGN_OR_RETURN(const FailurePage page, FailurePage::Parse(request));
  uint32_t sequence = 0;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(sequence, jobs_.FindSequence(request.job()));
    if (const Job* const job = jobs_.Running(sequence)) {
      return page.Answer(job->Failures(page.after(), page.limit()));
    }
    ticket = jobs_.EndTicket(sequence);
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  ASSIGN_OR_RETURN(std::vector<TaskFailure> failures,
                   store_.Failures(sequence, page.after(), page.limit()));
  return page.Answer(std::move(failures));
}

// Returns the job's sequence number once its end is stored. FAILED_PRECONDITION: the job is
// running. NOT_FOUND: the job does not exist.
absl::StatusOr<uint32_t> Scheduler::WaitForEnd(const std::string& id) {
  uint32_t sequence = 0;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(sequence, jobs_.FindSequence(id));
    if (jobs_.Running(sequence) != nullptr) {
      return absl::FailedPreconditionError(absl::StrCat("job ", id, " is running"));
    }
    ticket = jobs_.EndTicket(sequence);
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  return sequence;
}

// Passes the parts of the lock. A job that was abandoned has no lock; its spec takes its place.
absl::Status Scheduler::ReadJobLock(uint32_t sequence,
                                    absl::FunctionRef<bool(const v1::JobSpec&)> visit) {
  bool any = false;
  RETURN_IF_ERROR(store_.ForEachLockPart(sequence, [&](const v1::JobSpec& part) {
    any = true;
    return visit(part);
  }));
  if (any) return absl::OkStatus();
  ASSIGN_OR_RETURN(v1::JobSpec spec, store_.Spec(sequence));
  for (const v1::JobSpec& part : SplitSpec(std::move(spec))) {
    if (!visit(part)) break;
  }
  return absl::OkStatus();
}

absl::Status Scheduler::ReadLock(const std::string& id,
                                 absl::FunctionRef<bool(const v1::JobSpec&)> write) {
  ASSIGN_OR_RETURN(const uint32_t sequence, WaitForEnd(id));
  return ReadJobLock(sequence, write);
}

absl::StatusOr<std::string> Scheduler::GetOwner(const std::string& id) const {
  const absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const uint32_t sequence, jobs_.FindSequence(id));
  return jobs_.GetOwner(sequence);
}

absl::StatusOr<uint64_t> Scheduler::JobVersion(const std::string& id) {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const uint32_t sequence, jobs_.FindSequence(id));
  const Job* const job = jobs_.Running(sequence);
  // Both numbers only increase, so their sum increases with each change of either.
  return job == nullptr ? 0 : job->version() + dispatcher_.unserved().version();
}

std::vector<v1::JobStatus> Scheduler::ListJobs() {
  absl::MutexLock lock(&mutex_);
  std::vector<v1::JobStatus> jobs = jobs_.List();
  for (v1::JobStatus& status : jobs) {
    if (status.state() != v1::JOB_STATE_RUNNING) continue;
    dispatcher_.unserved().AddTo(*jobs_.Running(*jobs_.FindSequence(status.job())), status);
  }
  return jobs;
}

std::vector<JobSummary> Scheduler::JobSummaries() const {
  absl::MutexLock lock(&mutex_);
  return jobs_.Summaries();
}

absl::StatusOr<v1::JobStatus> Scheduler::Cancel(const std::string& id) {
  RETURN_IF_ERROR(status());
  AttemptLog::Lines lines;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(const uint32_t sequence, jobs_.FindSequence(id));
    if (Job* const job = jobs_.Running(sequence)) {
      Change change = NewChange();
      outcomes_.Cancel(*job, change);
      attempts_.MoveTo(lines);
      Append(std::move(change));
    }
  }
  return GetJob(id);  // waits until the job's end is stored
}

// Runs an ended job again from its lock. Two calls at the same time lead to one run: the second one
// finds the job running and returns its status.
absl::StatusOr<v1::JobStatus> Scheduler::Retry(const std::string& id, const std::string& caller,
                                               bool no_cache) {
  RETURN_IF_ERROR(status());
  ASSIGN_OR_RETURN(v1::JobStatus before, GetJob(id));
  if (before.state() == v1::JOB_STATE_RUNNING) return before;
  v1::JobSpec pinned;
  const absl::StatusOr<uint32_t> sequence = WaitForEnd(id);
  if (absl::IsFailedPrecondition(sequence.status())) return GetJob(id);  // another call retried it
  RETURN_IF_ERROR(sequence.status());
  RETURN_IF_ERROR(ReadJobLock(*sequence, [&](const v1::JobSpec& part) {
    pinned.MergeFrom(part);
    return true;
  }));
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change = NewChange();
    if (jobs_.HasEnded(*sequence)) {  // false if another call has retried it meanwhile
      RETURN_IF_ERROR(jobs_.RunAgain(before, std::move(pinned), caller, no_cache, change));
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
    ASSIGN_OR_RETURN(const uint32_t sequence, jobs_.FindSequence(id));
    Change change = NewChange();
    RETURN_IF_ERROR(jobs_.Delete(sequence, change));
    ticket = Append(std::move(change));
  }
  return commits_.Wait(ticket, /*sync=*/true);
}

absl::Status Scheduler::DeleteOldJobs(absl::Time now) {
  Change change = NewChange();
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    jobs_.DeleteOld(now, change);
    if (change.empty()) return absl::OkStatus();
    ticket = Append(std::move(change));
  }
  return commits_.Wait(ticket, /*sync=*/true);
}

// Each call of a worker first applies what time has changed: a new incarnation of a worker ends the
// leases of the one before, and expired leases are given back. So a lease is decided on the current
// state even if the ticker is late.
absl::StatusOr<Leases> Scheduler::Lease(const LeaseQuery& query) {
  RETURN_IF_ERROR(status());
  Leases leases;
  AttemptLog::Lines lines;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (dispatcher_.draining()) return absl::UnavailableError("the coordinator is draining");
    Change change = NewChange();
    const WorkerRegistry::Runs runs = dispatcher_.Hear(query);
    outcomes_.WorkerEnded(runs.ended, change);
    outcomes_.Expire(change);
    leases = dispatcher_.Lease(query, runs.current, change);
    attempts_.MoveTo(lines);
    ticket = Append(std::move(change));
  }
  if (!leases.tasks.empty()) RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/false));
  return leases;
}

absl::StatusOr<std::vector<v1::LeaseRef>> Scheduler::Renew(const std::vector<v1::LeaseRef>& leases,
                                                           const WorkerId& worker,
                                                           const std::string& waits_for) {
  RETURN_IF_ERROR(status());
  AttemptLog::Lines lines;
  absl::MutexLock lock(&mutex_);
  Change change = NewChange();
  dispatcher_.HearAgain(worker);
  outcomes_.Expire(change);
  attempts_.MoveTo(lines);
  Append(std::move(change));  // stored with the next change that a thread waits for
  std::vector<v1::LeaseRef> lost = dispatcher_.Renew(leases, worker.caller);
  if (dispatcher_.SetWaiting(leases, worker.caller, waits_for)) changed_.Notify();
  return lost;
}

absl::StatusOr<std::vector<absl::Status>> Scheduler::Complete(
    const std::vector<v1::Completion>& completions, const WorkerId& worker) {
  RETURN_IF_ERROR(status());
  std::vector<std::optional<absl::Status>> taken;
  AttemptLog::Lines lines;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change = NewChange();
    dispatcher_.HearAgain(worker);
    outcomes_.Expire(change);
    for (const v1::Completion& completion : completions) {
      taken.push_back(outcomes_.Complete(completion, worker, change));
    }
    attempts_.MoveTo(lines);
    // Waits for earlier changes too, since a repeated completion confirms an earlier one.
    ticket = Append(std::move(change));
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, sync_completions_));
  std::vector<absl::Status> statuses;
  for (size_t i = 0; i < completions.size(); ++i) {
    statuses.push_back(taken[i].has_value() ? *taken[i] : StatusOfStored(completions[i].lease()));
  }
  return statuses;
}

// Answers for a completion of a job that has ended and is no longer in memory. OK: this very
// completion was taken before, and the worker only missed the answer.
absl::Status Scheduler::StatusOfStored(const v1::LeaseRef& lease) {
  const absl::StatusOr<TaskRow> row = store_.Task(lease.task());
  if (absl::IsNotFound(row.status())) {
    return Outcomes::StatusOfRepeated(lease, TaskState::kReady, /*token=*/0);
  }
  RETURN_IF_ERROR(row.status());
  return Outcomes::StatusOfRepeated(lease, row->state, row->token);
}

void Scheduler::Tick() {
  AttemptLog::Lines lines;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change = NewChange();
    outcomes_.Expire(change);
    if (dispatcher_.LookForWorkers()) changed_.Notify();
    attempts_.MoveTo(lines);
    ticket = Append(std::move(change));
  }
  // The owner checks status().
  if (status().ok()) commits_.Wait(ticket, /*sync=*/false).IgnoreError();
}

// Refuses new leases from now on; running tasks may still report. Waiting calls wake up to see it.
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

std::vector<v1::WorkerInfo> Scheduler::ListWorkers() const {
  absl::MutexLock lock(&mutex_);
  return dispatcher_.Workers();
}

// A page has the attempts of up to kTasks tasks from `first` on: the ended ones from the store, the
// open ones from memory. The open ones are taken first; an attempt that ends between the two reads
// may appear twice, but never goes missing.
absl::StatusOr<Scheduler::TimelinePage> Scheduler::Timeline(const std::string& id, uint32_t first) {
  constexpr uint32_t kTasks = 1000;
  const uint32_t end = first + kTasks;
  TimelinePage page;
  std::vector<v1::TaskSpan> open;
  uint32_t sequence = 0;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(sequence, jobs_.FindSequence(id));
    if (jobs_.Running(sequence) == nullptr) {
      ticket = jobs_.EndTicket(sequence);
    } else {
      open = dispatcher_.OpenSpans(*jobs_.Running(sequence), first, end);
      if (jobs_.Running(sequence)->task_count() >= end) page.next = end;
    }
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/false));
  RETURN_IF_ERROR(store_.ForEachSpan(TaskId(sequence, first), [&](const v1::TaskSpan& span) {
    if (TaskIndex(span.task()) >= end) {
      page.next = end;
      return false;
    }
    page.spans.push_back(span);
    return true;
  }));
  std::move(open.begin(), open.end(), std::back_inserter(page.spans));
  std::stable_sort(page.spans.begin(), page.spans.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.task(), a.attempt()) < std::make_pair(b.task(), b.attempt());
  });
  return page;
}

Scheduler::WorkerStats Scheduler::CountWorkers() const {
  absl::MutexLock lock(&mutex_);
  return {dispatcher_.Census(), dispatcher_.UnservedTasks()};
}

QueueStats Scheduler::Stats() const {
  absl::MutexLock lock(&mutex_);
  QueueStats stats;
  stats.unix_ms = absl::ToUnixMillis(clock_.WallNow());
  jobs_.AddTo(stats);
  dispatcher_.AddTo(stats);
  return stats;
}

}  // namespace kernelmill::coordinator
