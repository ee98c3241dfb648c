#include "services/coordinator/core/dispatch/worker_registry.h"

#include <algorithm>

#include "common/base/log.h"

namespace kernelmill::coordinator {
namespace {

constexpr size_t kRemembered = 16;  // incarnations of one name

}  // namespace

WorkerRegistry::Runs WorkerRegistry::Hear(const std::string& worker, uint64_t incarnation) {
  if (incarnation == 0 || worker.empty()) return {};
  const auto [at, fresh] = entries_.try_emplace(worker);
  Entry& entry = at->second;
  entry.heard = ++heard_;
  if (fresh) {
    entry.incarnation = incarnation;
    entry.run = ++last_run_;
    const uint64_t run = entry.run;
    if (entries_.size() > max_workers_) ForgetOldest();
    return {run, 0};
  }
  if (entry.shared) return {};
  if (entry.incarnation == incarnation) return {entry.run, 0};
  if (std::find(entry.incarnations.begin(), entry.incarnations.end(), incarnation) !=
      entry.incarnations.end()) {
    LogWarning("several workers have one name: give each its own (--name)", {{"worker", worker}});
    entry.shared = true;
    return {};
  }
  entry.incarnations.push_back(entry.incarnation);
  if (entry.incarnations.size() > kRemembered) entry.incarnations.pop_front();
  entry.incarnation = incarnation;
  const uint64_t ended = entry.run;
  entry.run = ++last_run_;
  return {entry.run, ended};
}

void WorkerRegistry::ForgetOldest() {
  entries_.erase(std::min_element(
      entries_.begin(), entries_.end(),
      [](const auto& a, const auto& b) { return a.second.heard < b.second.heard; }));
}

}  // namespace kernelmill::coordinator
