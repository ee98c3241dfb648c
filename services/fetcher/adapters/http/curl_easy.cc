// The address check is made when libcurl opens a socket, not when the name is looked up. So the
// address that was checked is the one that is connected to, and a name server cannot give a public
// address first and a private one later (DNS rebinding).
//
// This file decides whether a request goes through a proxy, not libcurl, since the check depends on
// it: nothing would check a connection to an exception in no_proxy that only libcurl knew.
#include "services/fetcher/adapters/http/curl_easy.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
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
  CurlProgress& progress = *static_cast<CurlProgress*>(user);
  const std::optional<IpAddress> ip = IpAddress::From(&address->addr);
  if (progress.refused.ok()) {
    progress.refused = ip.has_value()
                           ? progress.hosts.CheckAddress(progress.host, *ip)
                           : absl::PermissionDeniedError("the address is not an IP address");
  }
  // One refused address refuses the host, whatever comes after it.
  if (!progress.refused.ok()) return CURL_SOCKET_BAD;
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

// Returns the first of these variables that has a value; "" if none does.
absl::string_view Variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

bool IsSet(std::initializer_list<const char*> names) { return !Variable(names).empty(); }

// Returns whether an entry of no_proxy names the host: "*", a network, a name, or the domain that
// the name is in, with or without the dot before it.
bool IsNamedBy(absl::string_view entry, absl::string_view host) {
  if (entry == "*") return true;
  if (const absl::StatusOr<IpNetwork> network = ParseNetwork(entry); network.ok()) {
    const std::optional<IpAddress> address = IpAddress::Parse(std::string(host));
    return address.has_value() && network->Contains(*address);
  }
  absl::ConsumePrefix(&entry, ".");
  absl::ConsumeSuffix(&entry, ".");
  absl::ConsumeSuffix(&host, ".");
  return absl::EqualsIgnoreCase(entry, host) ||
         absl::EndsWithIgnoreCase(host, absl::StrCat(".", entry));
}

bool IsExemptFromProxy(absl::string_view host) {
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  for (const absl::string_view entry : absl::StrSplit(Variable({"no_proxy", "NO_PROXY"}),
                                                      absl::ByAnyChar(", "), absl::SkipEmpty())) {
    if (IsNamedBy(entry, host)) return true;
  }
  return false;
}

// Sets which connections may be made for a URL. libcurl itself refuses other schemes.
absl::Status AllowHost(CURL* curl, const CurlRequest& request, CurlProgress* progress) {
  ASSIGN_OR_RETURN(const UrlParts url, ParseUrl(request.url));
  if (url.scheme != "https" && url.scheme != "http") return absl::OkStatus();
  if (BehindProxy(url.scheme, url.host)) {
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, nullptr);
    return Annotate(request.hosts.CheckBehindProxy(url.host), ShownUrl(request.url));
  }
  progress->hosts = request.hosts;
  progress->host = url.host;
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, &OnOpenSocket);
  curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, progress);
  return Annotate(request.hosts.CheckName(url.host), ShownUrl(request.url));
}

}  // namespace

// libcurl's parser, so that a URL means what the request makes of it.
absl::StatusOr<UrlParts> ParseUrl(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
  UrlParts parts;
  const auto get = [&](CURLUPart part, unsigned flags, std::string& out) {
    char* text = nullptr;
    const CURLUcode code = curl_url_get(parsed.get(), part, &text, flags);
    if (code == CURLUE_OK) out = text;
    curl_free(text);
    return code;
  };
  constexpr unsigned kAnyScheme = CURLU_NON_SUPPORT_SCHEME;
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), kAnyScheme) != CURLUE_OK ||
      get(CURLUPART_SCHEME, 0, parts.scheme) != CURLUE_OK) {
    return absl::InvalidArgumentError(absl::StrCat(JsonString(RedactedUrl(url)), " must be a URL"));
  }
  get(CURLUPART_HOST, 0, parts.host);
  get(CURLUPART_PORT, CURLU_DEFAULT_PORT, parts.port);
  return parts;
}

// The first call initializes libcurl; a static variable makes that happen once, also with several
// threads.
absl::StatusOr<CurlHandle> NewCurlHandle() {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  CurlHandle handle(curl_easy_init(), &curl_easy_cleanup);
  if (initialized != CURLE_OK || handle == nullptr) return absl::InternalError("libcurl");
  return handle;
}

absl::Status ConfigureCurl(CURL* curl, const CurlRequest& request, CurlProgress* progress) {
  const char* protocols = request.allow_http ? "http,https" : "https";
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "kernelmill-fetcher");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(absl::ToInt64Milliseconds(request.timeout)));
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, progress);
  if (const char* file = CertificateFile()) curl_easy_setopt(curl, CURLOPT_CAINFO, file);
  return AllowHost(curl, request, progress);
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
  if (!progress.refused.ok()) return Annotate(progress.refused, ShownUrl(url));
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

// Reads the variables that libcurl reads. Like libcurl, it ignores HTTP_PROXY in capitals, which a
// CGI server sets from a header of the client.
bool BehindProxy(absl::string_view scheme, absl::string_view host) {
  if (scheme != "https" && scheme != "http") return false;
  const bool proxy =
      scheme == "https" ? IsSet({"https_proxy", "HTTPS_PROXY"}) : IsSet({"http_proxy"});
  return (proxy || IsSet({"all_proxy", "ALL_PROXY"})) && !IsExemptFromProxy(host);
}

}  // namespace kernelmill::fetcher
