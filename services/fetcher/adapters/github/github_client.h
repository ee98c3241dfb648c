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
#include "services/fetcher/adapters/http/http_client.h"
#include "services/fetcher/core/discover/discover.h"

namespace kernelmill::fetcher {

// How long GitHub wants to be left alone, at most a day; none: the answer is no refusal for a rate
// limit. It refuses with 403 or 429 and says until when in Retry-After, or in x-ratelimit-reset
// where x-ratelimit-remaining is 0; where it says neither, a minute is what its documentation asks
// for.
std::optional<absl::Duration> RateLimitWait(const HttpResponse& answer, absl::Time now);

// RESOURCE_EXHAUSTED, to be tried again after `wait` (GetRetryAfter), which is at `now` + `wait`.
absl::Status RateLimited(absl::string_view api, absl::Time now, absl::Duration wait);

// The token in a file, without the blanks around it; an empty file, or no path, has none.
// FAILED_PRECONDITION, which never tells what is in it: it cannot be read, or holds something else.
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

struct CachedPage {
  std::string etag;
  std::string body;
};

// Where pages are kept from one search to the next. What it loses is asked for anew.
class PageCache {
 public:
  virtual ~PageCache() = default;
  virtual std::optional<CachedPage> Find(const std::string& url) = 0;
  virtual void Keep(const std::string& url, const CachedPage& page) = 0;
};

struct GithubOptions {
  // The REST API's URL. It is the operator's word, and need not be at a public address; plain HTTP
  // is spoken only if it says so.
  std::string api;
  std::string token;  // empty: none
  absl::Duration request_timeout = absl::Minutes(1);
  absl::Duration longest_wait = absl::Minutes(1);  // for a rate limit to be lifted
  absl::Duration time = absl::Minutes(15);         // for all requests of one client
  std::function<absl::Time()> now = &absl::Now;
  std::function<void(absl::Duration)> sleep = &absl::SleepFor;
};

// GitHub's REST API over HTTP, for one search. A page that is kept is asked for by its ETag: the
// answer that nothing has changed does not count against the rate limits. The token goes to the API
// alone: what redirects elsewhere is not followed. Not thread-safe.
//
// Errors, beside those of HttpGet: NOT_FOUND (404, and what is gone or withheld), PERMISSION_DENIED
// (401 and 403), INVALID_ARGUMENT (422: the search is refused), FAILED_PRECONDITION (another code,
// or a redirect elsewhere); and, to be tried again, RESOURCE_EXHAUSTED (a rate limit; says until
// when), UNAVAILABLE and DEADLINE_EXCEEDED.
class GithubClient : public SearchApi {
 public:
  // `cache` must outlive it. The time begins here.
  GithubClient(GithubOptions options, PageCache& cache);

  absl::StatusOr<ApiAnswer> Get(const std::string& path) override;
  void Keep(const std::string& path, const ApiAnswer& answer) override;

  int64_t requests() const { return requests_; }          // sent, redirected ones once more
  int64_t not_modified() const { return not_modified_; }  // of them

 private:
  HttpRequest RequestFor(const std::string& url, const std::optional<CachedPage>& cached) const;
  // Follows redirects.
  absl::StatusOr<HttpResponse> Send(HttpRequest request);
  absl::StatusOr<ApiAnswer> Answer(HttpResponse response, std::optional<CachedPage> cached);
  absl::Status Refusal(const HttpResponse& response) const;

  const GithubOptions options_;
  const std::string base_;  // the API's URL without '/' at its end
  PageCache& cache_;
  const absl::Time deadline_;
  int64_t requests_ = 0;
  int64_t not_modified_ = 0;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_GITHUB_CLIENT_H_
