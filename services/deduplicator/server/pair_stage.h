#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_PAIR_STAGE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_PAIR_STAGE_H_

#include <cstddef>
#include <string>

#include "common/worker/stage.h"

namespace kernelmill::deduplicator {

struct SpillOptions {
  size_t memory_bytes = size_t{256} << 20;  // of shingles, by each kind of set; more go to disk
  std::string folder;  // where there is room for them; default: the system's for temporary files
};

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
