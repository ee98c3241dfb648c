#include "services/coordinator/core/dispatch/worker_registry.h"

#include <algorithm>

#include "common/base/log.h"

namespace kernelmill::coordinator {
namespace {

constexpr size_t kRemembered = 16;  // incarnations of one name

}  // namespace

WorkerRegistry::Runs WorkerRegistry::Hear(const WorkerId& worker, const WorkerFacts& facts,
                                          Clock::Time now) {
  const auto [at, fresh] = entries_.try_emplace(worker);
  Entry& entry = at->second;
  entry.order = ++order_;
  entry.heard = now;
  const Runs runs = RunsOf(entry, worker, facts.incarnation, fresh);
  entry.facts = facts;
  if (entries_.size() > max_workers_) ForgetOldest();
  return runs;
}

WorkerRegistry::Runs WorkerRegistry::RunsOf(Entry& entry, const WorkerId& worker,
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
    LogWarning("several workers have one name: give each its own (--name)",
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

}  // namespace kernelmill::coordinator
