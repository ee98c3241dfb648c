#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_LIMITS_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_LIMITS_H_

#include <cstdint>

namespace kernelmill::coordinator {

// What callers may have of a coordinator at a time, all of them and each. 0: no limit.
struct CoordinatorLimits {
  int64_t jobs = 1000;  // that have not ended
  int64_t jobs_per_caller = 500;
  int64_t queued_bytes = int64_t{128} << 20;  // of these jobs' specs
  int64_t queued_bytes_per_caller = int64_t{64} << 20;
  // Each of these takes a thread, of which rpc::Server has 2048: some must be left to answer
  // others.
  int64_t waiting_leases = 1024;
  int64_t waiting_leases_per_caller = 512;
  int64_t watches = 512;
  int64_t watches_per_caller = 128;
  int64_t submits = 256;  // calls, under way
  int64_t submits_per_caller = 64;

  // Of a coordinator that has no callers but its own process.
  static CoordinatorLimits None() { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; }
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_LIMITS_H_
