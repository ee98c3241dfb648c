#ifndef KERNELMILL_COMMON_WORKER_ACTION_CODEC_H_
#define KERNELMILL_COMMON_WORKER_ACTION_CODEC_H_

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/action.pb.h"

namespace kernelmill::worker {

// The action's key in the action cache.
cas::Digest ActionDigest(const v1::Action& action);

// A stage's result as an action cache of the Remote Execution API keeps it. Output i is an output
// file with the path "<name>#<i>", so that the cache knows which blobs must still be there;
// stdout_raw is the StageResult.
cas::ActionResult EncodeResult(const v1::StageResult& result);

// DATA_LOSS: not what EncodeResult makes; best taken for a miss.
absl::StatusOr<v1::StageResult> DecodeResult(const cas::ActionResult& encoded);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_ACTION_CODEC_H_
