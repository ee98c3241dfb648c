#include "services/fetcher/adapters/smart_http/handle_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/time/clock.h"

namespace kernelmill::fetcher {

absl::StatusOr<CurlHandle> HandlePool::Take(const std::string& key) {
  {
    absl::MutexLock lock(&mutex_);
    const auto found =
        std::find_if(idle_.begin(), idle_.end(), [&](const Idle& idle) { return idle.key == key; });
    if (found != idle_.end() && absl::Now() - found->since < kMaxIdleTime) {
      CurlHandle handle = std::move(found->handle);
      idle_.erase(found);
      return handle;
    }
  }
  return NewCurlHandle();
}

void HandlePool::GiveBack(const std::string& key, CurlHandle handle) {
  std::list<Idle> over;  // closed without the lock: that may talk to the other side
  absl::MutexLock lock(&mutex_);
  const absl::Time now = absl::Now();
  idle_.push_front({key, std::move(handle), now});
  while (idle_.size() > kMaxIdle || now - idle_.back().since >= kMaxIdleTime) {
    over.splice(over.end(), idle_, std::prev(idle_.end()));
  }
}

size_t HandlePool::idle() const {
  absl::MutexLock lock(&mutex_);
  return idle_.size();
}

}  // namespace kernelmill::fetcher
