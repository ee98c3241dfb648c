#ifndef KERNELMILL_COMMON_WORKER_SOURCE_ACTION_H_
#define KERNELMILL_COMMON_WORKER_SOURCE_ACTION_H_

#include "common/worker/stage_table.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::worker {

// Returns the action of a stage on one source: discover on a search, pin on any other source, or
// fetch on a pinned source. Its defaults must be written out, since the digest of the action is its
// key in the action cache. `require_hashes` counts for pin.
v1::Action SourceAction(StageId stage, const v1::Source& source, bool require_hashes = false);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_SOURCE_ACTION_H_
