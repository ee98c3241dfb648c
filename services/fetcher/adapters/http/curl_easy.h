#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_CURL_EASY_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_CURL_EASY_H_

#include <curl/curl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace kernelmill::fetcher {

// What every request that is made with libcurl has in common.

using CurlHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using CurlHeaders = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// INTERNAL: there is no libcurl to work with.
absl::StatusOr<CurlHandle> NewCurlHandle();

struct CurlRequest {
  std::string url;  // for messages too
  bool allow_http = false;
  bool public_only = false;  // new connections lead to public addresses alone
  absl::Duration timeout;
};

// Sets the URL, the schemes, the limits on time and whom to trust. `refused` is set when a
// connection is refused for its address; it must outlive the transfer.
void ConfigureCurl(CURL* curl, const CurlRequest& request, bool* refused);

// Headers as libcurl takes them: as they are, so that a line end in one would begin another.
// INVALID_ARGUMENT: one has a control character. `url` is for messages.
absl::StatusOr<CurlHeaders> MakeCurlHeaders(const std::map<std::string, std::string>& headers,
                                            absl::string_view url);

// What a failed transfer means: as HttpGet. `refused` as ConfigureCurl set it.
absl::Status CurlFailure(CURLcode code, absl::string_view url, bool refused);

// The Retry-After header of the answer that was not redirected any more.
std::optional<absl::Duration> CurlRetryAfter(CURL* curl);

std::string CurlInfo(CURL* curl, CURLINFO info);

// Whether the operator's environment has requests of this scheme go through a proxy, which then
// looks up names and decides where they may lead.
bool BehindProxy(absl::string_view scheme);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_CURL_EASY_H_
