#ifndef KERNELMILL_COMMON_WORKER_STAGE_H_
#define KERNELMILL_COMMON_WORKER_STAGE_H_

#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/worker/stage_table.h"
#include "kernelmill/v1/action.pb.h"

namespace kernelmill::worker {

// A stage of the data flow: a pure function from an action's inputs and parameters to output blobs.
// The output depends on nothing else: no clock, host, locale, map order or random number.
// Implementations are thread-safe, since all slots share one.
//
// Run stores every output blob before it returns. Errors that IsRetryable() denies, such as
// INVALID_ARGUMENT, are final for the action; others are retried, perhaps by another worker.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual StageId id() const = 0;
  virtual absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) = 0;
  // Runs the action like Run, but returns CANCELLED within seconds after `stop` is triggered. A
  // stage whose tasks are short need not override it.
  virtual absl::StatusOr<v1::StageResult> RunUntil(const v1::Action& action, cas::BlobStore& store,
                                                   const std::stop_token& /*stop*/) {
    return Run(action, store);
  }

  const StageInfo& info() const { return GetStageInfo(id()); }
};

// Returns the action's inputs with this name, in order.
std::vector<cas::Digest> InputsNamed(const v1::Action& action, absl::string_view name);

// Returns the only input with this name. INVALID_ARGUMENT: there is not exactly one.
absl::StatusOr<cas::Digest> InputNamed(const v1::Action& action, absl::string_view name);

// Appends an output to the result.
void AddOutput(v1::StageResult& result, absl::string_view name, const cas::Digest& digest,
               int64_t items);

// Adds `value` to the counter `name`. Counters are sorted by name; counters with 0 are omitted.
void AddCounter(v1::StageResult& result, absl::string_view name, int64_t value);

// Returns the action's key in the action cache.
cas::Digest ActionDigest(const v1::Action& action);

// Encodes a stage's result for an action cache of the Remote Execution API. Output i is an output
// file with the path "<name>#<i>", so that the cache knows which blobs must exist; stdout_raw is
// the StageResult.
cas::ActionResult EncodeResult(const v1::StageResult& result);

// Decodes a result. DATA_LOSS: EncodeResult did not make it; treat it as a miss.
absl::StatusOr<v1::StageResult> DecodeResult(const cas::ActionResult& encoded);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_STAGE_H_
