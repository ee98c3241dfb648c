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
#include "services/fetcher/adapters/git/fetch_cache.h"
#include "services/fetcher/adapters/git/git_command.h"
#include "services/fetcher/adapters/smart_http/smart_http.h"
#include "services/fetcher/adapters/smart_http/v2_messages.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

// Brings objects of one remote repository into a temporary bare one, which goes with this object.
// Nothing is checked out. Not thread-safe. Fails as ClassifyGitFailure says.
class GitTransfer {
 public:
  struct Stats {
    int64_t bytes = 0;  // of all packs
    int64_t objects = 0;
  };

  static absl::StatusOr<std::unique_ptr<GitTransfer>> Create(GitUrl url, const GitOptions& options);

  // Puts an earlier fetch's objects beside those to come, so that what they share is not sent
  // again. DATA_LOSS and others: they are of no use, and neither is this object any more.
  absl::Status AddCached(const CachedFetch& cached);

  // The commit and its trees: no parents, and no blobs if the server can leave them out.
  absl::Status FetchCommit(absl::string_view commit);

  // Exactly the objects `ids`, in one transfer. Answers with those that the server does not have.
  absl::StatusOr<std::vector<std::string>> FetchObjects(std::vector<std::string> ids);

  // A pack of objects that are here. FAILED_PRECONDITION: it is larger than a cached one may be.
  absl::StatusOr<std::string> Pack(const std::vector<std::string>& ids) const;

  std::string ObjectsFolder() const { return folder_.path() + "/objects"; }
  std::string CachedFolder() const {
    return folder_.path() + "/cached";
  }  // the cached fetch's objects
  // What came, without what was cached.
  absl::StatusOr<Stats> Measure() const;

 private:
  GitTransfer(TempDir folder, GitUrl url, GitCommand git, const GitOptions& options);
  // Over HTTP if the server speaks the protocol, else by `call` of git.
  absl::Status Bring(const ObjectRequest& request, const GitCall& call);
  absl::Status BringOverHttp(const ObjectRequest& request);
  absl::Status Explain(const absl::Status& failure) const;

  const TempDir folder_;
  const GitUrl url_;
  GitCommand git_;
  const std::shared_ptr<SmartHttp> smart_http_;
  std::optional<SmartHttpRemote> remote_;  // none: git reaches it alone
  std::string cached_commit_;              // of the cached fetch; empty: there is none
  const int missing_objects_;
  const int64_t pack_bytes_;
  const int64_t cached_bytes_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_TRANSFER_H_
