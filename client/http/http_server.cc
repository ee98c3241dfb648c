#include "client/http/http_server.h"

#include <CivetServer.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/http/port_user.h"
#include "common/base/file.h"

namespace kernelmill::client {
namespace {

// Returns the port of HOST:PORT; 0 without one.
int GetPort(absl::string_view address) {
  int port = 0;
  const bool is_number = absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port);
  return is_number ? port : 0;
}

// Returns the reason why an address cannot be bound, which civetweb does not say.
std::string BindProblem(const std::string& address) {
  const absl::string_view host = GetHost(address);
  if (host.size() + 1 >= address.size()) return "it must be HOST:PORT";
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string name(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
  if (const int error =
          getaddrinfo(name.c_str(), address.c_str() + host.size() + 1, &hints, &found);
      error != 0) {
    return gai_strerror(error);
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
  const FileDescriptor fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd.get(), found->ai_addr, found->ai_addrlen) == 0) return "the server did not start";
  if (errno != EADDRINUSE) return std::strerror(errno);
  const std::optional<std::string> user = FindPortUser(GetPort(address));
  return user.has_value() ? absl::StrCat("in use by ", *user) : "the port is in use";
}

}  // namespace

absl::string_view GetHost(absl::string_view address) {
  if (!address.empty() && address[0] == '[') return address.substr(0, address.find(']') + 1);
  return address.substr(0, address.find(':'));
}

HttpServer::HttpServer(const std::string& address, std::unique_ptr<CivetServer> server)
    : host_(GetHost(address)), server_(std::move(server)) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address,
                                                              std::vector<std::string> options) {
  options.insert(options.end(), {"listening_ports", address, "num_threads", "8"});
  try {
    return std::unique_ptr<HttpServer>(
        new HttpServer(address, std::make_unique<CivetServer>(options)));
  } catch (const std::exception&) {  // civetweb throws if bind fails
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", address, ": ", BindProblem(address)));
  }
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::ServeFolder(const std::string& address,
                                                                    const std::string& folder) {
  return Start(address, {"document_root", folder, "enable_directory_listing", "no",
                         "request_timeout_ms", "10000"});
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Serve(const std::string& address,
                                                              CivetHandler& handler) {
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      Start(address, {"request_timeout_ms", "5000", "enable_keep_alive", "no"});
  if (server.ok()) (*server)->server_->addHandler("/", handler);
  return server;
}

int HttpServer::port() const {
  const std::vector<int> ports = server_->getListeningPorts();
  return ports.empty() ? 0 : ports.front();
}

std::string HttpServer::url() const { return absl::StrCat("http://", host_, ":", port(), "/"); }

}  // namespace kernelmill::client
