#ifndef KERNELMILL_COMMON_JOB_FIELD_CHECK_H_
#define KERNELMILL_COMMON_JOB_FIELD_CHECK_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::job {

// INVALID_ARGUMENT, "where: what": how checks of a job refuse a field.
absl::Status FieldError(absl::string_view where, absl::string_view what);

// Text that may become an argument of a program or a part of a path. Refused: over 4096 bytes, with
// a control character, or beginning with '-'.
absl::Status CheckText(absl::string_view where, absl::string_view text);

// Refused unless it is between 0 and 1.
absl::Status CheckShare(absl::string_view where, double share);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_FIELD_CHECK_H_
