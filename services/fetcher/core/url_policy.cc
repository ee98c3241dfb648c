// Job files may come from anyone who can submit a job, and a source's URL reaches the git program.
// git's URLs are powerful: "ext::sh -c ..." runs a command, "-u..." is an option, "file://" reads
// the fetcher's disk, and a user name in the URL would be written into the dataset. So this allows
// a short list of forms and refuses everything else.
#include "services/fetcher/core/url_policy.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

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

namespace fs = std::filesystem;

// Returns whether a path is the folder or below it, by whole components.
bool IsWithin(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

// Returns the path made absolute, with links followed, and without ".", ".." and a final slash.
fs::path Resolved(const std::string& path, std::error_code& error) {
  fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  return resolved.has_filename() || resolved == resolved.root_path() ? resolved
                                                                     : resolved.parent_path();
}

}  // namespace

// Compares paths after links are followed, so that a link in an allowed folder cannot lead out of
// it. PERMISSION_DENIED: the path is outside.
absl::Status LocalFolders::Check(absl::string_view path) const {
  if (folders_.empty()) {
    return absl::PermissionDeniedError(absl::StrCat(
        JsonString(path),
        ": local sources are not allowed; start the fetcher with --allow-local FOLDER"));
  }
  std::error_code error;
  const fs::path resolved = Resolved(std::string(path), error);
  const bool allowed =
      !error && std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) {
        std::error_code ignored;
        return IsWithin(resolved, Resolved(folder, ignored));
      });
  if (allowed) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      JsonString(path), ": is outside the folders allowed by the fetcher's --allow-local"));
}

namespace {

constexpr absl::string_view::size_type kNone = absl::string_view::npos;

absl::Status Malformed(absl::string_view url, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(JsonString(RedactedUrl(url)), ": ", why));
}

// Checks the characters of a URL. Escaped line ends are refused too, since a server or proxy may
// decode them into a header.
absl::Status CheckBytes(absl::string_view url) {
  if (url.empty()) return absl::InvalidArgumentError("the git URL must not be empty");
  if (url.size() > 4096)
    return absl::InvalidArgumentError("the git URL must be at most 4096 bytes long");
  if (url[0] == '-') return Malformed(url, "must not begin with '-'");
  if (std::any_of(url.begin(), url.end(), [](char c) { return absl::ascii_iscntrl(c); })) {
    return Malformed(url, "must not contain a control character");
  }
  const std::string lower = absl::AsciiStrToLower(url);
  for (const char* escaped : {"%00", "%0a", "%0d"}) {
    if (absl::StrContains(lower, escaped))
      return Malformed(url, "must not contain a control character");
  }
  return absl::OkStatus();
}

int DefaultPort(absl::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  return scheme == "ssh" ? 22 : 9418;
}

// Splits [user@]host[:port] into `out`. `url` is for messages.
absl::Status ParseAuthority(absl::string_view url, absl::string_view authority, GitUrl& out) {
  if (HasCredentials(url)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", out.scheme,
        " URL must not contain a user name or password: it would end up in the dataset"));
  }
  const size_t at = authority.rfind('@');
  if (at != kNone) {
    if (absl::StartsWith(authority, "-")) return Malformed(url, "the user must not begin with '-'");
    authority.remove_prefix(at + 1);
  }
  absl::string_view host = authority, port;
  if (absl::StartsWith(authority, "[")) {
    const size_t close = authority.find(']');
    if (close == kNone) return Malformed(url, "'[' must be closed by ']'");
    host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (!port.empty() && port[0] != ':') return Malformed(url, "must have a host");
  } else if (const size_t colon = authority.find(':'); colon != kNone) {
    host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (host.empty() || host[0] == '-')
    return Malformed(url, "must have a host that does not begin with '-'");
  out.host = std::string(host);
  out.port = DefaultPort(out.scheme);
  if (port.size() > 1 &&
      (!absl::SimpleAtoi(port.substr(1), &out.port) || out.port < 1 || out.port > 65535)) {
    return Malformed(url, "the port must be a number from 1 to 65535");
  }
  return absl::OkStatus();
}

// Checks a path, or a file:// URL. git decodes %41 in such a URL as a letter, so '%' is refused.
absl::StatusOr<GitUrl> LocalUrl(absl::string_view url, const LocalFolders& local) {
  absl::string_view path = url;
  if (absl::ConsumePrefix(&path, "file://") && absl::StrContains(path, '%')) {
    return Malformed(url, "must not contain '%'; write the path as it is, without file://");
  }
  RETURN_IF_ERROR(local.Check(path));
  return GitUrl{std::string(url), "file", "", 0};
}

}  // namespace

// A text without "://" is a path, or git's scp form "host:path", which is refused because it hides
// the host. INVALID_ARGUMENT: the URL is malformed. PERMISSION_DENIED: the transport or the folder
// is not allowed.
absl::StatusOr<GitUrl> CheckGitUrl(absl::string_view url, const LocalFolders& local) {
  RETURN_IF_ERROR(CheckBytes(url));
  const size_t colon = url.find(':');
  const size_t slash = url.find('/');
  if (colon == kNone || (slash != kNone && slash < colon)) return LocalUrl(url, local);
  if (absl::StartsWith(url.substr(colon), "::")) {
    return absl::PermissionDeniedError(absl::StrCat(
        JsonString(RedactedUrl(url)), ": transports through a helper program are not allowed"));
  }
  if (!absl::StartsWith(url.substr(colon), "://")) {
    return Malformed(url,
                     "must be a URL; write ssh://user@host/path for a path on another machine");
  }
  GitUrl out{std::string(url), absl::AsciiStrToLower(url.substr(0, colon)), "", 0};
  absl::string_view rest = url.substr(colon + 3);
  if (out.scheme == "file") return LocalUrl(url, local);
  if (out.scheme != "https" && out.scheme != "http" && out.scheme != "ssh" && out.scheme != "git") {
    return absl::PermissionDeniedError(absl::StrCat(
        JsonString(RedactedUrl(url)), ": the transport '", out.scheme, "' is not allowed"));
  }
  const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  RETURN_IF_ERROR(ParseAuthority(url, rest.substr(0, end), out));
  if (absl::StartsWith(rest.substr(end), "/-"))
    return Malformed(url, "the path must not begin with '-'");
  return out;
}

// Follows git's rules for names of refs. A leading '-' would be an option of the git program.
absl::Status CheckGitRef(absl::string_view ref) {
  const auto bad = [](char c) {
    return absl::ascii_iscntrl(c) || c == ' ' ||
           absl::StrContains("~^:?*[\\", absl::string_view(&c, 1));
  };
  if (ref.empty() || ref.size() > 1024 || ref[0] == '-' || ref[0] == '/' || ref.back() == '/' ||
      std::any_of(ref.begin(), ref.end(), bad) || absl::StrContains(ref, "..") ||
      absl::StrContains(ref, "@{") || absl::StrContains(ref, "//")) {
    return absl::InvalidArgumentError(absl::StrCat(JsonString(ref), ": must be a valid ref name"));
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::fetcher
