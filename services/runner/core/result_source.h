#ifndef KERNELMILL_SERVICES_RUNNER_CORE_RESULT_SOURCE_H_
#define KERNELMILL_SERVICES_RUNNER_CORE_RESULT_SOURCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::runner {

// Results as a source of evidence: what the fetch stage makes of a folder that has them as its only
// file, so that a job that names that folder gives the same dataset.
struct ResultSource {
  v1::SourceTree tree;
  v1::FileShard shard;
  std::string sha256;  // the folder's pin
};

// Sorts the lines. FAILED_PRECONDITION: they are more than a fetcher reads of one file.
absl::StatusOr<ResultSource> MakeResultSource(const std::string& device,
                                              std::vector<std::string> lines);

}  // namespace kernelmill::runner

#endif  // KERNELMILL_SERVICES_RUNNER_CORE_RESULT_SOURCE_H_
