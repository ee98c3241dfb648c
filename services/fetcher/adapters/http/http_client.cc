// One GET with libcurl. Bodies and headers are collected by callbacks, which end the transfer once
// a bound is reached: a Content-Length header is not trusted. Redirects are followed here, so that
// the policy decides about each host by its name too.
#include "services/fetcher/adapters/http/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "services/fetcher/adapters/http/curl_easy.h"

namespace kernelmill::fetcher {
namespace {

constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr int kMaxRedirects = 5;

// The state of one GET that the callbacks share.
struct Transfer {
  Transfer(CURL* handle, const HttpRequest& request)
      : curl(handle),
        follow(request.follow),
        max_bytes(request.max_bytes),
        body_file(request.body_file),
        progress(request.rate) {}

  bool IsRedirect() const {
    long code = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    return code >= 300 && code < 400;
  }

  CURL* const curl;
  const bool follow;

  HttpResponse response;
  const int64_t max_bytes;
  const int body_file;
  CurlProgress progress;  // the bytes of the body
  absl::Status written = absl::OkStatus();
  size_t header_bytes = 0;
  bool too_large = false;
  bool headers_too_large = false;
};

size_t OnBody(char* data, size_t size, size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  const size_t bytes = size * count;
  transfer.progress.arrived += static_cast<int64_t>(bytes);
  if (transfer.progress.arrived > transfer.max_bytes) {
    transfer.too_large = true;
    return 0;  // ends the transfer
  }
  if (transfer.follow && transfer.IsRedirect()) return bytes;
  if (transfer.body_file < 0) {
    transfer.response.body.append(data, bytes);
    return bytes;
  }
  transfer.written = WriteAll(transfer.body_file, {data, bytes}, "a temporary file");
  return transfer.written.ok() ? bytes : 0;
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
    transfer.response.headers.clear();  // the headers of a redirect are dropped
  } else if (colon != absl::string_view::npos) {
    transfer.response.headers[absl::AsciiStrToLower(line.substr(0, colon))] =
        std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
  return line.size();
}

absl::Status Configure(CURL* curl, const HttpRequest& request, Transfer& transfer) {
  RETURN_IF_ERROR(ConfigureCurl(
      curl, {request.url, request.allow_http, request.hosts, request.timeout, request.rate},
      &transfer.progress));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  return absl::OkStatus();
}

// A callback that ends a transfer makes libcurl report a write error; the flags tell the true
// reason.
absl::Status Failure(CURLcode code, const Transfer& transfer, const HttpRequest& request) {
  if (transfer.too_large) {
    return absl::FailedPreconditionError(absl::StrCat(
        ShownUrl(request.url), ": the body has more than ", request.max_bytes, " bytes"));
  }
  if (!transfer.written.ok()) return transfer.written;
  if (transfer.headers_too_large) {
    return absl::FailedPreconditionError(absl::StrCat(
        ShownUrl(request.url), ": the headers have more than ", kMaxHeaderBytes, " bytes"));
  }
  return CurlFailure(code, request.url, transfer.progress);
}

absl::StatusOr<CurlHeaders> MakeHeaders(const HttpRequest& request) {
  std::map<std::string, std::string> headers = request.headers;
  if (!request.accept.empty()) headers["Accept"] = request.accept;
  return MakeCurlHeaders(headers, request.url);
}

// Sends one request and follows no redirect. The handle keeps its connection for the next one.
absl::StatusOr<HttpResponse> GetOnce(CURL* curl, const HttpRequest& request) {
  curl_easy_reset(curl);
  Transfer transfer(curl, request);
  ASSIGN_OR_RETURN(const CurlHeaders headers, MakeHeaders(request));
  RETURN_IF_ERROR(Configure(curl, request, transfer));
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) return Failure(code, transfer, request);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  transfer.response.code = static_cast<int>(status);
  transfer.response.url = CurlInfo(curl, CURLINFO_EFFECTIVE_URL);
  transfer.response.content_type = CurlInfo(curl, CURLINFO_CONTENT_TYPE);
  transfer.response.location = CurlInfo(curl, CURLINFO_REDIRECT_URL);
  transfer.response.retry_after = CurlRetryAfter(curl);
  return std::move(transfer.response);
}

// Makes the request that follows a redirect. Another server does not get the credentials.
absl::Status Redirect(const std::string& location, HttpRequest& request) {
  ASSIGN_OR_RETURN(const UrlParts from, ParseUrl(request.url));
  ASSIGN_OR_RETURN(const UrlParts to, ParseUrl(location));
  if (!(from == to)) request.headers.erase("Authorization");
  request.url = location;
  return absl::OkStatus();
}

}  // namespace

// Returns the answer for every HTTP status; HttpStatus turns it into an error. An error here means
// that no whole answer arrived.
absl::StatusOr<HttpResponse> HttpGet(const HttpRequest& request) {
  ASSIGN_OR_RETURN(const CurlHandle curl, NewCurlHandle());
  const absl::Time deadline = absl::Now() + request.timeout;
  HttpRequest next = request;
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    // libcurl takes 0 for no limit.
    next.timeout = std::max(deadline - absl::Now(), absl::Milliseconds(1));
    ASSIGN_OR_RETURN(HttpResponse response, GetOnce(curl.get(), next));
    if (!request.follow || response.location.empty()) return response;
    RETURN_IF_ERROR(Redirect(response.location, next));
  }
  return absl::FailedPreconditionError(absl::StrCat(ShownUrl(request.url), ": too many redirects"));
}

// Codes that may pass by themselves (408, 429, 5xx) are UNAVAILABLE, which is retried.
absl::Status HttpStatus(const HttpResponse& response) {
  const int code = response.code;
  if (code >= 200 && code < 300) return absl::OkStatus();
  const std::string message = absl::StrCat(ShownUrl(response.url), ": HTTP ", code);
  if (code == 404 || code == 410) return absl::NotFoundError(message);
  if (code == 401 || code == 403) return absl::PermissionDeniedError(message);
  if (code == 408 || code == 429 || code >= 500) {
    absl::Status status = absl::UnavailableError(message);
    if (response.retry_after.has_value()) SetRetryAfter(status, *response.retry_after);
    return status;
  }
  return absl::FailedPreconditionError(message);
}

HostPolicy WithEndpoint(const HostPolicy& hosts, const std::string& url) {
  const absl::StatusOr<UrlParts> parts = ParseUrl(url);
  return parts.ok() ? hosts.WithEndpoint(parts->host) : hosts;  // a request will say what is wrong
}

// libcurl's URL parser resolves the reference, so that it means what a later request makes of it.
absl::StatusOr<std::string> ResolveUrl(const std::string& base, const std::string& reference) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  char* text = nullptr;
  if (curl_url_set(url.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK ||
      curl_url_set(url.get(), CURLUPART_URL, reference.c_str(), 0) != CURLUE_OK ||
      curl_url_get(url.get(), CURLUPART_URL, &text, 0) != CURLUE_OK) {
    return absl::InvalidArgumentError(
        absl::StrCat(JsonString(RedactedUrl(reference)), " must be a URL"));
  }
  std::string resolved = text;
  curl_free(text);
  return resolved;
}

}  // namespace kernelmill::fetcher
