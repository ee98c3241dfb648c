#include "common/server_process/server_process.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/log.h"
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
  ConfigureLog("test", LogLevel::kInfo);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ServerExitStatus(absl::OkStatus()), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("stopped"));
  EXPECT_EQ(ServerExitStatus(absl::InvalidArgumentError("x")), 2);
  EXPECT_EQ(ServerExitStatus(absl::FailedPreconditionError("x")), 2);
  EXPECT_EQ(ServerExitStatus(absl::InternalError("x")), 1);
}

}  // namespace

namespace {

using ::testing::HasSubstr;

class Listener {
 public:
  explicit Listener(int family) : fd_(::socket(family, SOCK_STREAM, 0)) {}
  ~Listener() { ::close(fd_); }

  // Returns the port.
  int OnLoopback() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, 5), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    return ntohs(address.sin_port);
  }
  void At(const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(fd_, 5), 0);
  }

 private:
  const int fd_;
};

TEST(ListenAddress, AFreeAddressMayBeListenedAt) {
  for (const char* address : {"127.0.0.1:0", "0.0.0.0:0", "localhost:0", ":0"}) {
    EXPECT_TRUE(CheckCanListen(address).ok()) << CheckCanListen(address);
  }
}

TEST(ListenAddress, OneThatAnotherProgramHasIsNamedInUse) {
  Listener other(AF_INET);
  const int port = other.OnLoopback();
  for (const char* host : {"127.0.0.1", "localhost", "0.0.0.0"}) {
    const absl::Status status = CheckCanListen(absl::StrCat(host, ":", port));
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << host;
    EXPECT_EQ(status.message(),
              absl::StrCat("cannot listen on ", host, ":", port, ": address in use"));
  }
}

TEST(ListenAddress, ASocketThatIsAnsweredIsNotTakenAndAnAbandonedOneIs) {
  const TempDir folder = *TempDir::Create();
  const std::string path = folder.path() + "/socket";
  EXPECT_TRUE(CheckCanListen("unix:" + path).ok());
  {
    Listener other(AF_UNIX);
    other.At(path);
    EXPECT_EQ(CheckCanListen("unix:" + path).code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_TRUE(CheckCanListen("unix:" + path).ok());
}

TEST(ListenAddress, WhatIsNoAddressOfThisMachineIsTheFlagsFault) {
  for (const char* address : {"x", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
                              "192.0.2.1:0", "unix:", ""}) {
    EXPECT_EQ(CheckCanListen(address).code(), absl::StatusCode::kInvalidArgument) << address;
  }
  EXPECT_THAT(std::string(CheckCanListen("192.0.2.1:0").message()),
              HasSubstr("must be an address of this machine"));
}

}  // namespace
}  // namespace kernelmill
