#ifndef KERNELMILL_COMMON_JOB_PAIR_LIST_H_
#define KERNELMILL_COMMON_JOB_PAIR_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// The most curated pairs that a job may have.
inline constexpr size_t kMaxPairs = 10'000;

// Checks that the pair names two kernels. INVALID_ARGUMENT begins with `where`.
absl::Status CheckPair(const std::string& where, const v1::CuratedPair& pair);

// Reads a list of CUDA kernels and their Triton counterparts. The ending of its name gives its
// kind:
//   .csv    RFC 4180; the first row has the columns' names: cuda_path, triton_name and so on, for
//           each field of KernelReference; a column without cuda_ or triton_ applies to both
//   .jsonl  a JSON object a line, with a KernelReference at "cuda" and one at "triton", or with the
//           columns' names as keys. The lines of an export's cuda_triton_pairs.jsonl have this
//           form.
// Other columns and keys are ignored. A repeated pair is dropped.
//
// INVALID_ARGUMENT (FileError): another kind of file; a row that does not name two kernels; no row;
// more rows than a job may have.
absl::StatusOr<std::vector<v1::CuratedPair>> ParsePairList(absl::string_view text,
                                                           const std::string& path);

// Reads the list at `path`. Errors: as ParsePairList and ReadFile.
absl::StatusOr<std::vector<v1::CuratedPair>> ReadPairList(const std::string& path);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_PAIR_LIST_H_
