#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_CURL_EASY_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_CURL_EASY_H_

#include <curl/curl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/core/rate_floor.h"

namespace kernelmill::fetcher {

// The part that all requests with libcurl share: handles, limits, headers and errors.

using CurlHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using CurlHeaders = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// Returns a new handle. INTERNAL: libcurl cannot be initialized.
absl::StatusOr<CurlHandle> NewCurlHandle();

// The parts of a URL that say where a request goes.
struct UrlParts {
  std::string scheme;  // in lower case
  std::string host;    // an IPv6 address in brackets; may be empty
  std::string port;    // the scheme's default if the URL names none
  bool operator==(const UrlParts& other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
};

// INVALID_ARGUMENT: not a URL.
absl::StatusOr<UrlParts> ParseUrl(const std::string& url);

// A URL to request, and the connections that are allowed.
struct CurlRequest {
  std::string url;  // also for messages
  bool allow_http = false;
  HostPolicy hosts;
  absl::Duration timeout;
  LowestRate rate;
};

// The course of a transfer, for libcurl's callbacks. Not thread-safe.
struct CurlProgress {
  explicit CurlProgress(const LowestRate& rate) : floor(rate, absl::Now()) {}

  RateFloor floor;
  int64_t arrived = 0;  // bytes of what the transfer is for; the caller counts them
  HostPolicy hosts;     // these two decide which connections are made
  std::string host;
  absl::Status refused = absl::OkStatus();  // the policy's error, after which none is made
  absl::Status slow = absl::OkStatus();     // the floor's error, which ended the transfer
};

// Sets the URL, the allowed schemes and hosts, the time limits, the lowest rate and the trusted
// certificates, and that redirects are not followed: each is a request of its own. `progress` must
// outlive the transfer. INVALID_ARGUMENT: not a URL; PERMISSION_DENIED: the policy refuses its
// host.
absl::Status ConfigureCurl(CURL* curl, const CurlRequest& request, CurlProgress* progress);

// Returns headers in libcurl's form. libcurl sends them as they are, so a line end in one would
// begin another header. INVALID_ARGUMENT: a header has a control character. `url` is for messages.
absl::StatusOr<CurlHeaders> MakeCurlHeaders(const std::map<std::string, std::string>& headers,
                                            absl::string_view url);

// Returns the error that a failed transfer means, as HttpGet has it.
absl::Status CurlFailure(CURLcode code, absl::string_view url, const CurlProgress& progress);

// Returns the Retry-After header of the last answer, after redirects.
std::optional<absl::Duration> CurlRetryAfter(CURL* curl);

// Returns the URL as errors show it: UTF-8, and without credentials.
std::string ShownUrl(absl::string_view url);

// Returns a text that libcurl knows about the transfer; empty if it has none.
std::string CurlInfo(CURL* curl, CURLINFO info);

// Returns whether the operator's environment sends requests to this host through a proxy. The proxy
// then looks up its name and decides which addresses are allowed.
bool BehindProxy(absl::string_view scheme, absl::string_view host);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_CURL_EASY_H_
