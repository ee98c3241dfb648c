#include "services/fetcher/core/url_policy.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"

namespace kernelmill::fetcher {
namespace {

constexpr absl::string_view::size_type kNone = absl::string_view::npos;

absl::Status Malformed(absl::string_view url, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(JsonString(url), ": ", why));
}

absl::Status CheckBytes(absl::string_view url) {
  if (url.empty()) return absl::InvalidArgumentError("the git URL is empty");
  if (url.size() > 4096) return absl::InvalidArgumentError("the git URL is too long");
  if (url[0] == '-') return Malformed(url, "begins with '-'");
  if (std::any_of(url.begin(), url.end(), [](char c) { return absl::ascii_iscntrl(c); })) {
    return Malformed(url, "has a control character");
  }
  const std::string lower = absl::AsciiStrToLower(url);
  for (const char* escaped : {"%00", "%0a", "%0d"}) {
    if (absl::StrContains(lower, escaped)) return Malformed(url, "has a control character");
  }
  return absl::OkStatus();
}

int DefaultPort(absl::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  return scheme == "ssh" ? 22 : 9418;
}

// Splits [user@]host[:port] into `out`; `url` is for messages.
absl::Status ParseAuthority(absl::string_view url, absl::string_view authority, GitUrl& out) {
  if (HasCredentials(url)) {
    return absl::InvalidArgumentError(absl::StrCat(
        out.scheme, " URL with a user name or password in it: it would end in the dataset"));
  }
  const size_t at = authority.rfind('@');
  if (at != kNone) {
    if (absl::StartsWith(authority, "-")) return Malformed(url, "the user begins with '-'");
    authority.remove_prefix(at + 1);
  }
  absl::string_view host = authority, port;
  if (absl::StartsWith(authority, "[")) {
    const size_t close = authority.find(']');
    if (close == kNone) return Malformed(url, "'[' without ']'");
    host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (!port.empty() && port[0] != ':') return Malformed(url, "no host");
  } else if (const size_t colon = authority.find(':'); colon != kNone) {
    host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (host.empty() || host[0] == '-') return Malformed(url, "no host, or one that begins with '-'");
  out.host = std::string(host);
  out.port = DefaultPort(out.scheme);
  if (port.size() > 1 &&
      (!absl::SimpleAtoi(port.substr(1), &out.port) || out.port < 1 || out.port > 65535)) {
    return Malformed(url, "the port is not a number");
  }
  return absl::OkStatus();
}

// A path, or a file:// URL, of which git reads %41 as a letter.
absl::StatusOr<GitUrl> LocalUrl(absl::string_view url, const LocalFolders& local) {
  absl::string_view path = url;
  if (absl::ConsumePrefix(&path, "file://") && absl::StrContains(path, '%')) {
    return Malformed(url, "has a '%'; write the path as it is, without file://");
  }
  RETURN_IF_ERROR(local.Check(path));
  return GitUrl{std::string(url), "file", "", 0};
}

}  // namespace

absl::StatusOr<GitUrl> CheckGitUrl(absl::string_view url, const LocalFolders& local) {
  RETURN_IF_ERROR(CheckBytes(url));
  const size_t colon = url.find(':');
  const size_t slash = url.find('/');
  if (colon == kNone || (slash != kNone && slash < colon)) return LocalUrl(url, local);
  if (absl::StartsWith(url.substr(colon), "::")) {
    return absl::PermissionDeniedError(
        absl::StrCat(JsonString(url), ": transports through a helper program are not allowed"));
  }
  if (!absl::StartsWith(url.substr(colon), "://")) {
    return Malformed(url, "not a URL; write ssh://user@host/path for a path on another machine");
  }
  GitUrl out{std::string(url), absl::AsciiStrToLower(url.substr(0, colon)), "", 0};
  absl::string_view rest = url.substr(colon + 3);
  if (out.scheme == "file") return LocalUrl(url, local);
  if (out.scheme != "https" && out.scheme != "http" && out.scheme != "ssh" && out.scheme != "git") {
    return absl::PermissionDeniedError(
        absl::StrCat(JsonString(url), ": the transport '", out.scheme, "' is not allowed"));
  }
  const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  RETURN_IF_ERROR(ParseAuthority(url, rest.substr(0, end), out));
  if (absl::StartsWith(rest.substr(end), "/-")) return Malformed(url, "the path begins with '-'");
  return out;
}

absl::Status CheckGitRef(absl::string_view ref) {
  const auto bad = [](char c) {
    return absl::ascii_iscntrl(c) || c == ' ' ||
           absl::StrContains("~^:?*[\\", absl::string_view(&c, 1));
  };
  if (ref.empty() || ref.size() > 1024 || ref[0] == '-' || ref[0] == '/' || ref.back() == '/' ||
      std::any_of(ref.begin(), ref.end(), bad) || absl::StrContains(ref, "..") ||
      absl::StrContains(ref, "@{") || absl::StrContains(ref, "//")) {
    return absl::InvalidArgumentError(absl::StrCat(JsonString(ref), ": not a ref name"));
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::fetcher
