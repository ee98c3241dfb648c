#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_HTTP_CLIENT_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_HTTP_CLIENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace kernelmill::fetcher {

struct HttpRequest {
  std::string url;     // https://, or http:// with allow_http
  std::string accept;  // the Accept header; empty for none
  // More headers, name and value. Authorization is not sent on to another host.
  std::map<std::string, std::string> headers;
  bool allow_http = false;      // for the URL and for what it redirects to
  bool follow = true;           // redirects, at most five
  bool public_only = false;     // connect to public addresses alone
  int64_t max_bytes = 1 << 20;  // of the body
  absl::Duration timeout = absl::Minutes(5);
};

struct HttpResponse {
  int code = 0;
  std::string url;  // after redirects
  std::string content_type;
  std::string location;                        // of a redirect that was not followed, made absolute
  std::map<std::string, std::string> headers;  // of the last answer, names in lower case
  std::optional<absl::Duration> retry_after;   // as ParseRetryAfter
  std::string body;
};

// One GET. Proxies and extra certificates come from the environment, as for curl. Thread-safe.
// Any answer from the server is OK here. INVALID_ARGUMENT: the URL, or a header with a control
// character; PERMISSION_DENIED: the URL's scheme or address is not allowed; FAILED_PRECONDITION:
// the body or the headers are too large, or TLS cannot be trusted; DEADLINE_EXCEEDED; UNAVAILABLE.
absl::StatusOr<HttpResponse> HttpGet(const HttpRequest& request);

// What an answer's code means: 2xx is OK, 404 and 410 NOT_FOUND, 401 and 403 PERMISSION_DENIED,
// 408, 429 and 5xx UNAVAILABLE, with GetRetryAfter if the server says when to come again; others
// FAILED_PRECONDITION.
absl::Status HttpStatus(const HttpResponse& response);

// `reference` as a link in the document at `base` means it. INVALID_ARGUMENT: not a URL.
absl::StatusOr<std::string> ResolveUrl(const std::string& base, const std::string& reference);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_HTTP_CLIENT_H_
