#ifndef KERNELMILL_SERVICES_FETCHER_CORE_URL_POLICY_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_URL_POLICY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/fetcher/core/local_folders.h"

namespace kernelmill::fetcher {

struct GitUrl {
  std::string url;     // as git is to get it
  std::string scheme;  // "https", "http", "ssh", "git", or "file" for local ones
  std::string host;    // without user, port and brackets; empty for local ones
  int port = 0;        // the scheme's own unless the URL names one
  bool local() const { return scheme == "file"; }
};

// Checks a source's git URL: https, http, ssh and git URLs, and file:// URLs and paths in the given
// folders. INVALID_ARGUMENT: malformed, with a control character, an option in disguise, or a
// password in it. PERMISSION_DENIED: another transport (ext:: and its like), or local where that is
// not allowed.
absl::StatusOr<GitUrl> CheckGitUrl(absl::string_view url, const LocalFolders& local);

// INVALID_ARGUMENT unless `ref` can be the name of a branch or tag, a full ref name, HEAD or an
// object id.
absl::Status CheckGitRef(absl::string_view ref);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_URL_POLICY_H_
