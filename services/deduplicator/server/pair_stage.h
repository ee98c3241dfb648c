#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_PAIR_STAGE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_PAIR_STAGE_H_

#include <utility>

#include "common/worker/stage.h"
#include "services/deduplicator/core/pair/shingle_sets.h"

namespace kernelmill::deduplicator {

// Finds the pairs of one partition of the bands, near and structural, and what its share of the
// shards has in common with holdouts. Reads all signatures once for either kind, a batch of shards
// at a time, and then of the shingles those shards that have something to compare.
class PairStage final : public worker::Stage {
 public:
  explicit PairStage(SpillOptions spill) : spill_(std::move(spill)) {}

  worker::StageId id() const override { return worker::StageId::kPair; }
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override;

 private:
  const SpillOptions spill_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_PAIR_STAGE_H_
