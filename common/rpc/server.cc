#include "common/rpc/server.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/impl/server_builder_plugin.h>
#include <grpcpp/resource_quota.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory_limit.h"
#include "common/base/status.h"
#include "common/rpc/answer_guard.h"
#include "common/rpc/health_watches.h"
#include "common/rpc/interceptors.h"
#include "common/rpc/listener.h"
#include "common/rpc/request_gate.h"
#include "common/rpc/self_check.h"

// The settings that all servers and clients share. Most of them are bounds: gRPC's defaults let one
// client open any number of connections and streams, and hold memory and threads by not reading.
// The bounds here concern connections (handshake, idle time, pings) and the whole process (threads,
// memory); StallGuard, LimitedCalls and AnswerGuard bound single calls.
namespace kernelmill::rpc {
namespace {

// A lease has whole actions, whose lists of inputs can be long; see ConnectForLargeAnswers.
constexpr int kMaxLargeAnswerBytes = 512 << 20;
constexpr int kKeepaliveMs = 20'000;
// The number of unfinished calls of one connection; further calls wait at the client.
constexpr int kMaxStreamsPerConnection = 256;
// Pings detect clients that disappeared. Idle connections are closed; clients reconnect by
// themselves.
constexpr int kServerKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
constexpr int kMaxIdleMs = 5 * 60'000;
constexpr int64_t kMaxBufferBytes = int64_t{1} << 30;
// Each connection is a descriptor.
constexpr rlim_t kDescriptors = 1 << 20;

// Sends gRPC's own errors, such as failed handshakes, to the process's log.
void LogOfLibrary(gpr_log_func_args* line) {
  if (line->severity == GPR_LOG_SEVERITY_ERROR) LogWarning("grpc", {{"said", line->message}});
}

// gRPC polls a channel without calls every 5 s. A call that fails at once hardly polls, so that a
// client whose connection was refused would come back after 10 s. Set before main(), since gRPC
// reads it when anything of it is made first, such as credentials.
[[maybe_unused]] const int kPollsOften =
    ::setenv("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", "100", /*overwrite=*/0);

// Keeps the gRPC library initialized for the life of the process. Otherwise destroying the last
// channel or server shuts it down, which may block for 10 s (1.51).
void KeepLibrary() {
  static std::once_flag once;
  std::call_once(once, [] {
    KeepWaitsMonotonic();
    gpr_set_log_function(LogOfLibrary);
    grpc_init();
  });
}

void InstallPlugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

// Removes reflection from a server. The library adds it to every server of a program that links it
// (1.51).
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    plugins->erase(std::remove_if(plugins->begin(), plugins->end(),
                                  [](const std::unique_ptr<grpc::ServerBuilderPlugin>& plugin) {
                                    return plugin->name() == "proto_server_reflection";
                                  }),
                   plugins->end());
  }
};

// Takes as much as the hard limit allows; a failure leaves the limit as it was. Returns the limit.
int RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < kDescriptors) {
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = std::min(limit.rlim_max, kDescriptors);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  return static_cast<int>(std::min(limit.rlim_cur, kDescriptors));
}

// Opens the server's listener; null without an address. Half of the descriptors are left for files
// and for calls to other servers.
absl::StatusOr<std::unique_ptr<Listener>> OpenListener(const Server::Options& options) {
  const int descriptors = RaiseDescriptorLimit();
  if (options.address.empty()) return nullptr;
  const int most = std::min(options.max_connections, descriptors / 2);
  return Listener::Open({.address = options.address,
                         .max_connections = most,
                         .max_per_host = std::min(options.max_connections_per_host, most),
                         .patience = options.handshake_timeout});
}

// Sets the bounds that keep untrusted clients from exhausting the server.
void BoundStrangers(const Server::Options& options, int64_t memory_bytes,
                    grpc::ServerBuilder* builder) {
  builder->SetResourceQuota(grpc::ResourceQuota("server")
                                .SetMaxThreads(options.max_threads)
                                .Resize(std::min(memory_bytes / 8, kMaxBufferBytes)));
  builder->SetMaxReceiveMessageSize(kMaxMessageBytes);
  // gRPC inflates a message before it looks at its size. Both settings are needed: the first
  // refuses the call, and the second sees to it that what has arrived by then is not inflated.
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
  builder->AddChannelArgument(
      GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
      static_cast<int>(absl::ToInt64Milliseconds(options.handshake_timeout)));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kMaxIdleMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kServerKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              kKeepaliveMs / 2);
}

// Pings notice a server whose machine has disappeared; without them a call waits for its deadline.
// Reconnecting after at most two seconds keeps workers idle only briefly after a restart.
grpc::ChannelArguments ClientArguments(int max_answer_bytes = kMaxMessageBytes) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(max_answer_bytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2'000);
  return arguments;
}

std::shared_ptr<grpc::Channel> NewChannel(const std::string& target,
                                          std::shared_ptr<grpc::ChannelCredentials> credentials,
                                          int max_answer_bytes) {
  KeepLibrary();
  auto interceptors = ClientCallMetrics();
  interceptors.push_back(WrongServerExplainer(target, credentials != nullptr));
  if (credentials == nullptr) credentials = grpc::InsecureChannelCredentials();
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      target, credentials, ClientArguments(max_answer_bytes), std::move(interceptors));
}

sigset_t TerminationSet() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

// UNAVAILABLE: the address cannot be bound. An empty address serves InProcessChannel only.
absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Options& options,
                                                      const std::vector<grpc::Service*>& services) {
  KeepLibrary();
  InstallPlugins();
  ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener, OpenListener(options));
  grpc::ServerBuilder builder;
  if (!options.reflection) builder.SetOption(std::make_unique<WithoutReflection>());
  std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  if (listener != nullptr) {
    acceptor = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        options.credentials ? options.credentials : grpc::InsecureServerCredentials());
  }
  // Unlimited: handlers bound their answers, and so does the client.
  builder.SetMaxSendMessageSize(-1);
  const int64_t memory_bytes = options.memory_bytes > 0 ? options.memory_bytes : MemoryLimit();
  BoundStrangers(options, memory_bytes, &builder);
  const RequestGate gate(memory_bytes / 4);
  auto watches = std::make_unique<HealthWatches>();
  auto interceptors = ServerCallMetrics();
  interceptors.push_back(HealthWatches::NewInterceptors(*watches));
  auto answers = std::make_unique<AnswerGuard>(options.answer_patience);
  interceptors.push_back(AnswerGuard::NewInterceptors(*answers));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  for (grpc::Service* service : services) {
    gate.Guard(*service);
    builder.RegisterService(service);
  }
  // gRPC does not start with the health service only. This one answers UNIMPLEMENTED to everything.
  auto rest = std::make_unique<grpc::CallbackGenericService>();
  if (services.empty()) builder.RegisterCallbackGenericService(rest.get());
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot serve on ", options.address));
  }
  server->GetHealthCheckService()->SetServingStatus(kReadyService, true);
  server->GetHealthCheckService()->SetServingStatus(true);
  if (listener != nullptr) {
    listener->Start([acceptor](int descriptor) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.fd = descriptor;
      acceptor->HandleNewConnection(&connection);
    });
  }
  std::unique_ptr<Server> made(new Server(std::move(rest), std::move(server), std::move(watches),
                                          std::move(answers), std::move(listener)));
  if (options.on_dead != nullptr && made->listener_ != nullptr) made->CheckItself(options);
  return made;
}

Server::Server(std::unique_ptr<grpc::CallbackGenericService> rest,
               std::unique_ptr<grpc::Server> server, std::unique_ptr<HealthWatches> watches,
               std::unique_ptr<AnswerGuard> answers, std::unique_ptr<Listener> listener)
    : rest_(std::move(rest)),
      watches_(std::move(watches)),
      answers_(std::move(answers)),
      server_(std::move(server)),
      listener_(std::move(listener)) {}

// A socket that listens everywhere is called at the loopback address.
void Server::CheckItself(const Options& options) {
  std::string target = options.address;
  if (listener_->port() != 0) {
    const std::string host = target.substr(0, target.rfind(':'));
    const bool everywhere = host.empty() || host == "0.0.0.0" || host == "[::]";
    target = absl::StrCat(everywhere ? "127.0.0.1" : host, ":", listener_->port());
  }
  self_check_ = std::make_unique<SelfCheck>(SelfCheck::Options{
      .target = target,
      .credentials = options.self_credentials,
      .is_full =
          [this, before = int64_t{0}]() mutable {
            return std::exchange(before, listener_->refused()) != listener_->refused();
          },
      .give_up = options.on_dead});
}

Server::~Server() { Shutdown(absl::ZeroDuration()); }

int Server::port() const { return listener_ == nullptr ? 0 : listener_->port(); }

int64_t Server::refused_connections() const {
  return listener_ == nullptr ? 0 : listener_->refused();
}

std::shared_ptr<grpc::Channel> Server::InProcessChannel() {
  return server_->InProcessChannel(ClientArguments());
}

// From here on the server is never ready again, even if the next check succeeds.
void Server::StopServing() {
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
  server_->GetHealthCheckService()->SetServingStatus(false);
}

void Server::SetReady(bool ready) {
  absl::MutexLock lock(&mutex_);
  if (!stopped_) server_->GetHealthCheckService()->SetServingStatus(kReadyService, ready);
}

// The listener before the server: gRPC does not close what it is handed afterwards.
void Server::Shutdown(absl::Duration grace) {
  self_check_.reset();
  if (listener_ != nullptr) listener_->Stop();
  watches_->End();
  server_->Shutdown(absl::ToChronoTime(absl::Now() + grace));
}

std::shared_ptr<grpc::Channel> Connect(const std::string& target,
                                       std::shared_ptr<grpc::ChannelCredentials> credentials) {
  return NewChannel(target, std::move(credentials), kMaxMessageBytes);
}

std::shared_ptr<grpc::Channel> ConnectForLargeAnswers(
    const std::string& target, std::shared_ptr<grpc::ChannelCredentials> credentials) {
  return NewChannel(target, std::move(credentials), kMaxLargeAnswerBytes);
}

// Must be made before other threads start: they inherit the mask, so that the signals stay pending
// until the thread takes them. SIGPIPE would end the process when a peer closes its connection.
TerminationSignal::TerminationSignal() {
  const sigset_t set = TerminationSet();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { TakeSignals(); });
}

TerminationSignal::~TerminationSignal() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  pthread_kill(thread_.native_handle(), SIGINT);  // wakes it
  thread_.join();
}

// The callback is called under the mutex, so that it is not called once it was replaced.
void TerminationSignal::TakeSignals() {
  const sigset_t set = TerminationSet();
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    absl::MutexLock lock(&mutex_);
    if (stopping_) return;
    ++signals_;
    if (on_signal_) on_signal_(told_ = signals_);
  }
}

bool TerminationSignal::WaitFor(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  const auto came = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return signals_ > 0; };
  return mutex_.AwaitWithTimeout(absl::Condition(&came), timeout);
}

void TerminationSignal::Wait() { WaitFor(absl::InfiniteDuration()); }

void TerminationSignal::OnSignal(std::function<void(int)> on_signal) {
  absl::MutexLock lock(&mutex_);
  on_signal_ = std::move(on_signal);
  while (on_signal_ && told_ < signals_) on_signal_(++told_);
}

}  // namespace kernelmill::rpc
