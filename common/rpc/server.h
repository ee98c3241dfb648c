#ifndef KERNELMILL_COMMON_RPC_SERVER_H_
#define KERNELMILL_COMMON_RPC_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace grpc {
class CallbackGenericService;
class Channel;
class ChannelCredentials;
class Server;
class ServerCredentials;
class Service;
}  // namespace grpc

namespace kernelmill::rpc {

class AnswerGuard;
class HealthWatches;
class Listener;
class SelfCheck;

inline constexpr int kMaxMessageBytes = 16 << 20;

// The service name in grpc.health.v1 whose status says whether a server can do its work now.
inline constexpr char kReadyService[] = "ready";

// A gRPC server with health checking (grpc.health.v1) and optional reflection. Thread-safe.
class Server {
 public:
  struct Options {
    std::string address;      // host:port or unix:/path; empty: in-process channels only
    bool reflection = false;  // serves gRPC reflection
    std::shared_ptr<grpc::ServerCredentials> credentials =
        nullptr;  // null: no TLS, and calls from anyone
    // Bounds for untrusted clients. Calls above max_threads are refused with RESOURCE_EXHAUSTED.
    // Connections are closed if there are too many, the memory is used up, or the handshake takes
    // too long.
    int max_connections = 4096;  // and at most half of the descriptors that the process may have
    int max_connections_per_host = 1024;
    int max_threads = 2560;
    // An eighth is for gRPC's buffers, a quarter for requests that are handled. 0: MemoryLimit().
    int64_t memory_bytes = 0;
    absl::Duration handshake_timeout = absl::Seconds(10);
    // For a client to read an answer; its call then ends.
    absl::Duration answer_patience = absl::Seconds(60);
    // Called once the server has not answered its own calls for some minutes (SelfCheck); null: it
    // does not call itself.
    std::function<void(const absl::Status& error)> on_dead = nullptr;
    std::shared_ptr<grpc::ChannelCredentials> self_credentials = nullptr;  // of these calls
  };

  // Starts serving, with health SERVING. Raises the process's limit of open files as far as
  // allowed. `services` must outlive the server. UNAVAILABLE: the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options,
                                                       const std::vector<grpc::Service*>& services);
  ~Server();

  // The bound port, or 0.
  int port() const;
  // Returns how many connections were refused because of a limit.
  int64_t refused_connections() const;

  // Makes a channel to this server within the process, without a socket. Do not call on it after
  // the server was shut down: gRPC 1.51 crashes.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Sets health to NOT_SERVING; calls still work.
  void StopServing();

  // Sets the health of kReadyService: whether the server's dependencies are available. The server's
  // own health, under "", does not change. Ready from the start; not ready after StopServing().
  void SetReady(bool ready);

  // Refuses new calls, waits at most `grace` for running calls, then cancels them.
  void Shutdown(absl::Duration grace);

 private:
  Server(std::unique_ptr<grpc::CallbackGenericService> rest, std::unique_ptr<grpc::Server> server,
         std::unique_ptr<HealthWatches> watches, std::unique_ptr<AnswerGuard> answers,
         std::unique_ptr<Listener> listener);
  void CheckItself(const Options& options);

  const std::unique_ptr<grpc::CallbackGenericService> rest_;  // outlives the server
  const std::unique_ptr<HealthWatches> watches_;              // likewise
  const std::unique_ptr<AnswerGuard> answers_;                // likewise
  const std::unique_ptr<grpc::Server> server_;
  const std::unique_ptr<Listener> listener_;  // null without an address
  std::unique_ptr<SelfCheck> self_check_;
  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;  // StopServing() was called
};

// Makes a channel to `target` (host:port, unix:/path, dns:///name:port) for messages up to
// kMaxMessageBytes, with keepalive; without credentials it uses no TLS. It never fails; calls on it
// may, with UNAVAILABLE.
std::shared_ptr<grpc::Channel> Connect(
    const std::string& target, std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr);

// SIGTERM and SIGINT as an event. Construct it first in main(), before any thread starts: it blocks
// both signals for this thread and its child threads. It also ignores SIGPIPE. A thread of its own
// takes the signals, so that somebody learns of each at once. Thread-safe.
class TerminationSignal {
 public:
  TerminationSignal();
  ~TerminationSignal();

  // Waits at most `timeout` for a signal. Returns true if one has come, now or earlier.
  bool WaitFor(absl::Duration timeout);
  // Waits for a signal.
  void Wait();
  // Calls on_signal(n) for the n-th signal, on the thread of this object; at once for signals that
  // no callback was called for. Null: no callback. It must not block.
  void OnSignal(std::function<void(int)> on_signal);

 private:
  void TakeSignals();

  absl::Mutex mutex_;
  int signals_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void(int)> on_signal_ ABSL_GUARDED_BY(mutex_);
  int told_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

// Makes a channel to a trusted server, with answers up to 512 MiB; else as Connect(). A worker
// needs it for its coordinator: the action of a job-wide stage names each shard, with some 350
// bytes.
std::shared_ptr<grpc::Channel> ConnectForLargeAnswers(
    const std::string& target, std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_SERVER_H_
