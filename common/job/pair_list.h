#ifndef KERNELMILL_COMMON_JOB_PAIR_LIST_H_
#define KERNELMILL_COMMON_JOB_PAIR_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// Reads a list of CUDA kernels and their counterparts in Triton; its kind is its name's ending:
//   .csv    RFC 4180, its first row the columns' names: cuda_path, triton_name and so on, for each
//           field of KernelReference; a column without cuda_ or triton_ is of both
//   .jsonl  a JSON object a line, with a KernelReference at "cuda" and one at "triton", or with the
//           columns' names as keys; the lines of an export's cuda_triton_pairs.jsonl are such
// Other columns and keys are passed over. A pair that comes again is left out.
//
// INVALID_ARGUMENT, by FileError: what is none of this; a row that does not name two kernels; no
// row at all; more than a job may have.
absl::StatusOr<std::vector<v1::CuratedPair>> ParsePairList(absl::string_view text,
                                                           const std::string& path);

// The pairs of the list at `path`. Errors: as ParsePairList, and as ReadFile.
absl::StatusOr<std::vector<v1::CuratedPair>> ReadPairList(const std::string& path);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_PAIR_LIST_H_
