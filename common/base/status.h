#ifndef KERNELMILL_COMMON_BASE_STATUS_H_
#define KERNELMILL_COMMON_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns `status` with "context: " before its message; code and payloads stay. OK stays OK.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

// Returns whether a retry may help. This is the only definition of "retryable" in this project:
// UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and ABORTED.
bool IsRetryable(const absl::Status& status);

}  // namespace kernelmill

#define KM_CONCAT_INNER(a, b) a##b
#define KM_CONCAT(a, b) KM_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expr`, an absl::Status, is not OK.
#define RETURN_IF_ERROR(expr)                \
  do {                                       \
    absl::Status km_status_ = (expr);        \
    if (!km_status_.ok()) return km_status_; \
  } while (false)

// ASSIGN_OR_RETURN(auto x, F()): assigns the value of an absl::StatusOr or returns its status.
#define ASSIGN_OR_RETURN(lhs, expr) ASSIGN_OR_RETURN_IMPL(KM_CONCAT(km_or_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_IMPL(var, lhs, expr)    \
  auto var = (expr);                             \
  if (!var.ok()) return std::move(var).status(); \
  lhs = *std::move(var)

#endif  // KERNELMILL_COMMON_BASE_STATUS_H_
