#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_USES_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_USES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/job/opt_out.h"
#include "common/job/source_spec.h"
#include "services/coordinator/core/plan/packed_sources.h"

namespace kernelmill::coordinator {

// The uses between the sources of a job (Source.uses), and the links that wait for them. Not
// thread-safe.
//
// The link of a source starts when its own extraction is over and each source that it uses is
// settled: extracted or failed. Nothing waits for a link, so sources may use each other. The users
// of a source get its `Shards` as of the time when it was settled; empty if it failed.
template <typename Shards>
class Uses {
 public:
  void Add(int32_t user, int32_t used) {
    of_[user].push_back(used);
    users_[used].push_back(user);
  }

  // Returns the sources that `user` uses, in the order of Source.uses.
  const std::vector<int32_t>& Of(int32_t user) const {
    static const auto& none = *new std::vector<int32_t>();
    const auto found = of_.find(user);
    return found == of_.end() ? none : found->second;
  }
  bool IsUsed(int32_t source) const { return users_.contains(source); }
  const Shards& GetShards(int32_t used) const { return settled_.at(used); }

  // Returns whether the link of a source may start, after its own extraction is over. If not,
  // Settle returns it later.
  bool MayBegin(int32_t user) {
    if (AllSettled(user)) return true;
    waiting_.insert(user);
    return false;
  }

  // Settles a source, and returns the sources whose links can start now, in order. Settling again
  // changes nothing.
  std::vector<int32_t> Settle(int32_t used, Shards shards) {
    std::vector<int32_t> ready;
    if (!settled_.emplace(used, std::move(shards)).second) return ready;
    for (const int32_t user : users_.at(used)) {
      if (waiting_.contains(user) && AllSettled(user)) ready.push_back(user);
    }
    for (const int32_t user : ready) waiting_.erase(user);
    return ready;
  }

 private:
  bool AllSettled(int32_t user) const {
    const std::vector<int32_t>& used = Of(user);
    return std::all_of(used.begin(), used.end(),
                       [this](int32_t source) { return settled_.contains(source); });
  }

  std::map<int32_t, std::vector<int32_t>> of_;
  std::map<int32_t, std::vector<int32_t>> users_;  // each in the order of the sources
  std::map<int32_t, Shards> settled_;
  std::set<int32_t> waiting_;
};

// Finds the uses of a job. A source that an opt-out entry names, even in part, cannot be used by
// others: validate only gets the opt-out entries of a module's own source.
template <typename Shards>
Uses<Shards> FindUses(const PackedSources& sources, const job::OptOutIndex& opt_outs) {
  Uses<Shards> uses;
  std::map<std::string, int32_t> by_name;
  std::vector<std::pair<int32_t, std::string>> wanted;
  for (int32_t i = 0; i < sources.size(); ++i) {
    const v1::Source source = sources.Get(i);
    by_name.try_emplace(job::SourceName(source), i);
    for (const std::string& name : source.uses()) wanted.emplace_back(i, name);
  }
  for (const auto& [user, name] : wanted) {
    const auto used = by_name.find(name);
    if (used == by_name.end() || used->second == user) continue;
    if (opt_outs.Naming(sources.Get(used->second)).empty()) uses.Add(user, used->second);
  }
  return uses;
}

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_USES_H_
