#include "common/base/retry_after.h"

#include <gtest/gtest.h>

#include "common/base/status.h"

namespace kernelmill {
namespace {

TEST(RetryAfter, TravelsWithTheStatusAndItsContext) {
  absl::Status status = absl::UnavailableError("busy");
  EXPECT_EQ(RetryAfterOf(status), std::nullopt);
  SetRetryAfter(status, absl::Milliseconds(1500));
  EXPECT_EQ(RetryAfterOf(Annotate(status, "while fetching")), absl::Milliseconds(1500));
  EXPECT_EQ(status.message(), "busy");
}

TEST(RetryAfter, IsBounded) {
  absl::Status status = absl::UnavailableError("busy");
  SetRetryAfter(status, absl::InfiniteDuration());
  EXPECT_EQ(RetryAfterOf(status), absl::Hours(24));
  SetRetryAfter(status, absl::Seconds(-1));
  EXPECT_EQ(RetryAfterOf(status), absl::ZeroDuration());
}

TEST(RetryAfter, NothingIsNotedInSuccess) {
  absl::Status status;
  SetRetryAfter(status, absl::Seconds(1));
  EXPECT_EQ(RetryAfterOf(status), std::nullopt);
}

}  // namespace
}  // namespace kernelmill
