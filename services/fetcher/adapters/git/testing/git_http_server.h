#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TESTING_GIT_HTTP_SERVER_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TESTING_GIT_HTTP_SERVER_H_

#include <functional>
#include <string>
#include <vector>

#include "services/fetcher/adapters/http/testing/http_server.h"

namespace kernelmill::fetcher {

// Serves every repository of this machine with git http-backend on a loopback port, for tests, and
// keeps connections open. The settings are not to change while a request is under way.
class TestGitHttpServer {
 public:
  using Request = TestHttpServer::Request;
  using Answer = TestHttpServer::Answer;

  TestGitHttpServer();

  std::string Url(const std::string& path) const { return server_.Url(path); }
  int Connections() const { return server_.Connections(); }
  // Returns the requests so far, in order: "refs" for a GET of info/refs, "git-upload-pack" for a
  // POST.
  std::vector<std::string> Requests() const;

  bool filter = true;     // the server supports filters
  bool version_2 = true;  // the server uses the protocol version that the client asks for
  // Called with git's answers, to spoil them.
  std::function<void(const Request&, Answer&)> spoil;

 private:
  Answer Serve(const Request& request) const;

  TestHttpServer server_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TESTING_GIT_HTTP_SERVER_H_
