#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TESTING_GIT_SERVER_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TESTING_GIT_SERVER_H_

#include <atomic>
#include <string>
#include <thread>

namespace kernelmill::fetcher {

// Serves every repository of this machine as git:// on a loopback port, for tests: one git daemon a
// connection, with git's own defaults and so, unlike what local URLs get, without filters.
class TestGitServer {
 public:
  TestGitServer();
  ~TestGitServer();

  std::string Url(const std::string& path) const;
  int connections() const { return connections_; }

 private:
  void Serve();

  int port_ = 0;
  int listener_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TESTING_GIT_SERVER_H_
