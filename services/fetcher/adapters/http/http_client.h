#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_HTTP_CLIENT_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_HTTP_CLIENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/core/rate_floor.h"

namespace kernelmill::fetcher {

// A GET request and its limits.
struct HttpRequest {
  std::string url;     // https://, or http:// with allow_http
  std::string accept;  // the Accept header; empty: none is sent
  // More headers, by name. Authorization is not sent on to another host.
  std::map<std::string, std::string> headers;
  bool allow_http = false;      // also for redirects
  bool follow = true;           // follow redirects, at most five
  HostPolicy hosts;             // also for redirects
  int64_t max_bytes = 1 << 20;  // in the body
  int body_file = -1;  // the descriptor of a file that gets the body; -1: the response does
  absl::Duration timeout = absl::Minutes(5);
  LowestRate rate;
};

// An answer of any code.
struct HttpResponse {
  int code = 0;
  std::string url;  // after redirects
  std::string content_type;
  // the target of a redirect that was not followed, made absolute
  std::string location;
  std::map<std::string, std::string> headers;  // those of the last answer; names in lower case
  std::optional<absl::Duration> retry_after;   // as ParseRetryAfter
  std::string body;
};

// Sends one GET and returns the server's answer, whatever its code. Proxies and extra certificates
// come from the environment, as for curl. Thread-safe. INVALID_ARGUMENT: the URL, or a header with
// a control character; PERMISSION_DENIED: the URL's scheme, host or address is not allowed;
// FAILED_PRECONDITION: the body or the headers are too large, or the server's certificate is not
// trusted; DEADLINE_EXCEEDED; UNAVAILABLE.
absl::StatusOr<HttpResponse> HttpGet(const HttpRequest& request);

// Returns the error that an answer's code means: OK for 2xx, NOT_FOUND for 404 and 410,
// PERMISSION_DENIED for 401 and 403, UNAVAILABLE for 408, 429 and 5xx (with GetRetryAfter if the
// server says when to try again), FAILED_PRECONDITION for others.
absl::Status HttpStatus(const HttpResponse& response);

// Returns the policy with the host of a URL allowed that the operator names in a flag.
HostPolicy WithEndpoint(const HostPolicy& hosts, const std::string& url);

// Resolves `reference` as a link in the document at `base`. INVALID_ARGUMENT: not a URL.
absl::StatusOr<std::string> ResolveUrl(const std::string& base, const std::string& reference);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_HTTP_CLIENT_H_
