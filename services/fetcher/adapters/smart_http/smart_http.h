#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_SMART_HTTP_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_SMART_HTTP_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/adapters/smart_http/upload_pack_post.h"
#include "services/fetcher/adapters/smart_http/v2_messages.h"
#include "services/fetcher/core/rate_floor.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

inline constexpr int kMaxRedirects = 5;

// Returns the URL to which the server redirects the request that git makes first. The new URL's
// host is not checked yet. FAILED_PRECONDITION: the server does not redirect, or not to a
// repository; PERMISSION_DENIED: it redirects from https to http, to another transport, or to a
// sign-in page. Other errors: as HttpStatus and HttpGet.
absl::StatusOr<GitUrl> AskForRedirect(const GitUrl& repository, const HostPolicy& hosts,
                                      absl::Duration timeout);

// The state that all repositories of a process share over HTTP: open connections, and the servers
// that only the git program can talk to. Thread-safe.
class SmartHttp {
 public:
  // Returns whether a SmartHttpRemote should be tried for a repository.
  bool Serves(const GitUrl& url) const;

  // Notes that the server of `url` did not understand a SmartHttpRemote but did understand git.
  void LeaveToGit(const GitUrl& url);

  HandlePool& handles() { return handles_; }

 private:
  HandlePool handles_;
  mutable absl::Mutex mutex_;
  std::set<std::string> left_to_git_ ABSL_GUARDED_BY(mutex_);
};

// The limits and permissions of one repository.
struct SmartHttpOptions {
  HostPolicy hosts;        // also for redirects
  absl::Duration timeout;  // for one request
  int64_t pack_bytes = 0;  // for one transfer
  LowestRate rate = {};
};

// A repository behind git's smart HTTP protocol, version 2. The client asks for what it wants
// without first asking what the server can do, so it needs one round trip. Follows the server's
// redirects, each under the same rules. Not thread-safe. Errors:
//   UNIMPLEMENTED        only the git program can do it: an older protocol, no filter, or no git
//   NOT_FOUND            the repository or object does not exist
//   PERMISSION_DENIED    refused, by the server or by us
//   FAILED_PRECONDITION  over a limit, or the server's certificate is not trusted
//   DATA_LOSS            the repository is damaged
//   UNAVAILABLE, DEADLINE_EXCEEDED  the network, or a busy server, with GetRetryAfter
class SmartHttpRemote {
 public:
  SmartHttpRemote(std::shared_ptr<SmartHttp> shared, GitUrl url, const SmartHttpOptions& options)
      : shared_(std::move(shared)), url_(std::move(url)), options_(options) {}

  // Returns the ids of those refs that exist. A name may end in "^{}", which means the object that
  // a tag is peeled to.
  absl::StatusOr<RefIds> Refs(const std::set<std::string>& names);

  // Returns whether the repository has no ref at all.
  absl::StatusOr<bool> IsEmpty();

  // Passes on the pack while it arrives. The first error of the sink ends this and is returned.
  absl::Status Fetch(const ObjectRequest& request, PackSink sink);

 private:
  absl::Status Ask(const std::string& body, int64_t max_bytes, V2Response& response);

  const std::shared_ptr<SmartHttp> shared_;
  GitUrl url_;
  const SmartHttpOptions options_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_SMART_HTTP_H_
