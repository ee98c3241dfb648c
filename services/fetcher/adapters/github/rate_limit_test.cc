#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/base/retry_after.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/github/github_client.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

std::optional<absl::Duration> Wait(int code, std::map<std::string, std::string> headers,
                                   const std::string& body = "") {
  HttpResponse answer;
  answer.code = code;
  answer.headers = std::move(headers);
  answer.body = body;
  return RateLimitWait(answer, kNow);
}

TEST(RateLimitWait, ThePrimaryLimitIsLiftedWhenItIsReset) {
  EXPECT_EQ(Wait(403, {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1700000030"}}),
            absl::Seconds(31));
  EXPECT_EQ(Wait(429, {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1699999999"}}),
            absl::Seconds(1));
}

TEST(RateLimitWait, ASecondaryLimitSaysHowLong) {
  for (const int code : {403, 429}) {
    HttpResponse answer;
    answer.code = code;
    answer.retry_after = absl::Seconds(7);
    answer.headers["x-ratelimit-remaining"] = "5";
    EXPECT_EQ(RateLimitWait(answer, kNow), absl::Seconds(7)) << code;
  }
}

TEST(RateLimitWait, WhereNothingIsSaidItIsAMinute) {
  EXPECT_EQ(Wait(429, {}), absl::Minutes(1));
  EXPECT_EQ(Wait(403, {}, "You have exceeded a secondary Rate Limit."), absl::Minutes(1));
}

TEST(RateLimitWait, OtherAnswersAreNoRefusalForALimit) {
  EXPECT_EQ(Wait(200, {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1700000030"}}),
            std::nullopt);
  EXPECT_EQ(Wait(403, {{"x-ratelimit-remaining", "9"}, {"x-ratelimit-reset", "1700000030"}}),
            std::nullopt);
  HttpResponse busy;
  busy.code = 503;
  busy.retry_after = absl::Seconds(7);
  EXPECT_EQ(RateLimitWait(busy, kNow), std::nullopt);
}

TEST(RateLimitWait, HostileNumbersAreBounded) {
  EXPECT_LE(
      *Wait(403, {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "9000000000000000000"}}),
      kMaxRetryAfter);
  EXPECT_EQ(Wait(403, {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "soon"}}),
            std::nullopt);
}

TEST(RateLimited, SaysUntilWhen) {
  const absl::Status status = RateLimited("https://api.example.org", kNow, absl::Seconds(90.5));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(status.message()), HasSubstr("until 2023-11-14T22:14:50Z, for 1m31s"));
  EXPECT_EQ(GetRetryAfter(status), absl::Seconds(90.5));
}

}  // namespace
}  // namespace kernelmill::fetcher
