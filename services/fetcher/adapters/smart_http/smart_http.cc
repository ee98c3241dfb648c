// The fast way to most git hosts. The git program needs two processes and two or three round trips
// for each command; this needs one POST over a connection that is kept. Whatever it cannot do (an
// old protocol, a server that answers differently) is UNIMPLEMENTED, and the caller lets the git
// program do it. A server that only git understands is remembered, so that the attempt is made
// once.
#include "services/fetcher/adapters/smart_http/smart_http.h"

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "services/fetcher/adapters/http/curl_easy.h"
#include "services/fetcher/adapters/http/http_client.h"
#include "services/fetcher/adapters/smart_http/upload_pack_post.h"

namespace kernelmill::fetcher {
namespace {

constexpr size_t kMaxHosts = 4096;  // that are left to git
constexpr int64_t kMaxRefBytes = 16 << 20;
constexpr int64_t kOtherBytes = 2 << 20;  // that come with a pack

std::string Server(const GitUrl& url) {
  return absl::StrCat(url.scheme, "://", url.host, ":", url.port);
}

// Returns the limit on an answer for a pack of this size. A packet holds up to 64 KiB of the pack,
// but a server may send packets half full.
int64_t AnswerBytes(int64_t pack_bytes) { return pack_bytes + pack_bytes / 16 + kOtherBytes; }

// Returns whether the code says that the server cannot answer now. 501 and 505 say that it never
// will.
bool IsBusy(int code) {
  return code == 408 || code == 429 || (code >= 500 && code != 501 && code != 505);
}

}  // namespace

bool SmartHttp::Serves(const GitUrl& url) const {
  if (url.scheme != "http" && url.scheme != "https") return false;
  if (url.url.find_first_of("?#") != std::string::npos) return false;
  absl::MutexLock lock(&mutex_);
  return left_to_git_.count(Server(url)) == 0;
}

void SmartHttp::LeaveToGit(const GitUrl& url) {
  absl::MutexLock lock(&mutex_);
  if (left_to_git_.size() >= kMaxHosts) left_to_git_.clear();  // they will be found again
  left_to_git_.insert(Server(url));
}

namespace {

constexpr absl::string_view kService = "/info/refs?service=git-upload-pack";

// Returns the request that git makes first.
HttpRequest FirstRequest(const GitUrl& repository, const HostPolicy& hosts,
                         absl::Duration timeout) {
  HttpRequest request;
  request.url = absl::StrCat(absl::StripSuffix(repository.url, "/"), kService);
  request.headers = {{"Git-Protocol", "version=2"}};  // without this the server sends all refs
  request.allow_http = repository.scheme == "http";
  request.follow = false;
  request.hosts = hosts;
  request.timeout = timeout;
  return request;
}

bool IsPage(const HttpResponse& answer) {
  return absl::StartsWithIgnoreCase(answer.content_type, "text/html");
}

// Returns whether a URL is of a page at which people sign in, by the words that hosts use.
bool IsSignIn(absl::string_view url) {
  const std::string path = absl::AsciiStrToLower(url.substr(0, url.find('?')));
  for (const char* word : {"sign_in", "signin", "sign-in", "login", "log_in", "log-in", "/auth",
                           "oauth", "sso", "saml"}) {
    if (absl::StrContains(path, word)) return true;
  }
  return false;
}

// Some servers answer a POST to an unknown path with a page, but serve git. If git's first request
// gets a page as well, there is no repository.
absl::Status CheckNoPage(const GitUrl& repository, const HostPolicy& hosts,
                         absl::Duration timeout) {
  const absl::StatusOr<HttpResponse> answer = HttpGet(FirstRequest(repository, hosts, timeout));
  if (!answer.ok() || answer->code != 200 || !IsPage(*answer)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(ShownUrl(repository.url),
                   ": answers with a web page, perhaps for signing in: the URL is not of a "
                   "repository, or it is private"));
}

}  // namespace

// Some servers redirect only the request that git makes first, or hide a repository behind another
// error code. So if the answer is neither a result nor that of a busy server, that first request
// decides; if that fails too, the git program does.
absl::Status SmartHttpRemote::Ask(const std::string& body, int64_t max_bytes,
                                  V2Response& response) {
  const auto sink = [&](absl::string_view bytes) { return response.Read(bytes); };
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    ASSIGN_OR_RETURN(const HttpResponse answer,
                     PostToUploadPack(shared_->handles(),
                                      {url_, body, options_.hosts, max_bytes, options_.timeout,
                                       options_.rate, [&] { return response.arrived(); }},
                                      sink));
    if (IsUploadPackResult(answer)) return response.Finish();
    if (IsBusy(answer.code)) return HttpStatus(answer);
    if (answer.code == 200 && IsPage(answer)) {
      RETURN_IF_ERROR(CheckNoPage(url_, options_.hosts, options_.timeout));
    }
    if (answer.code < 300 || answer.code >= 500) {
      return absl::UnimplementedError("the server's answer is not a git server's");
    }
    absl::StatusOr<GitUrl> next = AskForRedirect(url_, options_.hosts, options_.timeout);
    if (absl::IsFailedPrecondition(next.status())) {
      return absl::UnimplementedError(next.status().message());
    }
    if (!next.ok()) return next.status();
    url_ = *std::move(next);
  }
  return absl::FailedPreconditionError("too many redirects");
}

// ref-prefix also matches longer names; RefsResponse keeps those that were asked for.
absl::StatusOr<RefIds> SmartHttpRemote::Refs(const std::set<std::string>& names) {
  std::set<std::string> prefixes;
  for (const std::string& name : names) prefixes.emplace(absl::StripSuffix(name, "^{}"));
  RefsResponse response(names);
  RETURN_IF_ERROR(Ask(RefsRequest({prefixes.begin(), prefixes.end()}), kMaxRefBytes, response));
  return response.refs();
}

namespace {

// The answer to RefsRequest, which ends with the first ref: CANCELLED.
class AnyRef : public V2Response {
 protected:
  absl::StatusOr<bool> OnPacket(const Packet& packet) override {
    if (packet.kind == PacketKind::kFlush) return true;
    return absl::CancelledError("there is a ref");
  }
};

}  // namespace

absl::StatusOr<bool> SmartHttpRemote::IsEmpty() {
  AnyRef response;
  const absl::Status asked = Ask(RefsRequest({"refs/"}), kMaxRefBytes, response);
  if (absl::IsCancelled(asked)) return false;
  RETURN_IF_ERROR(asked);
  return true;
}

absl::Status SmartHttpRemote::Fetch(const ObjectRequest& request, PackSink sink) {
  PackResponse response(sink);
  return Ask(FetchRequest(request), AnswerBytes(options_.pack_bytes), response);
}

// Sends git's first request and returns where it is redirected to. NOT_FOUND and the like: the
// server refuses the repository. FAILED_PRECONDITION: there is no redirect to a repository.
// PERMISSION_DENIED: the redirect would leave https.
absl::StatusOr<GitUrl> AskForRedirect(const GitUrl& repository, const HostPolicy& hosts,
                                      absl::Duration timeout) {
  ASSIGN_OR_RETURN(const HttpResponse response, HttpGet(FirstRequest(repository, hosts, timeout)));
  if (response.code >= 400) return HttpStatus(response);
  absl::string_view location = response.location;
  if (!absl::ConsumeSuffix(&location, kService)) {
    if (IsSignIn(location)) {
      return absl::PermissionDeniedError(
          absl::StrCat(ShownUrl(repository.url),
                       ": redirects to a sign-in page: the repository is private or does not "
                       "exist"));
    }
    return absl::FailedPreconditionError(
        "the server redirects to a URL that is not a git repository");
  }
  ASSIGN_OR_RETURN(GitUrl next, CheckGitUrl(location, LocalFolders()));
  if (next.scheme != "https" && next.scheme != repository.scheme) {
    return absl::PermissionDeniedError(
        absl::StrCat("must not redirect from ", repository.scheme, " to ", next.scheme));
  }
  return next;
}

}  // namespace kernelmill::fetcher
