#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_SOURCE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_SOURCE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/glob.h"
#include "services/fetcher/adapters/git/git_command.h"
#include "services/fetcher/core/selection/snapshot.h"

namespace kernelmill::fetcher {

// The part of a fetch that the next fetch of the same URL can use.
struct CachedFetch {
  std::string commit;
  std::string pack;  // a git pack: the commit, its trees, and the blobs that were read
};

// A place to keep fetches: the port between the git adapter and the content store. It saves
// transfers and never changes a result. A fetch that is lost, outdated, damaged or of another
// repository costs at most a full fetch, so there are no errors.
class FetchCache {
 public:
  virtual ~FetchCache() = default;
  virtual std::optional<CachedFetch> Load(absl::string_view url) = 0;
  virtual void Save(absl::string_view url, const CachedFetch& cached) = 0;
};

// Returns the commit that `ref` names now, as 40 hexadecimal digits. `ref` is HEAD, a branch, else
// a tag, or a full ref name. 40 hexadecimal digits are already a commit, and no server is asked.
//
// Takes one round trip, in which the server sends only refs whose names begin with the one asked
// for, if it can filter; more for a ref that does not exist. NOT_FOUND: the ref does not exist, or
// the repository is empty; the message says which. Other errors: as CheckGitUrl and
// ClassifyGitFailure.
absl::StatusOr<std::string> PinGit(absl::string_view url, absl::string_view ref,
                                   const GitOptions& options);

// Fetches one commit in two transfers: first the commit with its trees, then the blobs that `globs`
// select and the licence files. The snapshot owns the temporary repository. An object that the
// server does not have fails its own file only. NOT_FOUND: the commit does not exist. Other errors:
// as CheckGitUrl and ClassifyGitFailure.
//
// With a cache, objects of the last fetch of the URL are not transferred again. A commit that the
// cache has moves no bytes; another one moves its new trees and blobs. The snapshot is the same
// either way.
absl::StatusOr<std::unique_ptr<Snapshot>> FetchGit(absl::string_view url, const std::string& commit,
                                                   const GlobSet& globs, const GitOptions& options,
                                                   FetchCache* cache = nullptr);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_SOURCE_H_
