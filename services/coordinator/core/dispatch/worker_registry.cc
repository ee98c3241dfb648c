#include "services/coordinator/core/dispatch/worker_registry.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/time/time.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "services/coordinator/core/dispatch/lease_table.h"

namespace kernelmill::coordinator {
namespace {

// The registry remembers every worker by caller and name. Each process of a worker has a random
// incarnation; a new incarnation under a known name means that the process before has ended, so its
// leases need not wait for their expiry.
//
// Two processes with the same name would end each other's leases in turn. An incarnation that
// returns after another one shows this: the name is then marked as shared, and leases of shared
// names only end by expiry.
constexpr size_t kRemembered = 16;  // earlier incarnations of one name

}  // namespace

WorkerRegistry::Runs WorkerRegistry::Hear(const WorkerId& worker, const WorkerFacts& facts,
                                          Clock::Time now) {
  const auto [at, fresh] = entries_.try_emplace(worker);
  Entry& entry = at->second;
  entry.order = ++order_;
  entry.heard = now;
  const Runs runs = UpdateRun(entry, worker, facts.incarnation, fresh);
  entry.facts = facts;
  if (entries_.size() > max_workers_) ForgetOldest();
  return runs;
}

// Returns the current run, the run that it ended (0: no run ended), and whether a run began. A
// worker without a name or incarnation has no run.
WorkerRegistry::Runs WorkerRegistry::UpdateRun(Entry& entry, const WorkerId& worker,
                                               uint64_t incarnation, bool fresh) {
  if (incarnation == 0 || worker.name.empty()) return {0, 0, fresh};
  const uint64_t before = entry.facts.incarnation;
  if (fresh || before == 0) {
    entry.run = ++last_run_;
    return {entry.run, 0, true};
  }
  if (entry.shared) return {};
  if (before == incarnation) return {entry.run, 0, false};
  if (std::find(entry.incarnations.begin(), entry.incarnations.end(), incarnation) !=
      entry.incarnations.end()) {
    LogWarning("several workers have the same name; give each its own (--name)",
               {{"worker", worker.name}});
    entry.shared = true;
    entry.run = 0;
    return {};
  }
  entry.incarnations.push_back(before);
  if (entry.incarnations.size() > kRemembered) entry.incarnations.pop_front();
  const uint64_t ended = entry.run;
  entry.run = ++last_run_;
  return {entry.run, ended, true};
}

void WorkerRegistry::HearAgain(const WorkerId& worker, Clock::Time now) {
  const auto at = entries_.find(worker);
  if (at == entries_.end()) return;
  at->second.order = ++order_;
  at->second.heard = now;
}

void WorkerRegistry::ForgetOldest() {
  entries_.erase(std::min_element(
      entries_.begin(), entries_.end(),
      [](const auto& a, const auto& b) { return a.second.order < b.second.order; }));
}

// Counts, for each stage, the workers that have been heard since `since` by version. Workers that
// were silent for longer count apart.
WorkerCensus CountWorkers(const WorkerRegistry& workers, const LeaseTable& leases,
                          Clock::Time since) {
  std::set<WorkerId> busy;
  for (const auto& [task, lease] : leases.leases()) busy.insert(lease.terms.holder());
  WorkerCensus census;
  for (const auto& [id, worker] : workers.entries()) {
    const bool connected = worker.heard >= since;
    const bool holds = connected && busy.count(id) > 0;
    for (int i = 0; i < kStageCount; ++i) {
      const int32_t version = worker.facts.stages[i];
      if (version == 0) continue;
      const bool same = version == GetStageInfo(static_cast<StageId>(i)).version;
      StageWorkers::Group& group = same ? census[i].same : census[i].other;
      ++(!connected ? group.silent : holds ? group.busy : group.idle);
      if (connected) group.slots += worker.facts.slots;
      if (connected && !same) ++census[i].others[version];
    }
  }
  return census;
}

namespace {

// The bounds of ListWorkers, whose answer must fit into a message.
constexpr std::chrono::minutes kLately(15);
constexpr size_t kMaxWorkers = 2000;
constexpr size_t kMaxTasks = 20'000;
constexpr size_t kMaxShownSourceBytes = 200;

using Listed = std::pair<const WorkerId, WorkerRegistry::Entry>;

// Returns the workers heard most lately, at most kMaxWorkers, by name.
std::vector<const Listed*> HeardLately(const WorkerRegistry& workers, Clock::Time since) {
  std::vector<const Listed*> heard;
  for (const Listed& one : workers.entries()) {
    if (one.second.heard >= since) heard.push_back(&one);
  }
  if (heard.size() > kMaxWorkers) {
    std::nth_element(
        heard.begin(), heard.begin() + kMaxWorkers, heard.end(),
        [](const Listed* a, const Listed* b) { return a->second.heard > b->second.heard; });
    heard.resize(kMaxWorkers);
  }
  const auto by_name = [](const Listed* a, const Listed* b) {
    return std::tie(a->first.name, a->first.caller) < std::tie(b->first.name, b->first.caller);
  };
  std::sort(heard.begin(), heard.end(), by_name);
  return heard;
}

v1::WorkerInfo MakeInfo(const Listed& worker) {
  const auto& [id, entry] = worker;
  v1::WorkerInfo info;
  info.set_name(ToUtf8(id.name));
  info.set_caller(ToUtf8(id.caller));
  info.set_version(ToUtf8(entry.facts.version));
  info.set_slots(entry.facts.slots);
  for (int i = 0; i < kStageCount; ++i) {
    if (entry.facts.stages[i] == 0) continue;
    v1::StageSupport& stage = *info.add_stages();
    stage.set_stage(std::string(GetStageInfo(static_cast<StageId>(i)).name));
    stage.set_version(entry.facts.stages[i]);
  }
  return info;
}

void AddTask(uint64_t id, const LeaseTerms& terms, const JobTable& jobs, v1::WorkerInfo& info) {
  const Job* const job = jobs.Running(TaskJob(id));
  const Job::Task* const task = job == nullptr ? nullptr : job->Find(TaskIndex(id));
  if (task == nullptr) return;
  v1::RunningTask& running = *info.add_running();
  running.set_job(job->id());
  running.set_task(id);
  running.set_stage(std::string(GetStageInfo(task->key.stage).name));
  running.set_source(ToUtf8(job->GetSourceName(TaskIndex(id)).substr(0, kMaxShownSourceBytes)));
  running.set_attempt(task->attempts + 1);
  running.set_leased_unix_ms(terms.leased_unix_ms);
}

}  // namespace

std::vector<v1::WorkerInfo> ListWorkers(const WorkerRegistry& workers, const LeaseTable& leases,
                                        const JobTable& jobs, const Clock& clock) {
  const Clock::Time now = clock.Now();
  const absl::Time wall = clock.WallNow();
  std::vector<v1::WorkerInfo> infos;
  std::map<WorkerId, size_t> places;
  for (const Listed* const worker : HeardLately(workers, now - kLately)) {
    places[worker->first] = infos.size();
    infos.push_back(MakeInfo(*worker));
    infos.back().set_last_heard_unix_ms(
        absl::ToUnixMillis(wall - absl::FromChrono(now - worker->second.heard)));
  }
  size_t tasks = 0;
  for (const auto& [id, lease] : leases.leases()) {
    const auto at = places.find(lease.terms.holder());
    if (at == places.end() || ++tasks > kMaxTasks) continue;
    AddTask(id, lease.terms, jobs, infos[at->second]);
  }
  return infos;
}

}  // namespace kernelmill::coordinator
