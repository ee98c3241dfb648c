#include "services/store/core/scrubber.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelmill::store {

// Damage that an earlier process found was scrubbed then.
Scrubber::Scrubber(ContentStore* store, const Options& options)
    : store_(store), options_(options), known_(store->lru().damaged()) {}

Scrubber::~Scrubber() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void Scrubber::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Scrubber::Stop() {
  stopping_ = true;
  stop_.Notify();
}

void Scrubber::Run() {
  while (!stopping_) {
    const uint64_t seen = stop_.generation();
    const absl::StatusOr<bool> passed = Pass();
    if (!passed.ok() && !absl::IsCancelled(passed.status())) {
      LogWarning("cannot read all blobs", {{"error", passed.status().ToString()}});
    }
    if (!stopping_) stop_.WaitFor(seen, options_.interval);
  }
}

// After each piece it rests as long as the piece took, so that clients have half of the disk.
absl::StatusOr<bool> Scrubber::Pass() {
  known_ = std::min(known_, store_->lru().damaged());  // some were put again
  if (store_->lru().damaged() == known_) return false;
  LogWarning("a blob is damaged; reading all others");
  int64_t blobs = 0;
  auto since = std::chrono::steady_clock::now();
  const auto rest = [&](const Verified& verified) {
    blobs = verified.blobs;
    const uint64_t seen = stop_.generation();
    if (stopping_) return absl::CancelledError("the store is shutting down");
    if (!verified.finished) {
      stop_.WaitFor(seen, absl::FromChrono(std::chrono::steady_clock::now() - since));
    }
    since = std::chrono::steady_clock::now();
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(store_->Verify(/*delete_damaged=*/false, rest));
  known_ = store_->lru().damaged();
  LogWarning("read all blobs", {{"blobs", blobs}, {"damaged", known_}});
  return true;
}

}  // namespace kernelmill::store
