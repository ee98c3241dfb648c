#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_SNAPSHOT_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_SNAPSHOT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/glob.h"
#include "services/fetcher/adapters/git/fetch_cache.h"
#include "services/fetcher/adapters/git/git_command.h"
#include "services/fetcher/core/selection/snapshot.h"

namespace kernelmill::fetcher {

// Fetches one commit with its trees, and then just the blobs that `globs` select and the licence
// files, in two transfers. The snapshot owns the temporary repository. An object that the server
// lacks fails its file alone. Errors: as CheckGitUrl and ClassifyGitFailure; NOT_FOUND: no such
// commit.
//
// With a cache, what the last fetch of the URL brought is not transferred again: a commit that it
// has moves nothing, another one its new trees and blobs. What is read is the same either way.
absl::StatusOr<std::unique_ptr<Snapshot>> FetchGit(absl::string_view url, const std::string& commit,
                                                   const GlobSet& globs, const GitOptions& options,
                                                   FetchCache* cache = nullptr);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_SNAPSHOT_H_
