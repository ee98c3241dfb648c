#include "common/base/retry_after.h"

#include <gtest/gtest.h>

#include "common/base/status.h"

namespace kernelmill {
namespace {

TEST(RetryAfter, TravelsWithTheStatusAndItsContext) {
  absl::Status status = absl::UnavailableError("busy");
  EXPECT_EQ(GetRetryAfter(status), std::nullopt);
  SetRetryAfter(status, absl::Milliseconds(1500));
  EXPECT_EQ(GetRetryAfter(Annotate(status, "while fetching")), absl::Milliseconds(1500));
  EXPECT_EQ(status.message(), "busy");
}

TEST(RetryAfter, IsBounded) {
  absl::Status status = absl::UnavailableError("busy");
  SetRetryAfter(status, absl::InfiniteDuration());
  EXPECT_EQ(GetRetryAfter(status), absl::Hours(24));
  SetRetryAfter(status, absl::Seconds(-1));
  EXPECT_EQ(GetRetryAfter(status), absl::ZeroDuration());
}

TEST(RetryAfter, NothingIsNotedInSuccess) {
  absl::Status status;
  SetRetryAfter(status, absl::Seconds(1));
  EXPECT_EQ(GetRetryAfter(status), std::nullopt);
}

const absl::Time kNow = absl::FromUnixSeconds(1'445'412'480);  // Wed, 21 Oct 2015 07:28:00 GMT

TEST(ParseRetryAfter, Seconds) {
  EXPECT_EQ(ParseRetryAfter("120", kNow), absl::Seconds(120));
  EXPECT_EQ(ParseRetryAfter(" 0\r\n", kNow), absl::ZeroDuration());
}

TEST(ParseRetryAfter, Date) {
  EXPECT_EQ(ParseRetryAfter("Wed, 21 Oct 2015 07:29:30 GMT", kNow), absl::Seconds(90));
  EXPECT_EQ(ParseRetryAfter("Wed, 21 Oct 2015 07:00:00 GMT", kNow), absl::ZeroDuration());
}

TEST(ParseRetryAfter, IsBounded) {
  EXPECT_EQ(ParseRetryAfter("86401", kNow), kMaxRetryAfter);
  EXPECT_EQ(ParseRetryAfter("99999999999999999999999999", kNow), kMaxRetryAfter);
  EXPECT_EQ(ParseRetryAfter("Fri, 31 Dec 9999 23:59:59 GMT", kNow), kMaxRetryAfter);
}

TEST(ParseRetryAfter, AnythingElseIsNone) {
  for (const char* value :
       {"", "-1", "1.5", "soon", "120 s", "Wed, 21 Oct 2015", "inf", "2015-10-21T07:29:30Z"}) {
    EXPECT_EQ(ParseRetryAfter(value, kNow), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace kernelmill
