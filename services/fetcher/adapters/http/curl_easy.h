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
#include "services/fetcher/core/rate_floor.h"

namespace kernelmill::fetcher {

// The part that all requests with libcurl share: handles, limits, headers and errors.

using CurlHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using CurlHeaders = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// Returns a new handle. INTERNAL: libcurl cannot be initialized.
absl::StatusOr<CurlHandle> NewCurlHandle();

// A URL to request, and the connections that are allowed.
struct CurlRequest {
  std::string url;  // also for messages
  bool allow_http = false;
  bool public_only = false;  // connect to public addresses only
  absl::Duration timeout;
  LowestRate rate;
};

// The course of a transfer, for libcurl's callbacks. Not thread-safe.
struct CurlProgress {
  explicit CurlProgress(const LowestRate& rate) : floor(rate, absl::Now()) {}

  RateFloor floor;
  int64_t arrived = 0;           // bytes of what the transfer is for; the caller counts them
  bool refused_address = false;  // a connection was refused because of its address
  absl::Status slow = absl::OkStatus();  // the floor's error, which ended the transfer
};

// Sets the URL, the allowed schemes, the time limits, the lowest rate and the trusted certificates.
// `progress` must outlive the transfer.
void ConfigureCurl(CURL* curl, const CurlRequest& request, CurlProgress* progress);

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

// Returns whether the operator's environment sends requests of this scheme through a proxy. The
// proxy then looks up names and decides which addresses are allowed.
bool BehindProxy(absl::string_view scheme);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_CURL_EASY_H_
