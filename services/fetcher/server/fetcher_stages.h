#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_FETCHER_STAGES_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_FETCHER_STAGES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/worker/stage.h"
#include "services/fetcher/core/assemble.h"
#include "services/fetcher/core/local_folders.h"
#include "services/fetcher/core/selection/tree_selection.h"

namespace kernelmill::fetcher {

struct FetcherOptions {
  // Where `path` and `inductor` sources, file:// URLs and local git repositories may lie; allows
  // private addresses too if there are any.
  LocalFolders local;
  // Allow git hosts at loopback, link-local and private addresses.
  bool allow_private = false;
  // The simple package index's URL; if empty, what pip would use (ResolvePackageIndex), found out
  // when the first package is asked for.
  std::string package_index;
  // GitHub's REST API, for searches, and the file that holds a token for it; empty: none.
  std::string github_api = "https://api.github.com";
  std::string github_token_file;
  // Where to make a ScratchFolder for the temporary repositories; the system's folder if empty.
  std::string temp_dir;
  absl::Duration command_timeout = absl::Minutes(15);  // of one git command, download or search
  int64_t git_bytes = int64_t{4} << 30;                // of one git transfer
  int64_t wheel_bytes = 256 << 20;                     // of one wheel
  ContentLimits content;
  TreeLimits tree;
};

// The stages discover, pin and fetch. Errors of all: INVALID_ARGUMENT (the source is malformed),
// NOT_FOUND (no such repository, ref, package or path), PERMISSION_DENIED (not allowed here),
// FAILED_PRECONDITION (wrong hash; over a limit; a program is missing), DATA_LOSS (damaged); and,
// to be tried again, UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and ABORTED (a local tree
// changed while it was read).
std::vector<std::unique_ptr<worker::Stage>> NewFetcherStages(const FetcherOptions& options);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_FETCHER_STAGES_H_
