#include "services/fetcher/adapters/http/http_client.h"

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/http/address.h"
#include "services/fetcher/adapters/http/retry_after_header.h"

namespace kernelmill::fetcher {
namespace {

constexpr size_t kMaxHeaderBytes = 64 << 10;

struct Transfer {
  HttpResponse response;
  int64_t max_bytes;
  size_t header_bytes = 0;
  bool too_large = false;
  bool headers_too_large = false;
  bool refused_address = false;
};

size_t OnBody(char* data, size_t size, size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  const size_t bytes = size * count;
  if (static_cast<int64_t>(transfer.response.body.size() + bytes) > transfer.max_bytes) {
    transfer.too_large = true;
    return 0;  // ends the transfer
  }
  transfer.response.body.append(data, bytes);
  return bytes;
}

size_t OnHeader(char* data, size_t size, size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  const absl::string_view line(data, size * count);
  transfer.header_bytes += line.size();
  if (transfer.header_bytes > kMaxHeaderBytes) {
    transfer.headers_too_large = true;
    return 0;  // ends the transfer
  }
  const size_t colon = line.find(':');
  if (absl::StartsWith(line, "HTTP/")) {
    transfer.response.headers.clear();  // of what led here
  } else if (colon != absl::string_view::npos) {
    transfer.response.headers[absl::AsciiStrToLower(line.substr(0, colon))] =
        std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
  return line.size();
}

curl_socket_t OnOpenSocket(void* user, curlsocktype, curl_sockaddr* address) {
  if (!IsPublicAddress(&address->addr)) {
    static_cast<Transfer*>(user)->refused_address = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// A certificate file that the operator names, for curl or for one of the tools that people
// configure.
const char* CertificateFile() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"}) {
    const char* file = std::getenv(name);
    if (file != nullptr && *file != '\0') return file;
  }
  return nullptr;
}

void Configure(CURL* curl, const HttpRequest& request, Transfer& transfer) {
  const char* protocols = request.allow_http ? "http,https" : "https";
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, request.follow ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "kernelmill-fetcher");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 30'000L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(absl::ToInt64Milliseconds(request.timeout)));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1000L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 60L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  if (const char* file = CertificateFile()) curl_easy_setopt(curl, CURLOPT_CAINFO, file);
  if (request.public_only) {
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, &OnOpenSocket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, &transfer);
  }
}

absl::Status FromCurl(CURLcode code, const Transfer& transfer, const HttpRequest& request) {
  const std::string message = absl::StrCat(ToUtf8(request.url), ": ", ::curl_easy_strerror(code));
  if (transfer.too_large) {
    return absl::FailedPreconditionError(
        absl::StrCat(ToUtf8(request.url), ": more than ", request.max_bytes, " bytes"));
  }
  if (transfer.headers_too_large) {
    return absl::FailedPreconditionError(
        absl::StrCat(ToUtf8(request.url), ": more than ", kMaxHeaderBytes, " bytes of headers"));
  }
  if (transfer.refused_address) {
    return absl::PermissionDeniedError(
        absl::StrCat(ToUtf8(request.url), ": leads to an address that is not public"));
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

// The header of the answer that was not redirected any more.
std::optional<absl::Duration> RetryAfter(CURL* curl) {
  curl_header* header = nullptr;
  if (curl_easy_header(curl, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK) {
    return std::nullopt;
  }
  return ParseRetryAfter(header->value, absl::Now());
}

using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// The request's headers as libcurl takes them: as they are, so that a line end in one would begin
// another.
absl::StatusOr<HeaderList> HeadersOf(const HttpRequest& request) {
  std::map<std::string, std::string> headers = request.headers;
  if (!request.accept.empty()) headers["Accept"] = request.accept;
  HeaderList list(nullptr, &curl_slist_free_all);
  for (const auto& [name, value] : headers) {
    const std::string line = absl::StrCat(name, ": ", value);
    if (std::any_of(line.begin(), line.end(), absl::ascii_iscntrl)) {
      return absl::InvalidArgumentError(
          absl::StrCat(ToUtf8(request.url), ": the header ", JsonString(name), " cannot be sent"));
    }
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) return absl::InternalError("libcurl");
    static_cast<void>(list.release());  // now a part of the longer one
    list.reset(longer);
  }
  return list;
}

std::string InfoString(CURL* curl, CURLINFO info) {
  const char* text = nullptr;
  curl_easy_getinfo(curl, info, &text);
  return text == nullptr ? "" : text;
}

}  // namespace

absl::StatusOr<HttpResponse> HttpGet(const HttpRequest& request) {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  if (initialized != CURLE_OK || curl == nullptr) return absl::InternalError("libcurl");
  Transfer transfer{{}, request.max_bytes};
  ASSIGN_OR_RETURN(const HeaderList headers, HeadersOf(request));
  Configure(curl.get(), request, transfer);
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) return FromCurl(code, transfer, request);
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  transfer.response.code = static_cast<int>(status);
  transfer.response.url = InfoString(curl.get(), CURLINFO_EFFECTIVE_URL);
  transfer.response.content_type = InfoString(curl.get(), CURLINFO_CONTENT_TYPE);
  transfer.response.location = InfoString(curl.get(), CURLINFO_REDIRECT_URL);
  transfer.response.retry_after = RetryAfter(curl.get());
  return std::move(transfer.response);
}

absl::Status HttpStatus(const HttpResponse& response) {
  const int code = response.code;
  if (code >= 200 && code < 300) return absl::OkStatus();
  const std::string message = absl::StrCat(ToUtf8(response.url), ": HTTP ", code);
  if (code == 404 || code == 410) return absl::NotFoundError(message);
  if (code == 401 || code == 403) return absl::PermissionDeniedError(message);
  if (code == 408 || code == 429 || code >= 500) {
    absl::Status status = absl::UnavailableError(message);
    if (response.retry_after.has_value()) SetRetryAfter(status, *response.retry_after);
    return status;
  }
  return absl::FailedPreconditionError(message);
}

absl::StatusOr<std::string> ResolveUrl(const std::string& base, const std::string& reference) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  char* text = nullptr;
  if (curl_url_set(url.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK ||
      curl_url_set(url.get(), CURLUPART_URL, reference.c_str(), 0) != CURLUE_OK ||
      curl_url_get(url.get(), CURLUPART_URL, &text, 0) != CURLUE_OK) {
    return absl::InvalidArgumentError(absl::StrCat("not a URL: ", JsonString(reference)));
  }
  std::string resolved = text;
  curl_free(text);
  return resolved;
}

}  // namespace kernelmill::fetcher
