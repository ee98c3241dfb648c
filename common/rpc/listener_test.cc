#include "common/rpc/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/metrics/metrics.h"
#include "common/rpc/self_check.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::rpc {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr absl::Duration kLong = absl::Seconds(30);

bool Eventually(const std::function<bool()>& condition) {
  const absl::Time give_up = absl::Now() + kLong;
  while (!condition() && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(5));
  return condition();
}

// A connection of a test, to a loopback port; from 127.0.0.`host`.
class Client {
 public:
  Client() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {}
  explicit Client(int port, int host = 1) : Client() { Connect(port, host); }
  void Connect(int port, int host = 1) const {
    sockaddr_in from = {}, to = {};
    from.sin_family = to.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl((127u << 24) + host);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&from), sizeof(from)), 0);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  }
  bool Speak() const { return ::send(socket_.get(), "x", 1, MSG_NOSIGNAL) == 1; }
  // Returns whether the peer closes the connection within the time.
  bool IsClosed(absl::Duration within = kLong) const {
    pollfd event = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&event, 1, static_cast<int>(absl::ToInt64Milliseconds(within))) == 1;
  }
  bool IsOpen() const { return !IsClosed(absl::Milliseconds(100)); }

 private:
  FileDescriptor socket_;
};

// A server that keeps what it is handed.
class Keeper {
 public:
  explicit Keeper(Listener::Options options) {
    options.address = "127.0.0.1:0";
    listener_ = *Listener::Open(options);
    listener_->Start([this](int descriptor) {
      const absl::MutexLock lock(&mutex_);
      taken_.emplace_back(descriptor);
    });
  }
  Listener& listener() { return *listener_; }
  int port() const { return listener_->port(); }
  size_t taken() const {
    const absl::MutexLock lock(&mutex_);
    return taken_.size();
  }
  void CloseAll() {
    const absl::MutexLock lock(&mutex_);
    taken_.clear();
  }
  ~Keeper() { listener_->Stop(); }

 private:
  mutable absl::Mutex mutex_;
  std::vector<FileDescriptor> taken_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Listener> listener_;
};

TEST(Listener, CountsWhatIsOpenAndWhatWasRefused) {
  prometheus::Gauge& open = metrics::Gauge(metrics::kConnections);
  prometheus::Counter& refused = metrics::Counter(metrics::kConnectionsRefused);
  const double before = open.Value(), refused_before = refused.Value();
  {
    Keeper keeper({.max_per_host = 2});
    const Client silent(keeper.port()), speaker(keeper.port());
    speaker.Speak();
    EXPECT_TRUE(Eventually([&] { return open.Value() == before + 2 && keeper.taken() == 1; }));
    const Client third(keeper.port());
    EXPECT_TRUE(silent.IsClosed());
    // The place of the one that was closed is counted after it: the gauge is one less for a moment.
    EXPECT_TRUE(Eventually(
        [&] { return refused.Value() == refused_before + 1 && open.Value() == before + 2; }));
    keeper.CloseAll();
    EXPECT_TRUE(Eventually([&] { return open.Value() == before + 1; }));
  }
  EXPECT_EQ(open.Value(), before);
}

TEST(Listener, HandsOverAConnectionThatSpeaks) {
  Keeper keeper({});
  const Client silent(keeper.port()), speaker(keeper.port());
  speaker.Speak();
  EXPECT_TRUE(Eventually([&] { return keeper.taken() == 1; }));
  EXPECT_TRUE(silent.IsOpen());
  EXPECT_EQ(keeper.taken(), 1u);
}

TEST(Listener, ClosesAConnectionThatStaysSilent) {
  Keeper keeper({.patience = absl::Milliseconds(100)});
  const Client silent(keeper.port()), speaker(keeper.port());
  speaker.Speak();
  EXPECT_TRUE(silent.IsClosed());
  EXPECT_TRUE(speaker.IsOpen());
}

TEST(Listener, ASilentConnectionLosesItsPlaceToANewOneOfItsHost) {
  Keeper keeper({.max_per_host = 2});
  const Client first(keeper.port(), 2), second(keeper.port(), 2), other(keeper.port(), 3);
  const Client third(keeper.port(), 2);
  EXPECT_TRUE(first.IsClosed());
  EXPECT_TRUE(second.IsOpen());
  EXPECT_TRUE(other.IsOpen());
  third.Speak();
  EXPECT_TRUE(Eventually([&] { return keeper.taken() == 1; }));
}

TEST(Listener, AHostHasNoMoreConnectionsThanItMayAndOthersHaveTheirs) {
  Keeper keeper({.max_per_host = 2});
  std::vector<Client> clients;
  for (int i = 0; i < 2; ++i) clients.emplace_back(keeper.port(), 2).Speak();
  EXPECT_TRUE(Eventually([&] { return keeper.taken() == 2; }));
  const Client third(keeper.port(), 2);
  EXPECT_TRUE(third.IsClosed());
  const Client other(keeper.port(), 3);
  other.Speak();
  EXPECT_TRUE(Eventually([&] { return keeper.taken() == 3; }));
  EXPECT_EQ(keeper.listener().refused(), 1);
  // The place of a closed connection is free again.
  keeper.CloseAll();
  EXPECT_TRUE(Eventually([&] {
    const Client again(keeper.port(), 2);
    return again.Speak() && !again.IsClosed(absl::Milliseconds(20)) && keeper.taken() > 0;
  }));
}

TEST(Listener, WhereAllPlacesAreTakenThisMachineHasSomeMore) {
  Keeper keeper({.max_connections = 2});
  std::vector<Client> clients;
  for (int i = 0; i < 2; ++i) clients.emplace_back(keeper.port(), 2 + i).Speak();
  EXPECT_TRUE(Eventually([&] { return keeper.taken() == 2; }));
  const Client stranger(keeper.port(), 4);
  EXPECT_TRUE(stranger.IsClosed());
  const Client probe(keeper.port(), 1);
  probe.Speak();
  EXPECT_TRUE(Eventually([&] { return keeper.taken() == 3; }));
}

// Takes all descriptors of the process while it exists.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit low = before_;
    low.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &low);
    for (int fd; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.emplace_back(fd);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
  std::vector<FileDescriptor> taken_;
};

TEST(Listener, GoesOnAfterTheProcessHadNoDescriptorLeft) {
  Keeper keeper({});
  const Client early;
  {
    const NoDescriptors none;
    ASSERT_EQ(::dup(0), -1);
    early.Connect(keeper.port());
    EXPECT_TRUE(early.IsClosed());
  }
  std::vector<Client> later;
  for (int i = 0; i < 8; ++i) later.emplace_back(keeper.port()).Speak();
  EXPECT_TRUE(Eventually([&] { return keeper.taken() == 8; }));
}

TEST(Listener, RefusesWhatCannotBeBound) {
  const auto first = Listener::Open({.address = "127.0.0.1:0"});
  ASSERT_THAT(first, IsOk());
  for (const std::string& address :
       {absl::StrCat("127.0.0.1:", (*first)->port()), std::string("192.0.2.1:0"),
        std::string("nothing"), std::string("unix:")}) {
    EXPECT_THAT(Listener::Open({.address = address}), StatusIs(absl::StatusCode::kUnavailable))
        << address;
  }
}

TEST(Listener, TakesIpv4WhereItListensEverywhere) {
  const auto listener = *Listener::Open({.address = "0.0.0.0:0"});
  std::atomic<int> taken = 0;
  listener->Start([&](int descriptor) {
    ::close(descriptor);
    ++taken;
  });
  const Client client(listener->port());
  client.Speak();
  EXPECT_TRUE(Eventually([&] { return taken == 1; }));
  listener->Stop();
}

// Watches the health of a server until it ends.
class Watcher final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit Watcher(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {
    stub_.PrepareBidiStreamingCall(&context_, "/grpc.health.v1.Health/Watch", {}, this);
    StartWriteLast(&request_, {});
    StartRead(&answer_);
    StartCall();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    if (!begun_.HasBeenNotified()) begun_.Notify();
    StartRead(&answer_);
  }
  void OnDone(const grpc::Status& status) override {
    status_ = status;
    done_.Notify();
  }
  void AwaitBegin() { begun_.WaitForNotification(); }
  grpc::Status AwaitEnd() {
    done_.WaitForNotification();
    return status_;
  }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  const grpc::Slice no_fields_;
  const grpc::ByteBuffer request_{&no_fields_, 1};
  grpc::ByteBuffer answer_;
  grpc::Status status_;
  absl::Notification begun_, done_;
};

TEST(Server, AWatchOfItsHealthDoesNotHoldAServerThatStops) {
  const auto server = *Server::Start({.address = "127.0.0.1:0"}, {});
  const auto channel = Connect(absl::StrCat("127.0.0.1:", server->port()));
  Watcher watcher(channel);
  watcher.AwaitBegin();
  server->StopServing();
  const absl::Time begun = absl::Now();
  server->Shutdown(kLong);
  EXPECT_LT(absl::Now() - begun, kLong / 3);
  EXPECT_FALSE(watcher.AwaitEnd().ok());
}

SelfCheck::Options MakeOptions(const std::string& target, absl::Notification* dead) {
  return {.target = target,
          .interval = absl::Milliseconds(10),
          .patience = absl::Milliseconds(300),
          .failures = 2,
          .is_full = [] { return false; },
          .give_up = [dead](const absl::Status&) { dead->Notify(); }};
}

TEST(SelfCheck, GivesUpAServerThatAcceptsAndNeverAnswers) {
  Keeper mute({});
  absl::Notification dead;
  const SelfCheck check(MakeOptions(absl::StrCat("127.0.0.1:", mute.port()), &dead));
  EXPECT_TRUE(dead.WaitForNotificationWithTimeout(kLong));
}

TEST(SelfCheck, LeavesAServerThatAnswersAlone) {
  const auto server = *Server::Start({.address = "127.0.0.1:0"}, {});
  absl::Notification dead;
  SelfCheck::Options options = MakeOptions(absl::StrCat("127.0.0.1:", server->port()), &dead);
  options.patience = kLong;
  const SelfCheck check(options);
  EXPECT_FALSE(dead.WaitForNotificationWithTimeout(absl::Milliseconds(300)));
}

TEST(SelfCheck, AServerThatIsFullIsNotDead) {
  Keeper mute({});
  absl::Notification dead;
  SelfCheck::Options options = MakeOptions(absl::StrCat("127.0.0.1:", mute.port()), &dead);
  options.patience = absl::Milliseconds(20);
  options.is_full = [] { return true; };
  const SelfCheck check(options);
  EXPECT_FALSE(dead.WaitForNotificationWithTimeout(absl::Milliseconds(300)));
}

}  // namespace
}  // namespace kernelmill::rpc
