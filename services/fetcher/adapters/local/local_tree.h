#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_LOCAL_LOCAL_TREE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_LOCAL_LOCAL_TREE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/glob.h"
#include "services/fetcher/core/selection/snapshot.h"
#include "services/fetcher/core/selection/tree_selection.h"

namespace kernelmill::fetcher {

// Opens a local folder: its files are listed now and read when asked for. No symbolic link below
// the folder is followed, only regular files are opened, and '.git' is skipped. The listing has no
// commit; the source_files::ContentHash() of the tree that DescribeTree makes takes its place.
//
// NOT_FOUND: the folder does not exist; PERMISSION_DENIED: a folder in it may not be read;
// FAILED_PRECONDITION: it is not a folder, or over a limit; ABORTED: it changed while it was
// listed.
absl::StatusOr<std::unique_ptr<Snapshot>> OpenLocalTree(const std::string& folder,
                                                        const GlobSet& globs,
                                                        const TreeLimits& limits);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_LOCAL_LOCAL_TREE_H_
