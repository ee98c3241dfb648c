// One POST with libcurl whose answer may be gigabytes long. The body is passed on packet by packet,
// and is never held. Nothing is known about an answer when its first bytes arrive except its
// headers, so every callback asks whether it is a result at all.
#include "services/fetcher/adapters/smart_http/upload_pack_post.h"

#include <curl/curl.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/http/curl_easy.h"

namespace kernelmill::fetcher {
// A pool of libcurl handles, each with its open connection to one server. The policy is a part of a
// handle's key, since the address of a connection is checked only when it is opened. Thread-safe.
absl::StatusOr<CurlHandle> HandlePool::Take(const std::string& key) {
  {
    absl::MutexLock lock(&mutex_);
    const auto found =
        std::find_if(idle_.begin(), idle_.end(), [&](const Idle& idle) { return idle.key == key; });
    if (found != idle_.end() && absl::Now() - found->since < kMaxIdleTime) {
      CurlHandle handle = std::move(found->handle);
      idle_.erase(found);
      return handle;
    }
  }
  return NewCurlHandle();
}

void HandlePool::GiveBack(const std::string& key, CurlHandle handle) {
  std::list<Idle> over;  // closed after the lock is released, since closing may talk to the server
  absl::MutexLock lock(&mutex_);
  const absl::Time now = absl::Now();
  idle_.push_front({key, std::move(handle), now});
  while (idle_.size() > kMaxIdle || now - idle_.back().since >= kMaxIdleTime) {
    over.splice(over.end(), idle_, std::prev(idle_.end()));
  }
}

size_t HandlePool::idle() const {
  absl::MutexLock lock(&mutex_);
  return idle_.size();
}

namespace {

// Compresses a request's body. INTERNAL: out of memory.
absl::StatusOr<std::string> Gzip(absl::string_view bytes) {
  constexpr int kGzipFormat = 16 + MAX_WBITS;
  constexpr int kMemoryLevel = 8;  // zlib's default
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipFormat, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return absl::InternalError("zlib");
  }
  std::string zipped(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = bytes.size();
  stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
  stream.avail_out = zipped.size();
  const int result = deflate(&stream, Z_FINISH);
  zipped.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return absl::InternalError("zlib");
  return zipped;
}

constexpr char kResult[] = "application/x-git-upload-pack-result";
constexpr size_t kZipFrom = 1024;  // bytes, as git does
// An unused answer up to this size is read to its end, which keeps the connection. A larger one is
// cut off.
constexpr int64_t kMaxDropped = 64 << 10;
constexpr long kBufferBytes = 256 << 10;

struct Transfer {
  CURL* curl;
  BodySink sink;
  int64_t max_bytes;
  const std::function<int64_t()>& arrived;
  CurlProgress progress;
  int64_t bytes = 0;
  bool dropped = false;      // the answer is not a result and was cut off
  absl::Status status = {};  // why the transfer was ended here
};

// Returns everything about the answer except its body.
HttpResponse Head(CURL* curl) {
  HttpResponse response;
  long code = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
  response.code = static_cast<int>(code);
  response.url = CurlInfo(curl, CURLINFO_EFFECTIVE_URL);
  response.content_type = CurlInfo(curl, CURLINFO_CONTENT_TYPE);
  response.retry_after = CurlRetryAfter(curl);
  return response;
}

// Handles the next bytes of the answer: passes them on, or counts those of an answer that is
// dropped.
absl::Status OnBytes(Transfer& transfer, absl::string_view bytes) {
  transfer.bytes += static_cast<int64_t>(bytes.size());
  if (!IsUploadPackResult(Head(transfer.curl))) {
    transfer.dropped = transfer.bytes > kMaxDropped;
    return transfer.dropped ? absl::CancelledError("dropped") : absl::OkStatus();
  }
  if (transfer.bytes > transfer.max_bytes) {
    return absl::FailedPreconditionError(
        absl::StrCat("the transfer is larger than ", transfer.max_bytes, " bytes"));
  }
  const absl::Status taken = transfer.sink(bytes);
  transfer.progress.arrived = transfer.arrived ? transfer.arrived() : transfer.bytes;
  return taken;
}

size_t OnBody(char* data, size_t size, size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  transfer.status = OnBytes(transfer, absl::string_view(data, size * count));
  return transfer.status.ok() ? size * count : CURL_WRITEFUNC_ERROR;
}

std::string UploadPackUrl(const GitUrl& repository) {
  return absl::StrCat(absl::StripSuffix(repository.url, "/"), "/git-upload-pack");
}

// Adds the certificates that git trusts.
void TrustAsGit(CURL* curl) {
  if (const char* file = std::getenv("GIT_SSL_CAINFO")) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, file);
  }
  for (const char* name : {"SSL_CERT_DIR", "GIT_SSL_CAPATH"}) {
    if (const char* folder = std::getenv(name)) curl_easy_setopt(curl, CURLOPT_CAPATH, folder);
  }
}

// An answer that was cut off on purpose is an answer: only its head matters.
absl::StatusOr<HttpResponse> Perform(CURL* curl, const std::string& url, Transfer& transfer) {
  const CURLcode code = curl_easy_perform(curl);
  if (transfer.dropped || code == CURLE_OK) return Head(curl);
  if (!transfer.status.ok()) return transfer.status;
  return CurlFailure(code, url, transfer.progress);
}

absl::StatusOr<HttpResponse> Post(CURL* curl, const UploadPackPost& post, BodySink sink) {
  std::map<std::string, std::string> headers = {
      {"Content-Type", "application/x-git-upload-pack-request"},
      {"Accept", kResult},
      {"Git-Protocol", "version=2"},
      {"Expect", ""}};  // no need to ask the server before sending the body
  std::string zipped;
  const bool zip = post.body.size() > kZipFrom;
  if (zip) {
    ASSIGN_OR_RETURN(zipped, Gzip(post.body));
    headers["Content-Encoding"] = "gzip";
  }
  const std::string& body = zip ? zipped : post.body;
  const std::string url = UploadPackUrl(post.repository);
  ASSIGN_OR_RETURN(const CurlHeaders list, MakeCurlHeaders(headers, url));
  Transfer transfer{curl, sink, post.max_bytes, post.arrived, CurlProgress(post.rate)};
  RETURN_IF_ERROR(ConfigureCurl(
      curl, {url, post.repository.scheme == "http", post.hosts, post.timeout, post.rate},
      &transfer.progress));
  TrustAsGit(curl);
  // Git hosts decide by the user agent what they allow a client.
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "git/2.0 (kernelmill-fetcher)");
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list.get());
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, kBufferBytes);
  curl_easy_setopt(curl, CURLOPT_MAXCONNECTS, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  absl::StatusOr<HttpResponse> response = Perform(curl, url, transfer);
  curl_easy_reset(curl);  // only the connection is kept
  return response;
}

}  // namespace

bool IsUploadPackResult(const HttpResponse& response) {
  return response.code == 200 && response.content_type == kResult;
}

absl::StatusOr<HttpResponse> PostToUploadPack(HandlePool& pool, const UploadPackPost& post,
                                              BodySink sink) {
  const GitUrl& at = post.repository;
  const std::string key =
      absl::StrCat(at.scheme, " ", at.host, " ", at.port, " ", post.hosts.Key());
  ASSIGN_OR_RETURN(CurlHandle handle, pool.Take(key));
  absl::StatusOr<HttpResponse> response = Post(handle.get(), post, sink);
  pool.GiveBack(key, std::move(handle));
  return response;
}

}  // namespace kernelmill::fetcher
