// The mapping of errors to exit codes. A script can so tell a wrong request, which it should not
// repeat, from a cluster out of reach, which it may try again.

#include "client/console/exit_code.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "client/console/format.h"
#include "common/manifest/unmatched.h"

namespace kernelmill::client {

int ToExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented:
      return kRequestWrong;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    // A server that does not accept this client is as far away as one that does not answer.
    case absl::StatusCode::kUnauthenticated:
      return kOutOfReach;
    case absl::StatusCode::kCancelled:
      return kInterrupted;
    default:
      return kInputsFailed;
  }
}

int ToExitCode(const v1::JobStatus& status) {
  return status.state() == v1::JOB_STATE_DONE && status.failure_count() == 0 ? kDone
                                                                             : kInputsFailed;
}

bool IsMissedGate(const v1::Failure& failure) {
  return failure.stage() == "manifest" && absl::StartsWith(failure.path(), "gates.");
}

bool IsUnmatched(const v1::Failure& failure) {
  return failure.stage() == "manifest" && manifest::IsUnmatched(failure.path());
}

std::string ErrorLine(const absl::Status& status) {
  return OneLine(absl::string_view(status.message().data(), status.message().size()));
}

}  // namespace kernelmill::client
