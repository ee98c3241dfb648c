#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_LOCAL_LOCAL_TREE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_LOCAL_LOCAL_TREE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/glob.h"
#include "services/fetcher/core/selection/snapshot.h"
#include "services/fetcher/core/selection/tree_selection.h"

namespace kernelmill::fetcher {

// The files below a local folder, listed now and read when asked for. No symbolic link below the
// folder is followed, nothing but regular files is opened, and what '.git' holds is passed over.
// The listing has no commit: ContentHash() of what DescribeTree makes of the snapshot names the
// tree.
//
// NOT_FOUND: no such folder; PERMISSION_DENIED: a folder in it may not be read;
// FAILED_PRECONDITION: not a folder, or over a limit; ABORTED: it changed while it was listed.
absl::StatusOr<std::unique_ptr<Snapshot>> OpenLocalTree(const std::string& folder,
                                                        const GlobSet& globs,
                                                        const TreeLimits& limits);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_LOCAL_LOCAL_TREE_H_
