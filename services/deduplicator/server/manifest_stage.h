#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_MANIFEST_STAGE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_MANIFEST_STAGE_H_

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::deduplicator {

// Names a dataset: puts the digests of a job's results into one manifest. Before it does, it holds
// every kernel to the bytes of its file and adds up the ledger, over the blobs themselves; it says
// which of the job's pairs could not be made. Thread-safe. INVALID_ARGUMENT: the inputs are not
// those that the parameters speak of; DATA_LOSS: a kernel is not what its file has, and which;
// INTERNAL: a file or a kernel is unaccounted for, and by which sum.
class ManifestStage final : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kManifest; }
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override;
};

// The manifest of a manifest action, from its parameters and its inputs' digests alone.
absl::StatusOr<v1::DatasetManifest> BuildManifest(const v1::Action& action);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_MANIFEST_STAGE_H_
