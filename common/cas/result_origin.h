#ifndef KERNELMILL_COMMON_CAS_RESULT_ORIGIN_H_
#define KERNELMILL_COMMON_CAS_RESULT_ORIGIN_H_

#include <cstdint>
#include <string>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"

namespace kernelmill::cas {

// Where an action result comes from, so that an operator can have a store forget those of a stage,
// a version or a worker. The Remote Execution API has a field for the worker, and none for the
// rest: it stands in stderr_raw, "stage extract 11". Nothing of it is part of a dataset.
struct ResultOrigin {
  // "extract"; of an entry of a cache that a stage keeps for itself "fetch/pack". Empty: not told,
  // as in results of other programs, and of kernelmill's before this was there.
  std::string stage;
  int32_t version = 0;  // of the stage
  std::string worker;   // that wrote it; empty: not told
};

void SetStage(const std::string& stage, int32_t version,
              build::bazel::remote::execution::v2::ActionResult* result);
void SetWorker(const std::string& worker,
               build::bazel::remote::execution::v2::ActionResult* result);
ResultOrigin OriginOf(const build::bazel::remote::execution::v2::ActionResult& result);

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_RESULT_ORIGIN_H_
