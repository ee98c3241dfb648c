#ifndef KERNELMILL_CLIENT_HTTP_HTTP_SERVER_H_
#define KERNELMILL_CLIENT_HTTP_HTTP_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

class CivetHandler;
class CivetServer;

namespace kernelmill::client {

// Returns the host of HOST:PORT, also where the port is missing; of IPv6 with its brackets.
absl::string_view GetHost(absl::string_view address);

// Serves the files of a folder, or the answers of a handler, over HTTP, on threads of its own.
class HttpServer {
 public:
  // `address` is host:port; port 0 picks one. FAILED_PRECONDITION: the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<HttpServer>> ServeFolder(const std::string& address,
                                                                 const std::string& folder);
  // `handler` answers all requests and must outlive the server. Errors as above.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Serve(const std::string& address,
                                                           CivetHandler& handler);
  ~HttpServer();

  int port() const;
  // Returns "http://HOST:PORT/".
  std::string url() const;

 private:
  HttpServer(const std::string& address, std::unique_ptr<CivetServer> server);
  // `options` are civetweb's, beside the address and the threads.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           std::vector<std::string> options);

  const std::string host_;
  const std::unique_ptr<CivetServer> server_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_HTTP_HTTP_SERVER_H_
