// The address check is made when libcurl opens a socket, not when the name is looked up. So the
// address that was checked is the one that is connected to, and a name server cannot give a public
// address first and a private one later (DNS rebinding). Redirects go through the same callback.
#include "services/fetcher/adapters/http/curl_easy.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "services/fetcher/adapters/http/address.h"

namespace kernelmill::fetcher {
namespace {

constexpr long kConnectMs = 30'000;

curl_socket_t OnOpenSocket(void* user, curlsocktype, curl_sockaddr* address) {
  if (!IsPublicAddress(&address->addr)) {
    static_cast<CurlProgress*>(user)->refused_address = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Ends a transfer that is below the lowest rate. libcurl calls it about once a second, also when
// nothing arrives. A request's own bytes count, since a large one takes time to send.
int OnProgress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t sent) {
  CurlProgress& progress = *static_cast<CurlProgress*>(user);
  progress.slow = progress.floor.Check(progress.arrived + sent, absl::Now());
  return progress.slow.ok() ? 0 : 1;
}

// Returns the certificate file that the operator names, for curl or for another common tool; else
// null.
const char* CertificateFile() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"}) {
    const char* file = std::getenv(name);
    if (file != nullptr && *file != '\0') return file;
  }
  return nullptr;
}

}  // namespace

// The first call initializes libcurl; a static variable makes that happen once, also with several
// threads.
absl::StatusOr<CurlHandle> NewCurlHandle() {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  CurlHandle handle(curl_easy_init(), &curl_easy_cleanup);
  if (initialized != CURLE_OK || handle == nullptr) return absl::InternalError("libcurl");
  return handle;
}

void ConfigureCurl(CURL* curl, const CurlRequest& request, CurlProgress* progress) {
  const char* protocols = request.allow_http ? "http,https" : "https";
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "kernelmill-fetcher");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(absl::ToInt64Milliseconds(request.timeout)));
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, progress);
  if (const char* file = CertificateFile()) curl_easy_setopt(curl, CURLOPT_CAINFO, file);
  if (request.public_only) {
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, &OnOpenSocket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, progress);
  }
}

// INVALID_ARGUMENT: a header has a line end or another control character, with which a value could
// add headers of its own.
absl::StatusOr<CurlHeaders> MakeCurlHeaders(const std::map<std::string, std::string>& headers,
                                            absl::string_view url) {
  CurlHeaders list(nullptr, &curl_slist_free_all);
  for (const auto& [name, value] : headers) {
    const std::string line = absl::StrCat(name, ": ", value);
    if (std::any_of(line.begin(), line.end(), absl::ascii_iscntrl)) {
      return absl::InvalidArgumentError(absl::StrCat(ShownUrl(url), ": the header ",
                                                     JsonString(name),
                                                     " must not contain a control character"));
    }
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) return absl::InternalError("libcurl");
    static_cast<void>(list.release());  // the longer list owns it now
    list.reset(longer);
  }
  return list;
}

// A failure of the network or of the server is UNAVAILABLE, which is retried. A certificate that is
// not trusted stays so.
absl::Status CurlFailure(CURLcode code, absl::string_view url, const CurlProgress& progress) {
  const std::string message = absl::StrCat(ShownUrl(url), ": ", ::curl_easy_strerror(code));
  if (!progress.slow.ok()) return Annotate(progress.slow, ShownUrl(url));
  if (progress.refused_address) {
    return absl::PermissionDeniedError(
        absl::StrCat(ShownUrl(url), ": leads to an address that is not public"));
  }
  switch (code) {
    case CURLE_URL_MALFORMAT:
      return absl::InvalidArgumentError(message);
    case CURLE_UNSUPPORTED_PROTOCOL:
      return absl::PermissionDeniedError(message);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_TOO_MANY_REDIRECTS:
      return absl::FailedPreconditionError(message);
    case CURLE_OPERATION_TIMEDOUT:
      return absl::DeadlineExceededError(message);
    default:
      return absl::UnavailableError(message);
  }
}

std::optional<absl::Duration> CurlRetryAfter(CURL* curl) {
  curl_header* header = nullptr;
  if (curl_easy_header(curl, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK) {
    return std::nullopt;
  }
  return ParseRetryAfter(header->value, absl::Now());
}

std::string ShownUrl(absl::string_view url) { return ToUtf8(RedactedUrl(url)); }

std::string CurlInfo(CURL* curl, CURLINFO info) {
  const char* text = nullptr;
  curl_easy_getinfo(curl, info, &text);
  return text == nullptr ? "" : text;
}

// Returns whether libcurl sends requests with this scheme through a proxy. Like libcurl, it ignores
// HTTP_PROXY in capitals, which a CGI server sets from a header of the client.
bool BehindProxy(absl::string_view scheme) {
  const std::vector<const char*> names =
      scheme == "https" ? std::vector<const char*>{"https_proxy", "HTTPS_PROXY"}
                        : std::vector<const char*>{"http_proxy"};
  if (scheme != "https" && scheme != "http") return false;
  for (const char* name : names) {
    if (std::getenv(name) != nullptr) return true;
  }
  return std::getenv("all_proxy") != nullptr || std::getenv("ALL_PROXY") != nullptr;
}

}  // namespace kernelmill::fetcher
