#ifndef KERNELMILL_COMMON_JOB_OPT_OUT_LIST_H_
#define KERNELMILL_COMMON_JOB_OPT_OUT_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// Reads a list of what is opted out; its kind is its name's ending:
//   .txt    one a line: a URL of a repository or an owner, host/owner, host/owner/name, owner/name
//           at GitHub, or a SHA-256; '#' begins a comment
//   .csv    RFC 4180, its first row the columns' names: repository, owner, path and sha256
//   .jsonl  a JSON object a line, with these keys
// Other columns and keys are passed over: who asked, and when. An entry that comes again is left
// out.
//
// INVALID_ARGUMENT, by FileError: what is none of this; a row that names nothing; no row at all;
// more than a job may have.
absl::StatusOr<std::vector<v1::OptOut>> ParseOptOutList(absl::string_view text,
                                                        const std::string& path);

// The entries of the list at `path`. Errors: as ParseOptOutList, and as ReadFile.
absl::StatusOr<std::vector<v1::OptOut>> ReadOptOutList(const std::string& path);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_OPT_OUT_LIST_H_
