#include "client/catalog/web/site_server.h"

#include <CivetServer.h>

#include <exception>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::client {

class SiteServer::Http {
 public:
  // Throws if the address cannot be bound.
  Http(const std::string& address, const std::string& folder)
      : server_(std::vector<std::string>{"listening_ports", address, "document_root", folder,
                                         "enable_directory_listing", "no", "num_threads", "8",
                                         "request_timeout_ms", "10000"}) {}

  int port() const {
    const std::vector<int> ports = server_.getListeningPorts();
    return ports.empty() ? 0 : ports.front();
  }

 private:
  mutable CivetServer server_;
};

absl::StatusOr<std::unique_ptr<SiteServer>> SiteServer::Start(const std::string& address,
                                                              const std::string& folder) {
  try {
    return std::unique_ptr<SiteServer>(new SiteServer(std::make_unique<Http>(address, folder)));
  } catch (const std::exception& error) {  // civetweb throws if bind fails
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", address, ": wrong, or in use (", error.what(), ")"));
  }
}

SiteServer::SiteServer(std::unique_ptr<Http> http) : http_(std::move(http)) {}
SiteServer::~SiteServer() = default;
int SiteServer::port() const { return http_->port(); }

}  // namespace kernelmill::client
