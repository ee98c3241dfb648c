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
// Output bytes depend on nothing else: no clock, host, locale, map order or random number.
//
// Run stores every output blob before it returns. Errors: INVALID_ARGUMENT and the other codes that
// IsRetryable() denies are final for this action; the rest are tried again, perhaps elsewhere.
// Implementations are thread-safe: slots share one.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual StageId id() const = 0;
  virtual absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) = 0;
  // As Run, for a task that may be given up: once `stop` is requested nobody wants the result, and
  // it ends within seconds, with CANCELLED. A stage whose tasks take no longer need not look.
  virtual absl::StatusOr<v1::StageResult> RunUntil(const v1::Action& action, cas::BlobStore& store,
                                                   const std::stop_token& /*stop*/) {
    return Run(action, store);
  }

  const StageInfo& info() const { return StageInfoOf(id()); }
};

// The action's inputs named `name`, in order.
std::vector<cas::Digest> InputsNamed(const v1::Action& action, absl::string_view name);

// The only input named `name`. INVALID_ARGUMENT unless there is exactly one.
absl::StatusOr<cas::Digest> InputNamed(const v1::Action& action, absl::string_view name);

// Appends an output to the result.
void AddOutput(v1::StageResult& result, absl::string_view name, const cas::Digest& digest,
               int64_t items);

// Adds `value` to the counter `name`, kept sorted by name; a counter at 0 is left out.
void AddCounter(v1::StageResult& result, absl::string_view name, int64_t value);

// The action's key in the action cache.
cas::Digest ActionDigest(const v1::Action& action);

// A stage's result as an action cache of the Remote Execution API keeps it. Output i is an output
// file with the path "<name>#<i>", so that the cache knows which blobs must still be there;
// stdout_raw is the StageResult.
cas::ActionResult EncodeResult(const v1::StageResult& result);

// DATA_LOSS: not what EncodeResult makes; best taken for a miss.
absl::StatusOr<v1::StageResult> DecodeResult(const cas::ActionResult& encoded);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_STAGE_H_
