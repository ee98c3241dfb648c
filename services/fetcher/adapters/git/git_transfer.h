#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_TRANSFER_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_TRANSFER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "services/fetcher/adapters/git/git_command.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/smart_http/smart_http.h"
#include "services/fetcher/adapters/smart_http/v2_messages.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

// Fetches objects of one remote repository into a temporary bare repository, which is deleted with
// this object. Nothing is checked out. Not thread-safe. Fails as ClassifyGitFailure says.
class GitTransfer {
 public:
  struct Stats {
    int64_t bytes = 0;  // all packs together
    int64_t objects = 0;
  };

  static absl::StatusOr<std::unique_ptr<GitTransfer>> Create(GitUrl url, const GitOptions& options);

  // Adds an earlier fetch's objects, so that objects which both fetches share are not sent again.
  // On any error they are of no use, and this object must not be used any more.
  absl::Status AddCached(const CachedFetch& cached);

  // Fetches the commit and its trees: no parents, and no blobs if the server can leave them out.
  absl::Status FetchCommit(absl::string_view commit);

  // Fetches `depth` generations of commits, without trees and blobs if the server can leave them
  // out.
  absl::Status FetchHistory(absl::string_view commit, int depth);

  // Fetches exactly the objects `ids`, in one transfer. Returns those that the server does not
  // have. A tree comes without its folders and files if `filter` is kTreesAlone, and with them
  // otherwise. With kTreesAlone, a tree within another one of `ids` may not come: ask again for it.
  static constexpr char kTreesAlone[] = "tree:0";
  absl::StatusOr<std::vector<std::string>> FetchObjects(std::vector<std::string> ids,
                                                        const std::string& filter = "");

  // Returns a pack of objects that are here. FAILED_PRECONDITION: it is larger than a cached pack
  // may be.
  absl::StatusOr<std::string> Pack(const std::vector<std::string>& ids) const;

  std::string ObjectsFolder() const { return folder_.path() + "/objects"; }
  // The folder of the cached fetch's objects.
  std::string CachedFolder() const { return folder_.path() + "/cached"; }
  // Counts the bytes and objects that were fetched, without those of the cache.
  absl::StatusOr<Stats> Measure() const;

 private:
  GitTransfer(TempDir folder, GitUrl url, GitCommand git, const GitOptions& options);
  // Fetches over HTTP if the server supports it, else by `call` of the git program.
  absl::Status Bring(const ObjectRequest& request, const GitCall& call);
  // Fetches the history of all branches and tags. NOT_FOUND: it does not have the commit.
  absl::Status FetchBranches(absl::string_view commit);
  absl::Status BringOverHttp(const ObjectRequest& request);
  absl::Status Explain(const absl::Status& failure) const;

  const TempDir folder_;
  const GitUrl url_;
  GitCommand git_;
  const std::shared_ptr<SmartHttp> smart_http_;
  std::optional<SmartHttpRemote> remote_;  // absent: only the git program reaches it
  std::string cached_commit_;              // the cached fetch's; empty: no cached fetch
  const int missing_objects_;
  const int64_t pack_bytes_;
  const int64_t cached_bytes_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_TRANSFER_H_
