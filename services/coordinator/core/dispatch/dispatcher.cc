#include "services/coordinator/core/dispatch/dispatcher.h"

#include <optional>
#include <utility>

#include "common/config/source_host.h"
#include "common/worker/stage.h"
#include "services/coordinator/core/dispatch/pin_history.h"

namespace kernelmill::coordinator {
namespace {

// The host that the task calls on; empty: none.
std::string HostOf(const Job& job, uint32_t index) {
  const TaskKey& key = job.Find(index)->key;
  if (!StageInfoOf(key.stage).calls_host) return "";
  return config::HostOfSource(job.spec().sources(key.source));
}

LeaseTerms TermsOf(const Job& job, uint32_t index, const v1::Action& action) {
  LeaseTerms terms;
  terms.alone = job.Find(index)->crashes > 0;
  terms.action = worker::ActionDigest(action).hash();
  terms.host = HostOf(job, index);
  return terms;
}

}  // namespace

void Dispatcher::RestoreLeases() {
  const Clock::Time now = clock_.Now();
  for (const auto& [sequence, job] : jobs_.running()) {
    for (const uint32_t index : job->LeasedTasks()) {
      const uint64_t task = TaskId(sequence, index);
      LeaseTerms terms = TermsOf(*job, index, job->ActionOf(index));
      in_flight_.Lead(terms.action, task);
      hosts_.Take(terms.host, task, now);
      leases_.Restore(task, job->Find(index)->token, now, std::move(terms));
    }
  }
}

Leases Dispatcher::Lease(const LeaseQuery& query, uint64_t run, Change& change) {
  Leases leases;
  const Choice choice = ChooseJob(query.stages);
  if (!choice.alone) {
    LeaseShared(query, run, leases, change);
  } else if (query.held > 0) {
    leases.finish_first = true;
  } else {
    while (const auto index = choice.job->PopAlone(query.stages)) {
      if (LeaseOne(query, *choice.job, *index, run, leases, change)) break;
    }
  }
  return leases;
}

void Dispatcher::LeaseShared(const LeaseQuery& query, uint64_t run, Leases& leases,
                             Change& change) {
  while (static_cast<int>(leases.tasks.size()) < query.max_tasks) {
    const Choice choice = ChooseJob(query.stages);
    if (choice.job == nullptr || choice.alone) return;
    last_served_ = choice.job->sequence();
    const std::optional<uint32_t> index = choice.job->PopReady(query.stages);
    LeaseOne(query, *choice.job, *index, run, leases, change);
  }
}

Dispatcher::Choice Dispatcher::ChooseJob(const StageSet& stages) const {
  Choice best;
  const auto before = [last = last_served_](const Job& a, const Job& b) {
    if (a.leased() != b.leased()) return a.leased() < b.leased();
    const bool a_next = a.sequence() > last, b_next = b.sequence() > last;
    return a_next != b_next ? a_next : a.sequence() < b.sequence();
  };
  for (const auto& [sequence, job] : jobs_.running()) {
    const bool alone = job->HasAlone(stages);
    if (!alone && !job->HasShared(stages)) continue;
    const bool better = best.job == nullptr || job->priority() > best.job->priority() ||
                        (job->priority() == best.job->priority() &&
                         (alone != best.alone ? alone : before(*job, *best.job)));
    if (better) best = {job.get(), alone};
  }
  return best;
}

bool Dispatcher::LeaseOne(const LeaseQuery& query, Job& job, uint32_t index, uint64_t run,
                          Leases& leases, Change& change) {
  if (PinFromHistory(job, index, change)) return false;
  const Clock::Time now = clock_.Now();
  const uint64_t id = TaskId(job.sequence(), index);
  v1::Action action = job.ActionOf(index);
  LeaseTerms terms = TermsOf(job, index, action);
  terms.worker = run;
  terms.caller = query.caller;
  const bool alone = terms.alone;
  if (!hosts_.Take(terms.host, id, now)) return false;
  if (!in_flight_.Lead(terms.action, id)) {
    hosts_.Release(terms.host);
    return false;
  }
  const uint64_t token = leases_.Grant(id, now, std::move(terms));
  job.Leased(index, token, change);
  v1::LeasedTask& task = leases.tasks.emplace_back();
  task.set_task(id);
  task.set_token(token);
  task.set_ttl_ms(static_cast<int32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(leases_.ttl()).count()));
  task.set_attempt(static_cast<int32_t>(job.Find(index)->attempts) + 1);
  task.set_job(job.id());
  task.set_alone(alone);
  *task.mutable_action() = std::move(action);
  return true;
}

// The wall clock decides here, as the history outlives the process. What it decides is stored as
// the task's outcome, so that it is decided once.
bool Dispatcher::PinFromHistory(Job& job, uint32_t index, Change& change) {
  const v1::Source* const source = job.SourceToPin(index);
  if (source == nullptr || !source->has_git() || !job.spec().has_visits()) return false;
  const absl::StatusOr<PinRecord> last = store_.LastPin(source->git(), source->ref());
  if (!last.ok() || !IsRecent(*last, job.spec().visits(), clock_.WallNow())) return false;
  const absl::StatusOr<v1::StageResult> pinned = ResultFrom(*last, *source);
  if (!pinned.ok() && job.runs() > 1) return false;  // who asks for a retry wants it tried
  if (pinned.ok()) return job.Succeeded(index, *pinned, /*cached=*/true, change).ok();
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

bool Dispatcher::SetWaiting(const std::vector<v1::LeaseRef>& leases, const std::string& caller,
                            const std::string& waits_for) {
  bool news = false;
  for (const v1::LeaseRef& lease : leases) {
    Job* const job = Holds(lease, caller) ? jobs_.Running(JobOf(lease.task())) : nullptr;
    if (job != nullptr) news |= job->SetWaiting(IndexOf(lease.task()), waits_for);
  }
  return news;
}

std::vector<uint64_t> Dispatcher::Free(const LeaseTerms& terms) {
  hosts_.Release(terms.host);
  return in_flight_.End(terms.action);
}

std::vector<uint64_t> Dispatcher::ReleaseLease(uint64_t task) {
  return Free(leases_.Release(task));
}

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

std::vector<EndedLease> Dispatcher::TakeLeasesOf(uint64_t run) {
  std::vector<EndedLease> ended = leases_.TakeOf(run);
  FreeAndRequeue(ended);
  return ended;
}

void Dispatcher::ReleaseLeasesOf(const Job& job) {
  for (const uint32_t index : job.LeasedTasks()) {
    for (const uint64_t follower : ReleaseLease(TaskId(job.sequence(), index))) Requeue(follower);
  }
}

void Dispatcher::Requeue(uint64_t task) {
  if (Job* const job = jobs_.Running(JobOf(task))) {
    job->Requeue(IndexOf(task));
    ready_.Notify();
  }
}

void Dispatcher::ReadyDue() {
  const Clock::Time now = clock_.Now();
  for (const uint64_t task : hosts_.TakeRunnable(now)) Requeue(task);
  for (const auto& [sequence, job] : jobs_.running()) {
    if (job->Promote(now)) ready_.Notify();
  }
}

void Dispatcher::PauseHost(const Job& job, uint32_t index, Clock::Time until) {
  hosts_.Pause(HostOf(job, index), until);
}

}  // namespace kernelmill::coordinator
