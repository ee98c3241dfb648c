#include "common/server_process/server_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/testing/status_matchers.h"

namespace kernelmill {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::EndsWith;
using ::testing::HasSubstr;

flags::ServerFlags Flags(const std::string& listen, const std::string& metrics) {
  flags::ServerFlags flags;
  flags.listen = listen;
  flags.metrics = metrics;
  return flags;
}

TEST(ServerProcess, AnAddressThatAnotherHasIsNamedWithItsFlag) {
  const auto first = ServerProcess::Open(Flags("127.0.0.1:0", ""));
  ASSERT_THAT(first, IsOk());
  const auto server = (*first)->Serve({});
  ASSERT_THAT(server, IsOk());
  const std::string taken = absl::StrCat("127.0.0.1:", (*server)->port());
  const auto second = ServerProcess::Open(Flags(taken, ""));
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat("cannot listen on ", taken, ": address in use; is another ")));
  EXPECT_THAT(std::string(second.status().message()), EndsWith("(--listen)"));
  const auto third = ServerProcess::Open(Flags("127.0.0.1:0", taken));
  EXPECT_THAT(third, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(third.status().message()), EndsWith("(--metrics)"));
  Drain(**server, absl::ZeroDuration(), [] {});
  EXPECT_THAT(ServerProcess::Open(Flags(taken, "")), IsOk());
}

TEST(ServerProcess, ListensToOtherMachinesOnlyWhenToldSo) {
  EXPECT_THAT(ServerProcess::Open(Flags("0.0.0.0:0", "")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  flags::ServerFlags flags = Flags("0.0.0.0:0", "");
  flags.insecure = true;
  EXPECT_THAT(ServerProcess::Open(flags), IsOk());
}

TEST(ServerProcess, FinishesBetweenTheLastHealthAndTheEnd) {
  const auto process = ServerProcess::Open(Flags("127.0.0.1:0", "127.0.0.1:0"));
  ASSERT_THAT(process, IsOk());
  const auto server = (*process)->Serve({});
  ASSERT_THAT(server, IsOk());
  bool finished = false;
  Drain(**server, absl::Seconds(1), [&] { finished = true; });
  EXPECT_TRUE(finished);
}

TEST(ServerProcess, TheExitStatusSaysWhoseTurnItIs) {
  EXPECT_EQ(ServerExitStatus(absl::OkStatus()), 0);
  EXPECT_EQ(ServerExitStatus(absl::InvalidArgumentError("x")), 2);
  EXPECT_EQ(ServerExitStatus(absl::FailedPreconditionError("x")), 2);
  EXPECT_EQ(ServerExitStatus(absl::InternalError("x")), 1);
}

}  // namespace
}  // namespace kernelmill
