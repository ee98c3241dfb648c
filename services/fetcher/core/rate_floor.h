#ifndef KERNELMILL_SERVICES_FETCHER_CORE_RATE_FLOOR_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_RATE_FLOOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace kernelmill::fetcher {

// The lowest rate at which a host must send what a transfer is for: the average over each window.
struct LowestRate {
  int64_t bytes_per_second = 8 << 10;  // 0: no lowest rate
  absl::Duration window = absl::Minutes(1);
};

// A check that a transfer keeps to the lowest rate, for one transfer. A host that sends a byte now
// and then would otherwise hold a slot until the timeout. Not thread-safe.
class RateFloor {
 public:
  RateFloor(const LowestRate& rate, absl::Time now) : rate_(rate), since_(now) {}

  // Takes the bytes that arrived since the transfer began; call it about once a second.
  // DEADLINE_EXCEEDED: a whole window brought too few.
  absl::Status Check(int64_t arrived, absl::Time now);

 private:
  LowestRate rate_;
  absl::Time since_;    // when the current window began
  int64_t before_ = 0;  // bytes that had arrived then
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_RATE_FLOOR_H_
