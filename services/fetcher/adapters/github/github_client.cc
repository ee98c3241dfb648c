// GitHub has a small budget of searches (30 a minute with a token, 10 without), so a search of many
// pages meets its rate limit as a matter of course. A short wait is slept through here. A long one
// is returned as an error with GetRetryAfter, so that the coordinator gives the worker other tasks
// meanwhile. Unchanged pages are free, which makes the second try of a search cheap.
#include "services/fetcher/adapters/github/github_client.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "services/fetcher/core/discover/discover_answer.h"

namespace kernelmill::fetcher {
namespace {

constexpr int64_t kMaxPageBytes = 8 << 20;  // a full page has about a tenth of it
constexpr int kMaxRedirects = 5;
constexpr int kMaxWaits = 3;  // for one page

std::string WithoutSlashes(absl::string_view url) {
  while (absl::ConsumeSuffix(&url, "/")) {
  }
  return std::string(url);
}

bool IsRedirect(int code) { return code == 301 || code == 302 || code == 307 || code == 308; }

// Returns the answer's entity tag; empty if it has none that can be sent back.
std::string EntityTag(const HttpResponse& response) {
  const auto found = response.headers.find("etag");
  if (found == response.headers.end()) return "";
  const std::string& tag = found->second;
  const bool good = tag.size() <= 1024 && std::all_of(tag.begin(), tag.end(), absl::ascii_isprint);
  return good ? tag : "";
}

constexpr int64_t kMaxTokenBytes = 4096;

constexpr absl::Duration kUnsaid = absl::Minutes(1);
constexpr absl::Duration kClocksDiffer = absl::Seconds(1);

// Returns the number in a header; nothing if there is no number that is not negative.
std::optional<int64_t> NumberIn(const HttpResponse& answer, const std::string& header) {
  const auto found = answer.headers.find(header);
  int64_t number = 0;
  if (found == answer.headers.end() || !absl::SimpleAtoi(found->second, &number) || number < 0) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

GithubClient::GithubClient(GithubOptions options, PageCache& cache)
    : options_(std::move(options)),
      base_(WithoutSlashes(options_.api)),
      cache_(cache),
      deadline_(options_.now() + options_.time) {}

// Asks for a page, and waits out a rate limit if the wait is short and within the deadline.
absl::StatusOr<ApiAnswer> GithubClient::Get(const std::string& path) {
  const std::string url = base_ + path;
  std::optional<CachedPage> cached = cache_.Find(url);
  for (int waits = 0;; ++waits) {
    ASSIGN_OR_RETURN(HttpResponse response, Send(RequestFor(url, cached)));
    const absl::Time now = options_.now();
    const std::optional<absl::Duration> wait = RateLimitWait(response, now);
    if (!wait.has_value()) return Answer(std::move(response), std::move(cached));
    if (waits == kMaxWaits || *wait > options_.longest_wait || now + *wait >= deadline_) {
      return RateLimited(base_, now, *wait);
    }
    options_.sleep(*wait);
  }
}

// The caller decides what is kept, since only it can tell whether a page is good.
void GithubClient::Keep(const std::string& path, const ApiAnswer& answer) {
  if (!answer.kept && !answer.etag.empty()) cache_.Keep(base_ + path, {answer.etag, answer.body});
}

HttpRequest GithubClient::RequestFor(const std::string& url,
                                     const std::optional<CachedPage>& cached) const {
  HttpRequest request;
  request.url = url;
  request.accept = "application/vnd.github+json";
  request.headers["X-GitHub-Api-Version"] = "2022-11-28";
  if (!options_.token.empty()) {
    request.headers["Authorization"] = absl::StrCat("Bearer ", options_.token);
  }
  if (cached.has_value()) request.headers["If-None-Match"] = cached->etag;
  request.allow_http = absl::StartsWithIgnoreCase(base_, "http://");
  request.hosts = WithEndpoint(options_.hosts, base_);
  request.follow = false;
  request.max_bytes = kMaxPageBytes;
  request.timeout = options_.request_timeout;
  return request;
}

// Redirects are followed here and not by libcurl, since the token may only go to the API.
absl::StatusOr<HttpResponse> GithubClient::Send(HttpRequest request) {
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    const absl::Duration left = deadline_ - options_.now();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(absl::StrCat(base_, ": the search took longer than ",
                                                      absl::FormatDuration(options_.time)));
    }
    request.timeout = std::min(options_.request_timeout, left);
    ++requests_;
    ASSIGN_OR_RETURN(HttpResponse response, HttpGet(request));
    if (!IsRedirect(response.code)) return response;
    // A repository that was renamed is answered with a redirect within the API.
    if (!absl::StartsWith(response.location, base_ + "/")) {
      return absl::FailedPreconditionError(
          absl::StrCat(base_, ": must not redirect to another server: ",
                       JsonString(RedactedUrl(response.location).substr(0, 200))));
    }
    request.url = response.location;
  }
  return absl::FailedPreconditionError(absl::StrCat(base_, ": too many redirects"));
}

// 304 means that the kept page is still right.
absl::StatusOr<ApiAnswer> GithubClient::Answer(HttpResponse response,
                                               std::optional<CachedPage> cached) {
  if (response.code == 304 && cached.has_value()) {
    ++not_modified_;
    return ApiAnswer{std::move(cached->body), std::move(cached->etag), /*kept=*/true};
  }
  if (response.code != 200) return Refusal(response);
  return ApiAnswer{std::move(response.body), EntityTag(response)};
}

// Returns the error for an answer that is not 200, with GitHub's message and a hint about the
// token.
absl::Status GithubClient::Refusal(const HttpResponse& response) const {
  const std::string said = ErrorText(response.body);
  std::string message =
      absl::StrCat(base_, ": HTTP ", response.code, said.empty() ? "" : ": ", said);
  switch (response.code) {
    case 401:
      absl::StrAppend(&message, options_.token.empty()
                                    ? "; set the fetcher's --github-token-file"
                                    : "; replace the token in the fetcher's --github-token-file");
      return absl::PermissionDeniedError(message);
    case 422:
      return absl::InvalidArgumentError(message);
    case 451:  // withheld for legal reasons
      return absl::NotFoundError(message);
    default: {
      const absl::Status status = HttpStatus(response);
      if (status.ok()) return absl::DataLossError(message);
      absl::Status refusal(status.code(), message);
      if (response.retry_after.has_value()) SetRetryAfter(refusal, *response.retry_after);
      return refusal;
    }
  }
}

absl::StatusOr<std::string> ReadTokenFile(const std::string& path) {
  if (path.empty()) return "";
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxTokenBytes);
  if (!text.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--github-token-file: ", text.status().message()));
  }
  std::string token(absl::StripAsciiWhitespace(*text));
  if (!std::all_of(token.begin(), token.end(), absl::ascii_isgraph)) {
    return absl::FailedPreconditionError(
        absl::StrCat("--github-token-file: ", path, ": must hold a token and nothing else"));
  }
  return token;
}

// Returns how long to wait; nothing if the answer is not about a rate limit. GitHub says it in
// three ways: Retry-After (too many requests at a time), the time at which the budget is renewed,
// or only words.
std::optional<absl::Duration> RateLimitWait(const HttpResponse& answer, absl::Time now) {
  if (answer.code != 403 && answer.code != 429) return std::nullopt;
  if (answer.retry_after.has_value()) return answer.retry_after;
  const std::optional<int64_t> reset = NumberIn(answer, "x-ratelimit-reset");
  if (reset.has_value() && NumberIn(answer, "x-ratelimit-remaining") == 0) {
    const absl::Duration left = absl::FromUnixSeconds(*reset) - now;
    return std::clamp(left + kClocksDiffer, kClocksDiffer, kMaxRetryAfter);
  }
  const std::string said = absl::AsciiStrToLower(answer.body);
  if (answer.code == 429 || absl::StrContains(said, "rate limit")) return kUnsaid;
  return std::nullopt;
}

absl::Status RateLimited(absl::string_view api, absl::Time now, absl::Duration wait) {
  const std::string when = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", now + wait, absl::UTCTimeZone());
  absl::Status status = absl::ResourceExhaustedError(
      absl::StrCat(api, ": the rate limit is exhausted until ", when, ", for ",
                   absl::FormatDuration(absl::Ceil(wait, absl::Seconds(1)))));
  SetRetryAfter(status, wait);
  return status;
}

}  // namespace kernelmill::fetcher
