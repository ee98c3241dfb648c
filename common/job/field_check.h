#ifndef KERNELMILL_COMMON_JOB_FIELD_CHECK_H_
#define KERNELMILL_COMMON_JOB_FIELD_CHECK_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::job {

// Errors about job files and the lists that they name. Each is INVALID_ARGUMENT and says which
// field or line is wrong and what must hold there.
//
// Returns the error "where: what"; `where` is a field's key, such as "sources[2].ref".
absl::Status FieldError(absl::string_view where, absl::string_view what);

// Returns the error "FILE:LINE: what", on one line whatever characters the parts hold.
absl::Status FileError(absl::string_view file, int line, absl::string_view what);

// Checks a text that may become an argument of a program or a part of a path: at most 4096 bytes,
// no control character, and no '-' at its beginning.
absl::Status CheckText(absl::string_view where, absl::string_view text);

// Checks that `share` is between 0 and 1.
absl::Status CheckShare(absl::string_view where, double share);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_FIELD_CHECK_H_
