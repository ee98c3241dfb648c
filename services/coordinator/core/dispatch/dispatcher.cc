#include "services/coordinator/core/dispatch/dispatcher.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/log.h"
#include "common/job/source_spec.h"
#include "common/worker/stage.h"
#include "services/coordinator/core/dispatch/pin_history.h"
#include "services/coordinator/core/dispatch/worker_registry.h"

namespace kernelmill::coordinator {
namespace {

// The pause between two checks for stages without a worker.
constexpr std::chrono::milliseconds kLookPause(500);
// A worker counts as disconnected after the longer of this silence and a lease's time to live. Idle
// workers ask again every few seconds, and busy ones renew their leases.
constexpr std::chrono::seconds kShortestSilence(5);

// Logs, once for each run of a worker, its stages whose version differs: it gets no tasks of them.
void LogOtherVersions(const LeaseQuery& query) {
  std::string stages;
  for (int i = 0; i < kStageCount; ++i) {
    const int32_t version = query.facts.stages[i];
    const StageInfo& info = GetStageInfo(static_cast<StageId>(i));
    if (version == 0 || version == info.version) continue;
    absl::StrAppend(&stages, stages.empty() ? "" : ", ", std::string(info.name), " ", version,
                    " (not ", info.version, ")");
  }
  if (stages.empty()) return;
  LogWarning("a worker has different versions of stages and gets no tasks of them",
             {{"worker", query.worker.name},
              {"caller", query.worker.caller},
              {"version", query.facts.version},
              {"stages", stages}});
}

// Returns the host that the task uses; empty if it uses none.
std::string GetHost(const Job& job, uint32_t index) {
  const TaskKey& key = job.Find(index)->key;
  if (!GetStageInfo(key.stage).calls_host) return "";
  return job::SourceHost(job.GetSource(key));
}

// Bounds one answer to a worker. The actions of pair, resolve, split and manifest name every shard
// of the job, which takes tens of megabytes for 100,000 sources: such an action is sent alone.
constexpr size_t kMaxLeaseBytes = 4 << 20;

LeaseTerms MakeTerms(const Job& job, uint32_t index, const v1::Action& action, std::string host) {
  LeaseTerms terms;
  terms.alone = job.Find(index)->crashes > 0;
  // A task without caching must not share a result that a worker found in the cache.
  terms.action =
      absl::StrCat(worker::ActionDigest(action).hash(), job.no_cache() ? " without cache" : "");
  terms.host = std::move(host);
  return terms;
}

}  // namespace

// After a restart the stored leases go on: their workers still run the tasks. Each gets a whole
// time to live, and takes its place in the host's limit and as the leader of its action.
void Dispatcher::RestoreLeases() {
  const Clock::Time now = clock_.Now();
  for (const auto& [sequence, job] : jobs_.running()) {
    for (const uint32_t index : job->LeasedTasks()) {
      const uint64_t task = TaskId(sequence, index);
      LeaseTerms terms = MakeTerms(*job, index, job->MakeAction(index), GetHost(*job, index));
      terms.leased_unix_ms = absl::ToUnixMillis(clock_.WallNow());
      in_flight_.Lead(terms.action, task, job->Find(index)->key.stage);
      hosts_.Take(terms.host, task, now);
      leases_.Restore(task, job->Find(index)->token, now, std::move(terms));
    }
  }
}

WorkerRegistry::Runs Dispatcher::Hear(const LeaseQuery& query) {
  const WorkerRegistry::Runs runs = workers_.Hear(query.worker, query.facts, clock_.Now());
  if (runs.began) {
    LogOtherVersions(query);
    CountSlots();
  }
  return runs;
}

void Dispatcher::CountSlots() {
  if (!share_slots_) return;
  const WorkerCensus census = Census();
  int64_t slots = 0;
  for (int i = 0; i < kStageCount; ++i) {
    if (GetStageInfo(static_cast<StageId>(i)).calls_host) {
      slots = std::max(slots, census[i].same.slots);
    }
  }
  hosts_.SetSlots(slots);
}

// The basic idea: of the jobs that have a task for this worker, the one with the highest priority
// is served; among equal ones one of the owner with the fewest leased tasks, so that who submits
// many jobs gets no more than others; then the one with the fewest leased tasks, so that a small
// job is not stuck behind a large one; then in turn. Jobs of an owner at the limit are passed over.
//
// A task that has crashed a worker runs alone: the worker must hold no other task. If such a task
// is next and the worker holds some, the answer is finish_first, and the worker asks again when
// they are done. In a loop, since LeaseOne may find that the task need not run.
Leases Dispatcher::Lease(const LeaseQuery& query, uint64_t run, Change& change) {
  Leases leases;
  const Request request = {query, run, leases, change};
  const Choice choice = ChooseJob(query.stages);
  if (!choice.alone) {
    LeaseShared(request);
  } else if (query.held > 0) {
    leases.finish_first = true;
  } else {
    while (const auto index = choice.job->PopAlone(query.stages)) {
      if (LeaseOne(request, *choice.job, *index)) break;
    }
  }
  return leases;
}

void Dispatcher::LeaseShared(const Request& request) {
  const LeaseQuery& query = request.query;
  const Leases& leases = request.leases;
  size_t bytes = 0;
  while (static_cast<int>(leases.tasks.size()) < query.max_tasks && bytes < kMaxLeaseBytes) {
    const Choice choice = ChooseJob(query.stages);
    if (choice.job == nullptr || choice.alone) return;
    last_served_ = choice.job->sequence();
    const std::optional<uint32_t> index = choice.job->PopReady(query.stages);
    if (LeaseOne(request, *choice.job, *index)) {
      bytes += leases.tasks.back().ByteSizeLong();
    }
  }
}

// Linear in the number of running jobs. Tasks that run alone come first within a job's priority,
// since they decide whether a shard is split.
Dispatcher::Choice Dispatcher::ChooseJob(const StageSet& stages) const {
  absl::flat_hash_map<absl::string_view, int64_t> leased;  // by owner
  for (const auto& [sequence, job] : jobs_.running()) leased[job->owner()] += job->leased();
  // The least is served first.
  const auto rank = [&](const Job& job, bool alone) {
    return std::make_tuple(-job.priority(), !alone, leased[job.owner()], job.leased(),
                           job.sequence() <= last_served_, job.sequence());
  };
  Choice best;
  for (const auto& [sequence, job] : jobs_.running()) {
    const bool alone = job->HasAlone(stages);
    if (!alone && !job->HasShared(stages)) continue;
    if (leased_per_owner_ > 0 && leased[job->owner()] >= leased_per_owner_) continue;
    if (best.job == nullptr || rank(*job, alone) < rank(*best.job, best.alone)) {
      best = {job.get(), alone};
    }
  }
  return best;
}

// Leases the popped task, and returns true; or leaves it to another mechanism, and returns false:
// its outcome is known from the pin history, its host has no place (HostLimits keeps it), or the
// same action is running for another task (InFlightActions makes it a follower, which gets the
// leader's result). In each case the task leaves its job's queue.
bool Dispatcher::LeaseOne(const Request& request, Job& job, uint32_t index) {
  Change& change = request.change;
  if (PinFromHistory(job, index, change)) return false;
  const Clock::Time now = clock_.Now();
  const uint64_t id = TaskId(job.sequence(), index);
  // Checked before the action is made: of 100,000 repositories of one host, most wait here.
  std::string host = GetHost(job, index);
  if (!hosts_.Take(host, id, now)) return false;
  v1::Action action = job.MakeAction(index);
  LeaseTerms terms = MakeTerms(job, index, action, std::move(host));
  terms.worker = request.run;
  terms.caller = request.query.worker.caller;
  terms.name = request.query.worker.name;
  terms.leased_unix_ms = change.unix_ms;
  const bool alone = terms.alone;
  if (!in_flight_.Lead(terms.action, id, job.Find(index)->key.stage)) {
    hosts_.Release(terms.host);
    return false;
  }
  attempts_.Leased(job, index, terms);
  const uint64_t token = leases_.Grant(id, now, std::move(terms));
  job.Leased(index, token, change);
  v1::LeasedTask& task = request.leases.tasks.emplace_back();
  task.set_task(id);
  task.set_token(token);
  task.set_ttl_ms(static_cast<int32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(leases_.ttl()).count()));
  task.set_attempt(static_cast<int32_t>(job.Find(index)->attempts) + 1);
  task.set_job(job.id());
  task.set_alone(alone);
  task.set_no_cache(job.no_cache());
  *task.mutable_action() = std::move(action);
  return true;
}

// The wall clock decides here, because the history outlives the process. The decision is stored as
// the task's outcome, so that it is made only once.
bool Dispatcher::PinFromHistory(Job& job, uint32_t index, Change& change) {
  const std::optional<v1::Source> source = job.SourceToPin(index);
  if (!source.has_value() || !source->has_git() || !job.settings().has_visits()) return false;
  const absl::StatusOr<PinRecord> last = store_.LastPin(source->git(), source->ref());
  if (!last.ok() || !IsRecent(*last, job.settings().visits(), clock_.WallNow())) return false;
  const absl::StatusOr<v1::StageResult> pinned = ResultFrom(*last, *source);
  if (!pinned.ok() && job.runs() > 1) return false;  // a retry of the job asks the host again
  attempts_.Ended(job, index, {}, {"recent", pinned.status()}, change);
  if (pinned.ok()) {
    if (!job.Succeeded(index, *pinned, /*cached=*/true, change).ok()) return false;
    attempts_.Succeeded(job, index, Origin::kHistory, *pinned);
    return true;
  }
  attempts_.FailedBefore(job, index, pinned.status());
  job.Failed(index, /*token=*/0, pinned.status(), change);
  return true;
}

std::vector<v1::LeaseRef> Dispatcher::Renew(const std::vector<v1::LeaseRef>& leases,
                                            const std::string& caller) {
  const Clock::Time now = clock_.Now();
  std::vector<v1::LeaseRef> lost;
  for (const v1::LeaseRef& lease : leases) {
    if (!leases_.Renew(lease.task(), lease.token(), caller, now)) lost.push_back(lease);
  }
  return lost;
}

// Returns whether any job's status changed.
bool Dispatcher::SetWaiting(const std::vector<v1::LeaseRef>& leases, const std::string& caller,
                            const std::string& waits_for) {
  bool news = false;
  for (const v1::LeaseRef& lease : leases) {
    Job* const job = Holds(lease, caller) ? jobs_.Running(TaskJob(lease.task())) : nullptr;
    if (job != nullptr) news |= job->SetWaiting(TaskIndex(lease.task()), waits_for);
  }
  return news;
}

// Gives back the place at the host and ends the leadership of the action. Returns the followers,
// which have no leader now: the caller gives them the result or queues them again.
std::vector<uint64_t> Dispatcher::Free(const LeaseTerms& terms) {
  hosts_.Release(terms.host);
  // Ready tasks of the same owner may have waited for this.
  if (leased_per_owner_ > 0) ready_.Notify();
  return in_flight_.End(terms.action);
}

std::vector<uint64_t> Dispatcher::ReleaseLease(uint64_t task) {
  return Free(leases_.Release(task));
}

// The followers of an ended lease get no result, so one of them leads next.
void Dispatcher::FreeAndRequeue(const std::vector<EndedLease>& ended) {
  for (const EndedLease& lease : ended) {
    for (const uint64_t follower : Free(lease.terms)) Requeue(follower);
  }
}

std::vector<EndedLease> Dispatcher::TakeExpired() {
  std::vector<EndedLease> ended = leases_.TakeExpired(clock_.Now());
  FreeAndRequeue(ended);
  return ended;
}

std::vector<EndedLease> Dispatcher::TakeWorkerLeases(uint64_t run) {
  std::vector<EndedLease> ended = leases_.TakeByWorker(run);
  FreeAndRequeue(ended);
  return ended;
}

void Dispatcher::ReleaseJobLeases(const Job& job) {
  for (const uint32_t index : job.LeasedTasks()) {
    for (const uint64_t follower : ReleaseLease(TaskId(job.sequence(), index))) Requeue(follower);
  }
  hosts_.Drop(job.sequence());
  in_flight_.Drop(job.sequence());
}

void Dispatcher::Requeue(uint64_t task) {
  if (Job* const job = jobs_.Running(TaskJob(task))) {
    job->Requeue(TaskIndex(task));
    ready_.Notify();
  }
}

// Makes tasks ready whose time has come: those whose host has places again, and those whose pause
// after a failure is over.
void Dispatcher::ReadyDue() {
  const Clock::Time now = clock_.Now();
  const int64_t unix_ms = absl::ToUnixMillis(clock_.WallNow());
  for (const uint64_t task : hosts_.TakeRunnable(now)) Requeue(task);
  for (const auto& [sequence, job] : jobs_.running()) {
    if (job->Promote(now, unix_ms)) ready_.Notify();
  }
}

UnservedStages::Queue Dispatcher::CountTasks() const {
  UnservedStages::Queue queue;
  for (const auto& [sequence, job] : jobs_.running()) {
    for (int i = 0; i < kStageCount; ++i) {
      queue.ready[i] += job->ReadyCount(static_cast<StageId>(i));
      queue.leased[i] += job->progress()[i].running();
    }
  }
  return queue;
}

bool Dispatcher::LookForWorkers() {
  const Clock::Time now = clock_.Now();
  if (now < next_look_) return false;
  next_look_ = now + kLookPause;
  CountSlots();
  return unserved_.Update(CountTasks(), Census(), now);
}

StageCounts Dispatcher::UnservedTasks() const {
  StageCounts tasks = CountTasks().ready;
  for (int i = 0; i < kStageCount; ++i) {
    if (!unserved_.IsUnserved(static_cast<StageId>(i))) tasks[i] = 0;
  }
  return tasks;
}

WorkerCensus Dispatcher::Census() const {
  const Clock::Duration silence = std::max<Clock::Duration>(leases_.ttl(), kShortestSilence);
  return CountWorkers(workers_, leases_, clock_.Now() - silence);
}

// Open tasks that are neither leased nor in a queue follow another task or wait for their host. The
// followers are counted; the rest waits for hosts.
void Dispatcher::AddTo(QueueStats& stats) const {
  stats.leases = static_cast<int64_t>(leases_.size());
  hosts_.AddTo(stats.hosts, clock_.Now());
  for (int i = 0; i < kStageCount; ++i) {
    StageTasks& tasks = stats.tasks[i];
    // Followers of jobs that have ended still count until their leaders end, so the numbers are
    // clamped.
    const int64_t open = std::max<int64_t>(
        tasks.total - tasks.done - tasks.failed - tasks.leased - tasks.ready - tasks.backing_off,
        0);
    tasks.sharing = std::clamp<int64_t>(in_flight_.Followers(static_cast<StageId>(i)), 0, open);
    tasks.waiting_for_host = open - tasks.sharing;
  }
}

std::vector<v1::TaskSpan> Dispatcher::OpenSpans(const Job& job, uint32_t first,
                                                uint32_t end) const {
  std::vector<v1::TaskSpan> spans;
  for (uint32_t index = first; index < end && job.Find(index) != nullptr; ++index) {
    const TaskState state = job.Find(index)->state;
    if (state != TaskState::kReady && state != TaskState::kLeased) continue;
    spans.push_back(OpenSpan(job, index, FindTerms(TaskId(job.sequence(), index))));
  }
  return spans;
}

std::vector<v1::WorkerInfo> Dispatcher::Workers() const {
  return ListWorkers(workers_, leases_, jobs_, clock_);
}

void Dispatcher::PauseHost(const Job& job, uint32_t index, Clock::Time until) {
  hosts_.Pause(GetHost(job, index), until);
}

}  // namespace kernelmill::coordinator
