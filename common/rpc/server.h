#ifndef KERNELMILL_COMMON_RPC_SERVER_H_
#define KERNELMILL_COMMON_RPC_SERVER_H_

#include <atomic>
#include <memory>
#include <string>
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

inline constexpr int kMaxMessageBytes = 16 << 20;

// What grpc.health.v1 is asked for to learn whether a server can do its work now.
inline constexpr char kReadyService[] = "ready";

// A gRPC server with health checking (grpc.health.v1), and reflection if asked for. Thread-safe.
class Server {
 public:
  struct Options {
    std::string address;      // host:port or unix:/path; empty serves in-process channels alone
    bool reflection = false;  // list services and messages to those who ask
    std::shared_ptr<grpc::ServerCredentials> credentials =
        nullptr;  // null: no TLS, and calls from anyone
    // What strangers may take. Calls over max_threads are refused with RESOURCE_EXHAUSTED;
    // connections give way when the memory is used up, and at once when they have not said what
    // they are in time.
    int max_threads = 2048;
    int64_t max_memory_bytes = int64_t{1} << 30;  // of gRPC's buffers
    absl::Duration handshake_timeout = absl::Seconds(10);
  };

  // Starts to serve; health says SERVING. Raises the process's limit of open files as far as it
  // may. `services` must outlive the server. UNAVAILABLE: the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options,
                                                       const std::vector<grpc::Service*>& services);
  ~Server();

  // The port bound; 0 where none is.
  int port() const { return port_; }

  // A channel to this server within the process; no socket. No call may begin on it once the server
  // has been shut down: gRPC 1.51 crashes then.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Health says NOT_SERVING from now on; calls still work.
  void StopServing();

  // What health says of the service kReadyService: whether what the server depends on is there. Its
  // own health, under "", stays what it is. SERVING from the start; NOT_SERVING after
  // StopServing().
  void SetReady(bool ready);

  // Refuses new calls and waits for those in flight, at most `grace`; then cancels them.
  void Shutdown(absl::Duration grace);

 private:
  Server(std::unique_ptr<grpc::CallbackGenericService> rest, std::unique_ptr<grpc::Server> server,
         int port);
  const std::unique_ptr<grpc::CallbackGenericService> rest_;  // outlives the server
  const std::unique_ptr<grpc::Server> server_;
  int port_;
  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;  // by StopServing()
};

// A channel to `target` (host:port, unix:/path, dns:///name:port) for messages up to
// kMaxMessageBytes, with keepalive; without TLS if there are no credentials. Never fails: calls do,
// with UNAVAILABLE.
std::shared_ptr<grpc::Channel> Connect(
    const std::string& target, std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr);

// SIGTERM and SIGINT as an event to wait for. Construct it first in main(), before any thread
// starts: it blocks both signals for this thread and those it starts. SIGPIPE is ignored.
class TerminationSignal {
 public:
  TerminationSignal();

  // Waits for a signal, at most `timeout`; true once one has come, then and ever after.
  bool WaitFor(absl::Duration timeout);
  // Waits for a signal.
  void Wait();

 private:
  std::atomic<bool> received_{false};
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_SERVER_H_
