#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SPLIT_STAGE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SPLIT_STAGE_H_

#include "common/worker/stage.h"

namespace kernelmill::deduplicator {

// Divides the kept kernels into train, validation and test. Reads all signatures, and then all
// shingles once for a pass, a batch of shards at a time; one pass is enough for some 50,000 kernels
// that may be of another split than train.
class SplitStage final : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kSplit; }
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SPLIT_STAGE_H_
