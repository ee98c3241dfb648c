#ifndef KERNELMILL_COMMON_TESTING_STATUS_MATCHERS_H_
#define KERNELMILL_COMMON_TESTING_STATUS_MATCHERS_H_

#include <gmock/gmock.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::testing {

inline const absl::Status& GetStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

// Matchers for absl::Status and absl::StatusOr. They print the whole status if they do not match:
//
//   EXPECT_THAT(F(), IsOk());
//   EXPECT_THAT(F(), StatusIs(absl::StatusCode::kNotFound));
MATCHER(IsOk, "is OK") {
  *result_listener << GetStatus(arg).ToString();
  return GetStatus(arg).ok();
}
MATCHER_P(StatusIs, code, "has code " + absl::StatusCodeToString(code)) {
  *result_listener << GetStatus(arg).ToString();
  return GetStatus(arg).code() == code;
}

}  // namespace kernelmill::testing

#endif  // KERNELMILL_COMMON_TESTING_STATUS_MATCHERS_H_
