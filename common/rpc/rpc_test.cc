#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/rpc/cancellation.h"
#include "common/rpc/readiness.h"
#include "common/rpc/retry.h"
#include "common/rpc/server.h"
#include "common/rpc/stall_guard.h"
#include "common/rpc/status.h"
#include "common/testing/rpc/generic_call.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::rpc {
namespace {

using ::kernelmill::testing::StatusIs;

TEST(CancellableCalls, WhatEndsAfterCancelAllIsCancelledAndNothingIsMadeAnyMore) {
  const grpc::Status broken(grpc::StatusCode::CANCELLED, "the connection broke");
  CancellableCalls calls;
  grpc::ClientContext first, second, third, fourth;
  EXPECT_TRUE(calls.Make(first, [] { return grpc::Status::OK; }).ok());
  EXPECT_THAT(calls.Make(second, [&] { return broken; }), StatusIs(absl::StatusCode::kUnavailable))
      << "it was not cancelled here";
  EXPECT_THAT(calls.Make(third,
                         [&] {
                           std::thread(&CancellableCalls::CancelAll, &calls).join();
                           return broken;
                         }),
              StatusIs(absl::StatusCode::kCancelled));
  bool made = false;
  EXPECT_THAT(calls.Make(fourth,
                         [&] {
                           made = true;
                           return grpc::Status::OK;
                         }),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(made);
  EXPECT_TRUE(calls.cancelled());
}

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
  const absl::Status status = Retry(
      {.max_attempts = 4}, "call", [] { return absl::UnavailableError("down"); },
      [&](absl::Duration pause) { return pauses.push_back(pause), absl::OkStatus(); });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("gave up after 4 tries in 0.0 s: down"));
  ASSERT_EQ(pauses.size(), 3u);
  EXPECT_GE(pauses[2], absl::Milliseconds(100));
  EXPECT_LE(pauses[2], absl::Milliseconds(200));
}

TEST(Retry, EndsWhenItsTimeIsOver) {
  int calls = 0;
  const absl::Status status =
      Retry({.max_attempts = 0, .max_time = absl::Milliseconds(120)}, "call",
            [&] { return ++calls, absl::UnavailableError("down"); });
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("gave up after"));
  EXPECT_GE(calls, 3);  // pauses of at most 50 and 100 ms, then the rest
}

TEST(Retry, EndsWhereASleepIsInterrupted) {
  EXPECT_THAT(Retry(
                  {.max_attempts = 0}, "call", [] { return absl::UnavailableError("down"); },
                  [](absl::Duration) { return absl::CancelledError("interrupted"); }),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(Server, AnAddressInUseIsRefused) {
  auto first = Server::Start({.address = "127.0.0.1:0"}, {});
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(Server::Start({.address = absl::StrCat("127.0.0.1:", (*first)->port())}, {}).status(),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(Server, ManyConnectionsThatSayNothingAreClosed) {
  const TempDir dir = *TempDir::Create();
  const std::string path = dir.path() + "/socket";
  auto server =
      Server::Start({.address = "unix:" + path, .handshake_timeout = absl::Milliseconds(200)}, {});
  ASSERT_TRUE(server.ok());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  std::vector<pollfd> silent;
  for (int i = 0; i < 500; ++i) {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    silent.push_back({.fd = fd, .events = POLLHUP, .revents = 0});
  }
  for (pollfd& one : silent) {
    while (poll(&one, 1, 30'000) == 1) {  // the server's own greeting comes first
      char greeting[256];
      if (read(one.fd, greeting, sizeof(greeting)) <= 0) break;
      one.events = POLLIN;
    }
    EXPECT_NE(one.revents, 0) << "still open";
    close(one.fd);
  }
}

TEST(Server, RaisesTheLimitOfOpenFiles) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = std::min<rlim_t>(before.rlim_max, 256);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  ASSERT_TRUE(Server::Start({.address = "127.0.0.1:0"}, {}).ok());
  rlimit after;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, std::min<rlim_t>(before.rlim_max, 1 << 20));
}

// Waits until the guard ends it.
struct Stoppable {
  std::promise<void> stop;
  std::function<void()> cancel() {
    return [this] { stop.set_value(); };
  }
  int64_t WaitForEver() {
    stop.get_future().wait();
    return 0;
  }
};

TEST(StallGuard, AWaitWithoutEndIsEnded) {
  StallGuard guard({.stall_budget = absl::Milliseconds(100)});
  Stoppable stoppable;
  auto stream = guard.Admit(stoppable.cancel());
  ASSERT_TRUE(stream.ok());
  (*stream)->Wait([&] { return stoppable.WaitForEver(); });
  EXPECT_TRUE((*stream)->ended());
  EXPECT_EQ(guard.ended(), 1);
}

TEST(StallGuard, OneThatDripsIsEnded) {
  StallGuard guard({.stall_budget = absl::Milliseconds(200)});
  bool ended = false;
  auto stream = guard.Admit([&] { ended = true; });
  int drops = 0;
  for (; drops < 1000 && !(*stream)->ended(); ++drops) {
    (*stream)->Wait([] {
      absl::SleepFor(absl::Milliseconds(100));  // each alone is stall_budget enough
      return 1;
    });
  }
  EXPECT_LT(drops, 1000);
  EXPECT_TRUE(ended);
}

TEST(StallGuard, BytesGivePatienceBackAndOwnWorkTakesNone) {
  StallGuard guard({.stall_budget = absl::Milliseconds(400), .min_rate = 1000});
  auto stream = guard.Admit([] {});
  for (int i = 0; i < 6; ++i) {
    (*stream)->Wait([] {
      absl::SleepFor(absl::Milliseconds(100));
      return 10'000;
    });
    absl::SleepFor(absl::Milliseconds(100));  // the server's own work
  }
  EXPECT_FALSE((*stream)->ended());
}

TEST(StallGuard, PatienceIsNotSavedUp) {
  StallGuard guard({.stall_budget = absl::Milliseconds(100)});
  Stoppable stoppable;
  auto stream = guard.Admit(stoppable.cancel());
  (*stream)->Wait([] { return int64_t{1} << 40; });
  (*stream)->Wait([&] { return stoppable.WaitForEver(); });
  EXPECT_TRUE((*stream)->ended());
}

TEST(StallGuard, NoMoreStreamsThanMayBe) {
  StallGuard guard({.max_streams = 2});
  auto first = guard.Admit([] {});
  auto second = guard.Admit([] {});
  EXPECT_THAT(guard.Admit([] {}).status(), StatusIs(absl::StatusCode::kResourceExhausted));
  first->reset();
  EXPECT_TRUE(guard.Admit([] {}).ok());
}

TEST(StallGuard, OneCallerDoesNotTakeTheStreamsOfOthers) {
  StallGuard guard({.max_streams = 4, .max_streams_per_caller = 2});
  auto first = guard.Admit([] {}, "mallory");
  auto second = guard.Admit([] {}, "mallory");
  EXPECT_THAT(guard.Admit([] {}, "mallory").status(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_TRUE(guard.Admit([] {}, "alice").ok());
  first->reset();
  EXPECT_TRUE(guard.Admit([] {}, "mallory").ok());
}

// Returns the health of a service.
std::string GetHealth(const std::shared_ptr<grpc::Channel>& channel, const std::string& service) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  // HealthCheckRequest: field 1 is the service.
  const grpc::Slice asked(service.empty()
                              ? std::string()
                              : absl::StrCat("\x0a", std::string(1, service.size()), service));
  const grpc::ByteBuffer request(&asked, 1);
  const auto call =
      stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  std::vector<grpc::Slice> slices;
  if (!status.ok() || !response.Dump(&slices).ok()) return status.error_message();
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  // HealthCheckResponse: field 1 is the status; 1 SERVING, 2 NOT_SERVING.
  return bytes == "\x08\x01" ? "SERVING" : bytes == "\x08\x02" ? "NOT_SERVING" : "UNKNOWN";
}

TEST(Readiness, GetHealthTheReadyServiceFollowsTheCheckAndTheServersOwnDoesNot) {
  const auto server = *Server::Start({}, {});
  const auto channel = server->InProcessChannel();
  std::atomic<bool> ready = false;
  const Readiness readiness(
      *server, [&] { return ready ? absl::OkStatus() : absl::UnavailableError("the store"); },
      absl::Milliseconds(5));
  const auto says = [&](const std::string& service, const std::string& expected) {
    const absl::Time give_up = absl::Now() + absl::Seconds(30);
    while (GetHealth(channel, service) != expected && absl::Now() < give_up) {
      absl::SleepFor(absl::Milliseconds(5));
    }
    EXPECT_EQ(GetHealth(channel, service), expected) << service;
  };
  says(kReadyService, "NOT_SERVING");
  says("", "SERVING");
  ready = true;
  says(kReadyService, "SERVING");
  server->StopServing();
  ready = false;
  says(kReadyService, "NOT_SERVING");
  ready = true;
  absl::SleepFor(absl::Milliseconds(30));
  says(kReadyService, "NOT_SERVING");
}

// Returns the status of a reflection call.
grpc::Status AskForServices(Server& server) {
  return kernelmill::testing::GenericCall(
      server.InProcessChannel(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      absl::Seconds(2));
}

TEST(Server, ReflectionAnswersOnlyWhereItIsAskedFor) {
  const auto without = *Server::Start({.address = "127.0.0.1:0"}, {});
  EXPECT_EQ(AskForServices(*without).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  const auto with = *Server::Start({.address = "127.0.0.1:0", .reflection = true}, {});
  EXPECT_NE(AskForServices(*with).error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

// In a child process, since other threads of this one do not block the signals.
[[noreturn]] void TakeTwoSignals() {
  TerminationSignal signal;
  if (signal.WaitFor(absl::ZeroDuration())) ::_exit(1);
  ::kill(::getpid(), SIGINT);
  if (!signal.WaitFor(absl::Seconds(30))) ::_exit(2);
  std::atomic<int> told = 0;
  // A callback learns of earlier signals, too.
  signal.OnSignal([&told](int number) { told = number; });
  if (told != 1) ::_exit(3);
  ::kill(::getpid(), SIGTERM);
  for (int i = 0; i < 3000 && told != 2; ++i) absl::SleepFor(absl::Milliseconds(10));
  signal.OnSignal(nullptr);
  ::_exit(told == 2 && signal.WaitFor(absl::ZeroDuration()) ? 0 : 4);
}

TEST(TerminationSignalTest, TellsOfEachSignal) {
  EXPECT_EXIT(TakeTwoSignals(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kernelmill::rpc
