#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_REGISTRY_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_REGISTRY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace kernelmill::coordinator {

// Notices that a worker has been started anew: the same name with another incarnation. What the run
// before held is then free at once, instead of when its leases run out.
//
// Two workers that were given one name by mistake would end each other's leases for ever; they are
// told by an incarnation that comes back after another, and their name is then no longer trusted.
// Bounded: the workers heard of longest ago are forgotten. Not thread-safe.
class WorkerRegistry {
 public:
  explicit WorkerRegistry(size_t max_workers = 10'000) : max_workers_(max_workers) {}

  struct Runs {
    uint64_t current = 0;  // names this run of the worker; 0: unknown
    uint64_t ended = 0;    // the run before, which has ended; 0: none
  };
  // Incarnation 0 is unknown, and ends nothing.
  Runs Hear(const std::string& worker, uint64_t incarnation);

 private:
  struct Entry {
    uint64_t incarnation = 0;
    uint64_t run = 0;
    uint64_t heard = 0;
    bool shared = false;                // by several workers
    std::deque<uint64_t> incarnations;  // earlier ones, the latest last
  };
  void ForgetOldest();

  const size_t max_workers_;
  uint64_t last_run_ = 0;
  uint64_t heard_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_REGISTRY_H_
