#ifndef KERNELMILL_COMMON_RPC_LISTENING_SOCKETS_H_
#define KERNELMILL_COMMON_RPC_LISTENING_SOCKETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace kernelmill::rpc {

// The sockets that listen at an address, not blocking: several where a host name has several
// addresses. The destructor closes them and removes the file of a Unix socket. Movable.
class ListeningSockets {
 public:
  // Binds `address`: host:port or unix:/path. Port 0 picks one. 0.0.0.0 and [::] take IPv4 and
  // IPv6. UNAVAILABLE: it cannot be bound.
  static absl::StatusOr<ListeningSockets> Open(const std::string& address);
  ListeningSockets(ListeningSockets&& other) noexcept = default;
  ListeningSockets& operator=(ListeningSockets&& other) = delete;
  ~ListeningSockets();

  const std::vector<FileDescriptor>& sockets() const { return sockets_; }
  // The bound port; 0 for a Unix socket.
  int port() const { return port_; }

 private:
  ListeningSockets() = default;
  absl::Status OpenUnix(const std::string& path);
  absl::Status OpenHostAndPort(const std::string& address);

  std::vector<FileDescriptor> sockets_;
  int port_ = 0;
  std::string path_;  // of a Unix socket
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_LISTENING_SOCKETS_H_
