#ifndef KERNELMILL_SERVICES_FETCHER_CORE_URL_POLICY_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_URL_POLICY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// The folders of this machine that sources may be in. Without any, local sources are refused. "/"
// allows everything.
class LocalFolders {
 public:
  LocalFolders() = default;
  explicit LocalFolders(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  bool none() const { return folders_.empty(); }

  // Checks that the path, with links followed, is in one of the folders. The existing part of a
  // path that does not exist decides. PERMISSION_DENIED if it is not.
  absl::Status Check(absl::string_view path) const;

 private:
  std::vector<std::string> folders_;
};

// A git URL that was checked, and its parts.
struct GitUrl {
  std::string url;     // as git gets it
  std::string scheme;  // "https", "http", "ssh", "git", or "file" for a local one
  std::string host;    // without user, port and brackets; empty for a local one
  int port = 0;        // the scheme's default unless the URL names one
  bool local() const { return scheme == "file"; }
};

// Checks a source's git URL: https, http, ssh and git URLs, and file:// URLs and paths in the given
// folders. INVALID_ARGUMENT: malformed, with a control character, a disguised option, or a
// password. PERMISSION_DENIED: another transport (ext:: and the like), or a local path that is not
// allowed.
absl::StatusOr<GitUrl> CheckGitUrl(absl::string_view url, const LocalFolders& local);

// Checks that `ref` can be the name of a branch or tag, a full ref name, HEAD or an object id.
// INVALID_ARGUMENT if not.
absl::Status CheckGitRef(absl::string_view ref);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_URL_POLICY_H_
