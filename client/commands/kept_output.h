#ifndef KERNELMILL_CLIENT_COMMANDS_KEPT_OUTPUT_H_
#define KERNELMILL_CLIENT_COMMANDS_KEPT_OUTPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {

// A finished job, as far as it decides whether its dataset may replace an earlier one.
struct FinishedJobResult {
  v1::JobStatus status;
  v1::JobSpec lock;
  std::vector<v1::Failure> failures;  // all of them
};

// The kernels of an earlier dataset that a new one would lose because sources failed, or because it
// is empty.
struct LostKernels {
  int64_t kernels = 0;  // kept kernels and whole files; 0: nothing would be lost
  // The sources that they came from, as the earlier report names them.
  std::vector<std::string> sources;
  bool new_is_empty = false;
};

// Compares the export in `out_dir` with the job's dataset. An earlier source is lost if
//   - it kept something, and the job's source of the same name failed; or
//   - it kept something, the job has no source of its name, and a search of the job failed: that
//     search may have found it; or
//   - it kept something, and the job's dataset is empty.
// Nothing is lost if `out_dir` holds no export. Fails only if the export's report cannot be read.
absl::StatusOr<LostKernels> FindLostKernels(const std::string& out_dir,
                                            const FinishedJobResult& job);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_KEPT_OUTPUT_H_
