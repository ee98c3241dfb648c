#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_FETCHER_STAGES_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_FETCHER_STAGES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/worker/stage.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/core/assemble.h"
#include "services/fetcher/core/rate_floor.h"
#include "services/fetcher/core/selection/tree_selection.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

// The settings of a fetcher.
struct FetcherOptions {
  // The folders in which `path` and `inductor` sources, file:// URLs and local git repositories may
  // be.
  LocalFolders local;
  // The hosts of sources. Those of package_index and github_api are allowed besides.
  HostPolicy hosts;
  // The simple package index's URL; empty: what pip would use (ResolvePackageIndex), found out when
  // the first package is asked for.
  std::string package_index;
  // GitHub's REST API, for searches, and the file that holds a token for it; empty: no token.
  std::string github_api = "https://api.github.com";
  std::string github_token_file;
  // The folder for the ScratchFolder of temporary repositories; empty: the system's temporary
  // folder.
  std::string temp_dir;
  absl::Duration command_timeout = absl::Minutes(15);  // for one git command, download or search
  LowestRate rate;                                     // for all of these except searches
  int64_t git_bytes = int64_t{4} << 30;                // for one git transfer
  int64_t wheel_bytes = int64_t{2} << 30;              // for one wheel
  ContentLimits content;
  TreeLimits tree;
};

// Returns the stages discover, pin and fetch. Errors of all: INVALID_ARGUMENT (the source is
// malformed), NOT_FOUND (the repository, ref, package or path does not exist), PERMISSION_DENIED
// (not allowed here), FAILED_PRECONDITION (wrong hash; over a limit; a program is missing),
// DATA_LOSS (damaged); and, to be retried, UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and
// ABORTED (a local tree changed while it was read).
std::vector<std::unique_ptr<worker::Stage>> NewFetcherStages(const FetcherOptions& options);

// Returns the stage discover, which lists the repositories that a search finds. It asks each time,
// and keeps GitHub's pages in the store to ask for them by their tags. Counters: discover.requests,
// discover.not_modified (of these), discover.repositories, discover.incomplete (pages that may lack
// rows) and discover.out_of_reach (rows that GitHub counts but does not return). Errors: see
// NewFetcherStages.
std::unique_ptr<worker::Stage> NewDiscoverStage(const FetcherOptions& options);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_FETCHER_STAGES_H_
