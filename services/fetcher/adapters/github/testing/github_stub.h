#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_TESTING_GITHUB_STUB_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_TESTING_GITHUB_STUB_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "services/fetcher/adapters/github/testing/stub_query.h"
#include "services/fetcher/adapters/http/testing/http_server.h"

namespace kernelmill::fetcher {

// A stub of GitHub's REST API for the repositories that it is given, on a loopback port: searches
// in pages, which return the first 1000 rows, look-ups, entity tags, and errors as documented.
class GithubStub {
 public:
  using Answer = TestHttpServer::Answer;

  GithubStub();

  std::string Url() const { return server_.Url(""); }
  void Add(StubRepository repository);
  // Sets the only valid token; another one gets 401. Code search needs a token.
  void SetToken(const std::string& token);
  // The repository is now under another name; its old path redirects.
  void Rename(const std::string& from, const std::string& to);
  // Answers this to a request to come, before all else; in the order of the calls.
  void AnswerNext(Answer answer);
  // The next searches say that their results are incomplete.
  void LeaveIncomplete(int searches);

  // The paths that were asked for, and the last request.
  std::vector<std::string> Requests() const { return server_.Requests(); }
  TestHttpServer::Request LastRequest() const { return server_.LastRequest(); }

  // A refusal by one of the API's errors.
  static Answer Error(int code, const std::string& message);

 private:
  Answer Handle(const TestHttpServer::Request& request);
  Answer HandleApi(absl::string_view path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Answer Search(absl::string_view path, const std::map<std::string, std::string>& query)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Answer LookUp(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  std::string token_ ABSL_GUARDED_BY(mutex_);
  std::vector<StubRepository> repositories_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> renamed_ ABSL_GUARDED_BY(mutex_);
  std::deque<Answer> next_ ABSL_GUARDED_BY(mutex_);
  int incomplete_ ABSL_GUARDED_BY(mutex_) = 0;
  TestHttpServer server_;  // goes first: its thread uses what is above
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_TESTING_GITHUB_STUB_H_
