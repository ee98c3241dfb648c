#ifndef KERNELMILL_COMMON_CAS_RESULT_ORIGIN_H_
#define KERNELMILL_COMMON_CAS_RESULT_ORIGIN_H_

#include <cstdint>
#include <string>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"

namespace kernelmill::cas {

// The origin of an action result, with which an operator can make a store forget the results of a
// stage, a version or a worker. It never gets into a dataset. The Remote Execution API has a field
// for the worker only; the stage is in stderr_raw: "stage extract 11".
struct ResultOrigin {
  // "extract", or "fetch/pack" for an entry of a stage's own cache. Empty: unknown, as in results
  // of other programs and of old releases.
  std::string stage;
  int32_t version = 0;  // the stage's version
  std::string worker;   // the worker that wrote the result; empty: unknown
};

void SetStage(const std::string& stage, int32_t version,
              build::bazel::remote::execution::v2::ActionResult* result);
void SetWorker(const std::string& worker,
               build::bazel::remote::execution::v2::ActionResult* result);
ResultOrigin ReadOrigin(const build::bazel::remote::execution::v2::ActionResult& result);

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_RESULT_ORIGIN_H_
