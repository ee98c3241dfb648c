#include "services/store/core/claims.h"

namespace kernelmill::store {

Claims::Claim::Claim(Claims* claims, absl::Span<const BlobId> ids)
    : claims_(claims), ids_(ids.begin(), ids.end()) {
  absl::MutexLock lock(&claims_->mutex_);
  while (claims_->AnyClaimed(ids_)) claims_->released_.Wait(&claims_->mutex_);
  claims_->claimed_.insert(ids_.begin(), ids_.end());
}

Claims::Claim::~Claim() {
  absl::MutexLock lock(&claims_->mutex_);
  for (const BlobId& id : ids_) claims_->claimed_.erase(id);
  claims_->released_.SignalAll();
}

bool Claims::AnyClaimed(absl::Span<const BlobId> ids) const {
  for (const BlobId& id : ids) {
    if (claimed_.contains(id)) return true;
  }
  return false;
}

}  // namespace kernelmill::store
