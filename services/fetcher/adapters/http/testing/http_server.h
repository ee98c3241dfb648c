#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_HTTP_SERVER_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace kernelmill::fetcher {

// An HTTP server on a loopback port, for tests: fixed answers by path, or what a function answers,
// one connection at a time.
class TestHttpServer {
 public:
  struct Request {
    std::string path;                            // with its query
    std::map<std::string, std::string> headers;  // names in lower case
  };
  struct Answer {
    int code = 200;
    std::string content_type = "text/html";
    std::string body = "";
    std::string location = "";                        // for redirects
    bool cut_short = false;                           // promises one byte more than it sends
    std::map<std::string, std::string> headers = {};  // more of them
  };
  using Handler = std::function<Answer(const Request&)>;

  TestHttpServer();
  ~TestHttpServer();

  void Set(const std::string& path, Answer answer);  // path with its query
  // Answers what has no fixed answer; called on the server's thread.
  void SetHandler(Handler handler);
  std::string Url(const std::string& path) const;
  // The paths asked for, in order.
  std::vector<std::string> Requests() const;
  Request LastRequest() const;

 private:
  void Serve();
  void HandleConnection(int connection);
  Answer AnswerTo(const Request& request);

  int listener_;
  int port_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Answer> answers_ ABSL_GUARDED_BY(mutex_);
  Handler handler_ ABSL_GUARDED_BY(mutex_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_HTTP_SERVER_H_
