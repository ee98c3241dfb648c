#ifndef KERNELMILL_COMMON_RPC_LISTENER_H_
#define KERNELMILL_COMMON_RPC_LISTENER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace kernelmill::rpc {

// A listening socket that accepts connections and hands them to a server once the client has sent
// its first byte. It bounds how many are open, in all and for each host, and closes those that stay
// silent. It never stops accepting: without a free descriptor it closes the new connection.
// Thread-safe.
//
// gRPC 1.51 has none of these bounds, and its own listener ends for good at the first accept that
// fails.
class Listener {
 public:
  struct Options {
    std::string address;  // host:port, or unix:/path
    // The connections that are open at a time. Those of this machine may take some more, so that
    // its health checks are answered.
    int max_connections = 4096;
    int max_per_host = 1024;  // of an IPv4 address or an IPv6 /64; Unix sockets have no such limit
    absl::Duration patience = absl::Seconds(10);  // for the first byte
  };
  // Takes over a connection, and closes the descriptor sometime. Called on the listener's thread.
  using TakeOver = std::function<void(int descriptor)>;

  // Binds the address. Connections wait until Start(). UNAVAILABLE: it cannot be bound.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(const Options& options);
  ~Listener();

  // The bound port; 0 for a Unix socket.
  int port() const { return port_; }
  // Returns how many connections were closed because of a limit.
  int64_t refused() const { return refused_; }

  // Begins to accept. Call once.
  void Start(TakeOver take_over);
  // Closes the socket and the connections that were not handed over. No connection is handed over
  // after it has returned. Do not call it in two threads at once.
  void Stop();

 private:
  class Loop;
  explicit Listener(int port);

  std::atomic<int64_t> refused_{0};
  const int port_;
  std::unique_ptr<Loop> loop_;  // null after Stop()
  std::thread thread_;
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_LISTENER_H_
