#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_HOST_LIMITS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_HOST_LIMITS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "kernelmill/v1/job.pb.h"

namespace kernelmill::coordinator {

// Whom fetching the source calls on: the host of its URL, "package index", or empty for a local
// one. Malformed URLs have hosts of their own; nothing but politeness rests on this.
std::string HostOfSource(const v1::Source& source);

// How many tasks call on one host at a time. The empty host has no limit. Not thread-safe.
class HostLimits {
 public:
  // 0: no limit.
  explicit HostLimits(int limit) : limit_(limit) {}

  // Takes a place for the task. False: all are taken, and the task waits for TakeRunnable().
  bool Take(const std::string& host, uint64_t task);
  void Release(const std::string& host);
  // Removes and returns tasks that wait, as many as there are places: the longest waiting first.
  // They have no place yet.
  std::vector<uint64_t> TakeRunnable();

 private:
  const int limit_;
  std::map<std::string, int> taken_;
  std::map<std::string, std::deque<uint64_t>> waiting_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_HOST_LIMITS_H_
