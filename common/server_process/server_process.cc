#include "common/server_process/server_process.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/access/credentials.h"
#include "common/access/tokens.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/text/safe_text.h"

namespace kernelmill {
namespace {

constexpr int kDeadExit = 70;  // EX_SOFTWARE of sysexits.h

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

absl::Status ListenError(int error) {
  switch (error) {
    case EADDRINUSE:
      return absl::FailedPreconditionError("address in use");
    case EADDRNOTAVAIL:
      return absl::InvalidArgumentError("must be an address of this machine");
    default:
      return absl::FailedPreconditionError(std::strerror(error));
  }
}

// Binds and listens as servers do, and returns errno or 0. SO_REUSEADDR: a port counts as free
// while its last connections are being closed.
int TryToListen(const addrinfo& address) {
  const Socket socket(address.ai_family);
  if (socket.fd() < 0) return errno;
  const int yes = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const bool listens = ::bind(socket.fd(), address.ai_addr, address.ai_addrlen) == 0 &&
                       ::listen(socket.fd(), 1) == 0;
  return listens ? 0 : errno;
}

// Checks that no process answers on the socket: binding it would silently take it from that
// process.
absl::Status CheckUnix(absl::string_view path) {
  sockaddr_un address = {};
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError("must be the path of a socket");
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const Socket socket(AF_UNIX);
  const bool answers =
      socket.fd() >= 0 &&
      ::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return answers ? ListenError(EADDRINUSE) : absl::OkStatus();
}

absl::Status CheckHostAndPort(absl::string_view address) {
  const size_t colon = address.rfind(':');
  const absl::string_view port =
      colon == absl::string_view::npos ? absl::string_view() : address.substr(colon + 1);
  int number = -1;
  if (!absl::SimpleAtoi(port, &number) || number < 0 || number > 65535) {
    return absl::InvalidArgumentError("must be host:port");
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
  // A host name may have several addresses. One that works is enough, unless another program uses
  // one.
  int failed = 0;
  bool listens = false;
  for (const addrinfo* next = found; next != nullptr; next = next->ai_next) {
    const int why = TryToListen(*next);
    if (why == EADDRINUSE) return ListenError(why);
    if (why == 0) listens = true;
    if (failed == 0) failed = why;
  }
  return listens ? absl::OkStatus() : ListenError(failed);
}

}  // namespace

absl::Status CheckCanListen(const std::string& address) {
  absl::string_view path = address;
  const absl::Status status =
      absl::ConsumePrefix(&path, "unix:") ? CheckUnix(path) : CheckHostAndPort(address);
  return Annotate(status, absl::StrCat("cannot listen on ", address));
}

namespace {

// Checks an address, and suggests in the error that the server already runs.
absl::Status CheckFree(const std::string& address, const char* flag) {
  absl::Status status = CheckCanListen(address);
  if (status.ok()) return status;
  const std::string another =
      absl::IsFailedPrecondition(status)
          ? absl::StrCat("; is another ", program_invocation_short_name, " running?")
          : "";
  return absl::Status(status.code(), absl::StrCat(status.message(), another, " (", flag, ")"));
}

// Ends the process for its supervisor to start another one. No destructor runs, which might wait
// for the server that is stuck.
void Exit(const absl::Status& error) {
  LogError("exiting: the server does not answer", {{"error", error.message()}});
  std::quick_exit(kDeadExit);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Open(
    const flags::ServerFlags& flags) {
  std::unique_ptr<ServerProcess> process(new ServerProcess(flags));
  RETURN_IF_ERROR(flags::CheckListen(flags));
  RETURN_IF_ERROR(CheckFree(flags.listen, "--listen"));
  if (!flags.metrics.empty()) RETURN_IF_ERROR(CheckFree(flags.metrics, "--metrics"));
  ASSIGN_OR_RETURN(process->server_credentials_, access::ServerCredentials(flags.identity));
  ASSIGN_OR_RETURN(process->client_credentials_, access::ChannelCredentials(flags.identity));
  ASSIGN_OR_RETURN(process->metrics_readers_, access::MetricsReaders(flags.identity.tokens));
  return process;
}

absl::StatusOr<std::unique_ptr<rpc::Server>> ServerProcess::Serve(
    const std::vector<grpc::Service*>& services) {
  if (!flags_.metrics.empty()) {
    ASSIGN_OR_RETURN(metrics_,
                     metrics::Endpoint::Start(flags_.metrics, flags_.version, metrics_readers_));
  }
  return rpc::Server::Start({.address = flags_.listen,
                             .reflection = flags_.reflection,
                             .credentials = server_credentials_,
                             .on_dead = Exit,
                             .self_credentials = access::SelfCredentials(flags_.identity)},
                            services);
}

void Drain(rpc::Server& server, absl::Duration grace, const std::function<void()>& finish) {
  LogInfo("draining");
  server.StopServing();
  finish();
  server.Shutdown(grace);
}

int ServerExitStatus(const absl::Status& status) {
  if (status.ok()) {
    LogInfo("stopped");
    return 0;
  }
  if (::isatty(STDERR_FILENO) == 1) {
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name,
                 SafeLine(status.message()).c_str());
  }
  LogError("cannot serve",
           {{"error", status.message()}, {"code", absl::StatusCodeToString(status.code())}});
  const bool ours = absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status) ||
                    absl::IsUnimplemented(status);
  return ours ? 2 : 1;
}

}  // namespace kernelmill
