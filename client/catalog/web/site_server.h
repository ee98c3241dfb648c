#ifndef KERNELMILL_CLIENT_CATALOG_WEB_SITE_SERVER_H_
#define KERNELMILL_CLIENT_CATALOG_WEB_SITE_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace kernelmill::client {

// Serves the files of a folder over HTTP, on threads of its own.
class SiteServer {
 public:
  // `address` is host:port; port 0 picks one. FAILED_PRECONDITION: the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<SiteServer>> Start(const std::string& address,
                                                           const std::string& folder);
  ~SiteServer();

  int port() const;

 private:
  class Http;
  explicit SiteServer(std::unique_ptr<Http> http);
  std::unique_ptr<Http> http_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_WEB_SITE_SERVER_H_
