#include "client/http/http_server.h"

#include <CivetServer.h>

#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::client {

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
  } catch (const std::exception& error) {  // civetweb throws if bind fails
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", address, ": wrong, or in use (", error.what(), ")"));
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
