#include "common/base/listen_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"

namespace kernelmill {
namespace {

class Socket {
 public:
  explicit Socket(int family) : fd_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

absl::Status WhyNot(int error) {
  switch (error) {
    case EADDRINUSE:
      return absl::FailedPreconditionError("address in use");
    case EADDRNOTAVAIL:
      return absl::InvalidArgumentError("not an address of this machine");
    default:
      return absl::FailedPreconditionError(std::strerror(error));
  }
}

// As servers bind: a port whose last connections are still being closed is free.
int TryToListen(const addrinfo& address) {
  const Socket socket(address.ai_family);
  if (socket.fd() < 0) return errno;
  const int yes = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const bool listens = ::bind(socket.fd(), address.ai_addr, address.ai_addrlen) == 0 &&
                       ::listen(socket.fd(), 1) == 0;
  return listens ? 0 : errno;
}

// A socket that somebody answers at would be taken from them without a word.
absl::Status CheckUnix(absl::string_view path) {
  sockaddr_un address = {};
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError("not the path of a socket");
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const Socket socket(AF_UNIX);
  const bool answers =
      socket.fd() >= 0 &&
      ::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return answers ? WhyNot(EADDRINUSE) : absl::OkStatus();
}

absl::Status CheckHostAndPort(absl::string_view address) {
  const size_t colon = address.rfind(':');
  const absl::string_view port =
      colon == absl::string_view::npos ? absl::string_view() : address.substr(colon + 1);
  int number = -1;
  if (!absl::SimpleAtoi(port, &number) || number < 0 || number > 65535) {
    return absl::InvalidArgumentError("not host:port");
  }
  absl::string_view host = address.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.empty() ? nullptr : std::string(host).c_str(),
                                  std::string(port).c_str(), &hints, &found);
  if (error != 0) return absl::InvalidArgumentError(::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  // A name may stand for several, of which one is enough; but not if another program has one.
  int failed = 0;
  bool listens = false;
  for (const addrinfo* next = found; next != nullptr; next = next->ai_next) {
    const int why = TryToListen(*next);
    if (why == EADDRINUSE) return WhyNot(why);
    if (why == 0) listens = true;
    if (failed == 0) failed = why;
  }
  return listens ? absl::OkStatus() : WhyNot(failed);
}

}  // namespace

absl::Status CheckCanListen(const std::string& address) {
  absl::string_view path = address;
  const absl::Status status =
      absl::ConsumePrefix(&path, "unix:") ? CheckUnix(path) : CheckHostAndPort(address);
  return Annotate(status, absl::StrCat("cannot listen on ", address));
}

}  // namespace kernelmill
