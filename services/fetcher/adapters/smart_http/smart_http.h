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
#include "services/fetcher/adapters/smart_http/handle_pool.h"
#include "services/fetcher/adapters/smart_http/v2_messages.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

inline constexpr int kMaxRedirects = 5;

// Where a repository of an http or https URL is now, as its server says to the request that git
// makes first. Its address is not checked yet. FAILED_PRECONDITION: the server redirects to what is
// no repository, or not at all; PERMISSION_DENIED: from https to http, or to another transport; an
// answer that is an error: as HttpStatus; otherwise as HttpGet.
absl::StatusOr<GitUrl> AskForRedirect(const GitUrl& repository, bool public_only,
                                      absl::Duration timeout);

// What the repositories that a process talks to over HTTP share: open connections, and which
// servers have shown that it takes the git program to talk to them. Thread-safe.
class SmartHttp {
 public:
  // Whether a repository is worth a SmartHttpRemote.
  bool Serves(const GitUrl& url) const;

  // The server of `url` did not understand a SmartHttpRemote and did understand git.
  void LeaveToGit(const GitUrl& url);

  HandlePool& handles() { return handles_; }

 private:
  HandlePool handles_;
  mutable absl::Mutex mutex_;
  std::set<std::string> left_to_git_ ABSL_GUARDED_BY(mutex_);
};

struct SmartHttpOptions {
  bool allow_private = false;  // hosts with loopback, link-local and private addresses
  absl::Duration timeout;      // of one request
  int64_t pack_bytes = 0;      // of one transfer
};

// A repository behind git's smart HTTP protocol, version 2: a client that asks for what it wants
// without asking first what the server can do, and so in one round trip. Follows the server's
// redirects, each under the same rules. Not thread-safe. Errors:
//   UNIMPLEMENTED        it takes the git program: an older protocol, no filter, or no git at all
//   NOT_FOUND            no such repository or object
//   PERMISSION_DENIED    refused, by the server or by us
//   FAILED_PRECONDITION  over a limit, or TLS cannot be trusted
//   DATA_LOSS            the repository is damaged
//   UNAVAILABLE, DEADLINE_EXCEEDED  the network, or a server that is busy, with GetRetryAfter
class SmartHttpRemote {
 public:
  SmartHttpRemote(std::shared_ptr<SmartHttp> shared, GitUrl url, const SmartHttpOptions& options)
      : shared_(std::move(shared)), url_(std::move(url)), options_(options) {}

  // The ids of those of the refs that there are. A name may end in "^{}": what a tag is peeled to.
  absl::StatusOr<RefIds> Refs(const std::set<std::string>& names);

  // Hands the pack on as it comes; the first error of the sink ends it and is returned.
  absl::Status Fetch(const ObjectRequest& request, PackSink sink);

 private:
  absl::Status Ask(const std::string& body, int64_t max_bytes, V2Response& response);

  const std::shared_ptr<SmartHttp> shared_;
  GitUrl url_;
  const SmartHttpOptions options_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_SMART_HTTP_H_
