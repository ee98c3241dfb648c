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
// each connection on a thread of its own.
class TestHttpServer {
 public:
  struct Request {
    std::string method;
    std::string path;  // with its query
    std::string body;
    std::map<std::string, std::string> headers;  // names in lower case
  };
  struct Answer {
    int code = 200;
    std::string content_type = "text/html";
    std::string body = "";
    std::string location = "";                        // for redirects
    bool cut_short = false;                           // promises one byte more than it sends
    std::map<std::string, std::string> headers = {};  // more of them
    bool keep_alive = false;  // more requests may come over the same connection
    bool stall = false;       // with cut_short: says nothing more, and stays
  };
  using Handler = std::function<Answer(const Request&)>;

  TestHttpServer();
  ~TestHttpServer();

  void Set(const std::string& path, Answer answer);  // path with its query
  // Answers what has no fixed answer; called on the connection's thread.
  void SetHandler(Handler handler);
  std::string Url(const std::string& path) const;
  // The paths asked for, in order.
  std::vector<std::string> Requests() const;
  Request LastRequest() const;
  int Connections() const;  // that there have been

 private:
  void Serve();
  void HandleConnection(int connection);
  // Returns whether another request may follow.
  bool HandleRequest(int connection, std::string& received);
  Answer AnswerTo(const Request& request);

  int port_ = 0;
  int listener_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Answer> answers_ ABSL_GUARDED_BY(mutex_);
  Handler handler_ ABSL_GUARDED_BY(mutex_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<int> connections_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;  // the connections'; only the acceptor uses it while it runs
  std::thread thread_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_HTTP_SERVER_H_
