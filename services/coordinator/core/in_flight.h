#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_IN_FLIGHT_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_IN_FLIGHT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kernelmill::coordinator {

// Equal actions are run once at a time, whatever jobs they are of: the first task leads, and those
// that come while it is leased follow it, to share its result. Not thread-safe.
class InFlight {
 public:
  // The task leads its action; or follows the one that does (false).
  bool Lead(const std::string& action, uint64_t task) {
    const auto [at, leads] = followers_.try_emplace(action);
    if (!leads) at->second.push_back(task);
    return leads;
  }

  // The leader's lease has ended, one way or the other. Returns who followed.
  std::vector<uint64_t> End(const std::string& action) {
    const auto at = followers_.find(action);
    if (at == followers_.end()) return {};
    std::vector<uint64_t> followers = std::move(at->second);
    followers_.erase(at);
    return followers;
  }

 private:
  std::map<std::string, std::vector<uint64_t>> followers_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_IN_FLIGHT_H_
