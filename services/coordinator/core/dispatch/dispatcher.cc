// The part of Scheduler that decides who runs what.

#include <utility>

#include "common/base/status.h"
#include "common/worker/stage.h"
#include "services/coordinator/core/scheduler.h"
#include "services/coordinator/core/visits.h"

namespace kernelmill::coordinator {

Job* Scheduler::Running(uint64_t task) {
  const auto job = running_.find(JobOf(task));
  return job == running_.end() ? nullptr : job->second.get();
}

void Scheduler::Requeue(uint64_t task) {
  if (Job* job = Running(task)) {
    job->Requeue(IndexOf(task));
    ready_.Notify();
  }
}

LeaseTable::Terms Scheduler::TermsOf(const Job& job, uint32_t index, const v1::Action& action) {
  LeaseTable::Terms terms;
  terms.alone = job.Find(index)->crashes > 0;
  terms.action = worker::ActionDigest(action).hash();
  terms.host = job.HostOf(index);
  return terms;
}

absl::StatusOr<Scheduler::Leases> Scheduler::Lease(const Asker& asker) {
  RETURN_IF_ERROR(status());
  Leases leases;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (draining_) return absl::UnavailableError("the coordinator is draining");
    const Clock::Time now = clock_.Now();
    Change change;
    const WorkerRegistry::Seen seen = workers_.Hear(asker.worker, asker.incarnation);
    if (seen.ended != 0) {
      for (const LeaseTable::Ended& lease : leases_.TakeOf(seen.ended)) {
        AttemptCrashed(lease, absl::AbortedError("its worker ended in the middle of it"), now,
                       change);
      }
    }
    Expire(now, change);
    const Choice choice = ChooseJob(asker.stages);
    if (!choice.alone) {
      LeaseShared(asker, seen.run, now, leases, change);
    } else if (asker.held > 0) {
      leases.finish_first = true;
    } else {
      while (const auto index = choice.job->PopAlone(asker.stages)) {
        if (LeaseOne(*choice.job, *index, seen.run, now, leases, change)) break;
      }
    }
    ticket = Append(std::move(change));
  }
  if (!leases.tasks.empty()) RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/false));
  return leases;
}

void Scheduler::LeaseShared(const Asker& asker, uint64_t run, Clock::Time now, Leases& leases,
                            Change& change) {
  while (static_cast<int>(leases.tasks.size()) < asker.max_tasks) {
    const Choice choice = ChooseJob(asker.stages);
    if (choice.job == nullptr || choice.alone) return;
    last_served_ = choice.job->sequence();
    const std::optional<uint32_t> index = choice.job->PopReady(asker.stages);
    LeaseOne(*choice.job, *index, run, now, leases, change);
  }
}

// Of the jobs with something ready, those with the highest priority; of these one with a task that
// must run alone; else the one with the fewest leases, so that jobs share the workers evenly, and
// of equals the next in turn.
Scheduler::Choice Scheduler::ChooseJob(const StageSet& stages) {
  Choice best;
  const auto before = [last = last_served_](const Job& a, const Job& b) {
    if (a.leased() != b.leased()) return a.leased() < b.leased();
    const bool a_next = a.sequence() > last, b_next = b.sequence() > last;
    return a_next != b_next ? a_next : a.sequence() < b.sequence();
  };
  for (const auto& [sequence, job] : running_) {
    const bool alone = job->HasAlone(stages);
    if (!alone && !job->HasShared(stages)) continue;
    const bool better = best.job == nullptr || job->priority() > best.job->priority() ||
                        (job->priority() == best.job->priority() &&
                         (alone != best.alone ? alone : before(*job, *best.job)));
    if (better) best = {job.get(), alone};
  }
  return best;
}

// The wall clock decides here, and nowhere else: visits outlive the process. What it decides is
// kept as the task's outcome, so that it is decided once.
bool Scheduler::PinFromVisit(Job& job, uint32_t index, Change& change) {
  const v1::Source* const source = job.SourceToPin(index);
  if (source == nullptr || !source->has_git() || !job.spec().has_visits()) return false;
  const absl::StatusOr<Visit> visit = store_.LastVisit(source->git(), source->ref());
  if (!visit.ok() || !IsRecent(*visit, job.spec().visits(), clock_.WallNow())) return false;
  const absl::StatusOr<v1::StageResult> pinned = PinFrom(*visit, *source);
  if (!pinned.ok() && job.runs() > 1) return false;  // who asks for a retry wants it tried
  if (pinned.ok()) {
    job.Succeeded(index, *pinned, /*cached=*/true, change);
  } else {
    job.Failed(index, /*token=*/0, pinned.status(), change);
  }
  return true;
}

bool Scheduler::LeaseOne(Job& job, uint32_t index, uint64_t run, Clock::Time now, Leases& leases,
                         Change& change) {
  if (PinFromVisit(job, index, change)) return false;
  const uint64_t id = TaskId(job.sequence(), index);
  v1::Action action = job.ActionOf(index);
  LeaseTable::Terms terms = TermsOf(job, index, action);
  terms.worker = run;
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

absl::StatusOr<std::vector<v1::LeaseRef>> Scheduler::Renew(
    const std::vector<v1::LeaseRef>& leases) {
  RETURN_IF_ERROR(status());
  absl::MutexLock lock(&mutex_);
  const Clock::Time now = clock_.Now();
  Change change;
  Expire(now, change);
  Append(std::move(change));  // kept with the next change that somebody waits for
  std::vector<v1::LeaseRef> lost;
  for (const v1::LeaseRef& lease : leases) {
    if (!leases_.Renew(lease.task(), lease.token(), now)) lost.push_back(lease);
  }
  return lost;
}

}  // namespace kernelmill::coordinator
