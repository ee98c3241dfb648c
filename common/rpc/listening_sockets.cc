#include "common/rpc/listening_sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"

namespace kernelmill::rpc {
namespace {

// A peer that acknowledges nothing for so long is gone; as gRPC's keepalive timeout.
constexpr int kUserTimeoutMs = 20'000;

absl::Status CannotListen(const char* why) { return absl::UnavailableError(why); }

void SetOption(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof(value));
}

// Accepted sockets inherit the options of TCP.
void SetTcpOptions(int fd) {
  SetOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
}

// Binds and listens. Returns errno, or 0.
int Listen(const FileDescriptor& socket, const sockaddr* address, socklen_t size) {
  if (!socket.is_open()) return errno;
  const bool listens =
      ::bind(socket.get(), address, size) == 0 && ::listen(socket.get(), SOMAXCONN) == 0;
  return listens ? 0 : errno;
}

FileDescriptor NewSocket(int family) {
  return FileDescriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int GetPort(int fd) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

// Opens one socket for every address of IPv4 and IPv6. Returns errno, or 0.
int ListenEverywhere(int port, FileDescriptor* socket) {
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  *socket = NewSocket(AF_INET6);
  if (socket->is_open()) {
    SetTcpOptions(socket->get());
    SetOption(socket->get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    const int error = Listen(*socket, reinterpret_cast<sockaddr*>(&six), sizeof(six));
    if (error == 0 || error == EADDRINUSE) return error;
  }
  sockaddr_in four = {};  // a machine without IPv6
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  *socket = NewSocket(AF_INET);
  if (socket->is_open()) SetTcpOptions(socket->get());
  return Listen(*socket, reinterpret_cast<sockaddr*>(&four), sizeof(four));
}

}  // namespace

absl::StatusOr<ListeningSockets> ListeningSockets::Open(const std::string& address) {
  ListeningSockets made;
  absl::string_view path = address;
  const absl::Status status = absl::ConsumePrefix(&path, "unix:") ? made.OpenUnix(std::string(path))
                                                                  : made.OpenHostAndPort(address);
  RETURN_IF_ERROR(Annotate(status, absl::StrCat("cannot listen on ", address)));
  return made;
}

ListeningSockets::~ListeningSockets() {
  if (!path_.empty() && !sockets_.empty()) ::unlink(path_.c_str());
}

// Replaces the socket that an earlier process left, and no other kind of file.
absl::Status ListeningSockets::OpenUnix(const std::string& path) {
  sockaddr_un address = {};
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return CannotListen("must be the path of a socket");
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat found;
  if (::stat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) ::unlink(path.c_str());
  FileDescriptor socket = NewSocket(AF_UNIX);
  const int error = Listen(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  if (error != 0) return CannotListen(std::strerror(error));
  sockets_.push_back(std::move(socket));
  path_ = path;
  return absl::OkStatus();
}

// All addresses of a host get the same port. One that this machine cannot have (::1 of localhost
// without IPv6) is left out as long as another can be bound.
absl::Status ListeningSockets::OpenHostAndPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port_)) {
    return CannotListen("must be host:port");
  }
  absl::string_view host = absl::string_view(address).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  if (host.empty() || host == "0.0.0.0" || host == "::") {
    FileDescriptor socket;
    const int error = ListenEverywhere(port_, &socket);
    if (error != 0) return CannotListen(std::strerror(error));
    port_ = GetPort(socket.get());
    sockets_.push_back(std::move(socket));
    return absl::OkStatus();
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int wrong = ::getaddrinfo(std::string(host).c_str(), nullptr, &hints, &found);
  if (wrong != 0) return CannotListen(::gai_strerror(wrong));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  int failed = 0;
  for (const addrinfo* next = found; next != nullptr; next = next->ai_next) {
    auto& where =
        *reinterpret_cast<sockaddr_in*>(next->ai_addr);  // the port is at one place in both
    where.sin_port = htons(port_);
    FileDescriptor socket = NewSocket(next->ai_family);
    if (socket.is_open()) SetTcpOptions(socket.get());
    const int error = Listen(socket, next->ai_addr, next->ai_addrlen);
    if (error == EADDRINUSE) return CannotListen(std::strerror(error));
    if (error != 0) {
      failed = error;
      continue;
    }
    port_ = GetPort(socket.get());
    sockets_.push_back(std::move(socket));
  }
  return sockets_.empty() ? CannotListen(std::strerror(failed)) : absl::OkStatus();
}

}  // namespace kernelmill::rpc
