#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_GITHUB_CLIENT_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_GITHUB_CLIENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/adapters/http/http_client.h"
#include "services/fetcher/core/discover/discover.h"

namespace kernelmill::fetcher {

// Returns how long GitHub asks to be left alone, at most a day; nothing if the answer is not a
// refusal for a rate limit. GitHub refuses with 403 or 429 and names the time in Retry-After, or in
// x-ratelimit-reset if x-ratelimit-remaining is 0. If it names none, its documentation asks for a
// minute.
std::optional<absl::Duration> RateLimitWait(const HttpResponse& answer, absl::Time now);

// Returns RESOURCE_EXHAUSTED with GetRetryAfter `wait`, which counts from `now`.
absl::Status RateLimited(absl::string_view api, absl::Time now, absl::Duration wait);

// Returns the token in a file without blanks around it; empty for an empty file or path.
// FAILED_PRECONDITION, which never quotes the file: it cannot be read, or holds something else than
// a token.
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

// An answer of GitHub's that is kept, with the tag to ask for it again.
struct CachedPage {
  std::string etag;
  std::string body;
};

// A place to keep pages from one search to the next. A page that it loses is requested again.
class PageCache {
 public:
  virtual ~PageCache() = default;
  virtual std::optional<CachedPage> Find(const std::string& url) = 0;
  virtual void Keep(const std::string& url, const CachedPage& page) = 0;
};

// The place of GitHub's API, and the limits of one search.
struct GithubOptions {
  // The REST API's URL. The operator sets it, so it need not have a public address or be listed in
  // `hosts`. Plain HTTP is used only if the URL says so.
  std::string api;
  HostPolicy hosts;
  std::string token;  // empty: no token
  absl::Duration request_timeout = absl::Minutes(1);
  absl::Duration longest_wait = absl::Minutes(1);  // for a rate limit to be lifted
  absl::Duration time = absl::Minutes(15);         // for all requests of one client
  std::function<absl::Time()> now = &absl::Now;
  std::function<void(absl::Duration)> sleep = &absl::SleepFor;
};

// GitHub's REST API over HTTP, for one search. A kept page is requested by its ETag, since the
// answer "not modified" does not count against the rate limits. The token is sent to the API only:
// a redirect to another server is not followed. Not thread-safe.
//
// Errors, besides those of HttpGet: NOT_FOUND (404, deleted or withheld), PERMISSION_DENIED (401
// and 403), INVALID_ARGUMENT (422: the search is refused), FAILED_PRECONDITION (another code, or a
// redirect to another server); and, to be retried, RESOURCE_EXHAUSTED (a rate limit, with
// GetRetryAfter), UNAVAILABLE and DEADLINE_EXCEEDED.
class GithubClient : public SearchApi {
 public:
  // `cache` must outlive the client, whose time limit begins now.
  GithubClient(GithubOptions options, PageCache& cache);

  absl::StatusOr<ApiAnswer> Get(const std::string& path) override;
  void Keep(const std::string& path, const ApiAnswer& answer) override;

  // sent; each redirect counts as another one
  int64_t requests() const { return requests_; }
  // how many of them were answered "not modified"
  int64_t not_modified() const { return not_modified_; }

 private:
  HttpRequest RequestFor(const std::string& url, const std::optional<CachedPage>& cached) const;
  // Sends the request and follows redirects within the API.
  absl::StatusOr<HttpResponse> Send(HttpRequest request);
  absl::StatusOr<ApiAnswer> Answer(HttpResponse response, std::optional<CachedPage> cached);
  absl::Status Refusal(const HttpResponse& response) const;

  const GithubOptions options_;
  const std::string base_;  // the API's URL without a final '/'
  PageCache& cache_;
  const absl::Time deadline_;
  int64_t requests_ = 0;
  int64_t not_modified_ = 0;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_GITHUB_CLIENT_H_
