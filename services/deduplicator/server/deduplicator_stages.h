#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_STAGES_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_STAGES_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/pair/shingle_sets.h"

namespace kernelmill::deduplicator {

// Makes the stages that a deduplicator runs: sign, pair, resolve, split, manifest. Their inputs and
// outputs are as action.proto says. Each reads a few shards at a time, and is thread-safe. A stage
// returns INVALID_ARGUMENT for inputs that do not fit together, and the store's errors.
std::vector<std::unique_ptr<worker::Stage>> NewDeduplicatorStages(
    const SpillOptions& spill = SpillOptions());

// The stage that finds the pairs of one partition of the bands, near and structural, and what its
// share of the shards has in common with holdouts.
class PairStage final : public worker::Stage {
 public:
  explicit PairStage(SpillOptions spill) : spill_(std::move(spill)) {}
  worker::StageId id() const override { return worker::StageId::kPair; }
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override;

 private:
  const SpillOptions spill_;
};

// The stage that divides the kept kernels into train, validation and test.
class SplitStage final : public worker::Stage {
 public:
  explicit SplitStage(SpillOptions spill) : spill_(std::move(spill)) {}
  worker::StageId id() const override { return worker::StageId::kSplit; }
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override;

 private:
  const SpillOptions spill_;
};

// The stage that names a dataset: it puts the digests of a job's results into one manifest. First
// it compares every kernel with the bytes of its file and adds up the ledger, from the blobs
// themselves. It reports which of the job's pairs could not be made. Errors, besides those above:
// DATA_LOSS if a kernel is not what its file has, naming the kernel; INTERNAL if a file or a kernel
// is unaccounted for, naming the sum.
class ManifestStage final : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kManifest; }
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override;
};

// Makes the manifest of a manifest action, from its parameters and its inputs' digests only.
absl::StatusOr<v1::DatasetManifest> BuildManifest(const v1::Action& action);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_STAGES_H_
