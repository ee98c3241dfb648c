#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_H_

#include "absl/status/status.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::deduplicator {

// All that duplicate search needs of one kernel.
v1::Signature Sign(const v1::Kernel& kernel);

// One signature a kernel, in order.
v1::SignatureShard SignShard(const v1::KernelShard& shard);

// INVALID_ARGUMENT unless the signature has the sizes and the order that Sign gives it.
absl::Status CheckSignature(const v1::Signature& signature);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_H_
