#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_STAGES_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_STAGES_H_

#include <memory>
#include <vector>

#include "common/worker/stage.h"
#include "services/deduplicator/server/pair_stage.h"

namespace kernelmill::deduplicator {

// The stages that a deduplicator runs: sign, pair, resolve, split, manifest. Their inputs and
// outputs are as action.proto says. Each reads a few shards at a time. An input that does not fit
// together is INVALID_ARGUMENT; a ledger that does not add up is INTERNAL.
std::vector<std::unique_ptr<worker::Stage>> NewDeduplicatorStages(
    const SpillOptions& spill = SpillOptions());

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_STAGES_H_
