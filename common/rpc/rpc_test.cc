#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "common/rpc/retry.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::rpc {
namespace {

using ::kernelmill::testing::StatusIs;

TEST(StatusConversion, EveryCodeSurvivesTheRoundTrip) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), code == 0 ? "" : "why");
    EXPECT_EQ(FromGrpcStatus(ToGrpcStatus(status)), status);
    EXPECT_EQ(FromProtoStatus(ToProtoStatus(status)), status);
  }
}

TEST(Retry, StopsAtAnErrorThatRetryingCannotMend) {
  int calls = 0;
  EXPECT_THAT(Retry({}, "call", [&] { return ++calls, absl::NotFoundError("x"); }),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(calls, 1);
}

TEST(Retry, BacksOffAndSaysThatItGaveUp) {
  std::vector<absl::Duration> pauses;
  const absl::Status status =
      Retry({.max_attempts = 4}, "call", [] { return absl::UnavailableError("down"); },
            [&](absl::Duration pause) { pauses.push_back(pause); });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("gave up after 4 tries"));
  ASSERT_EQ(pauses.size(), 3u);
  EXPECT_GE(pauses[2], absl::Milliseconds(100));
  EXPECT_LE(pauses[2], absl::Milliseconds(200));
}

TEST(Server, AnAddressInUseIsRefused) {
  auto first = Server::Start({.address = "127.0.0.1:0"}, {});
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(Server::Start({.address = absl::StrCat("127.0.0.1:", (*first)->port())}, {}).status(),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace kernelmill::rpc
