#ifndef KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_WALK_HISTORY_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_WALK_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/history.pb.h"
#include "services/fetcher/core/history/changed_files.h"
#include "services/fetcher/core/history/past_objects.h"
#include "services/fetcher/core/selection/support_files.h"

namespace kernelmill::fetcher {

// Bounds on a history. Beyond `versions` and `bytes` older commits are left out, so that the result
// is a function of the repository and these options.
struct HistoryLimits {
  size_t versions = 50'000;            // versions of files
  int64_t bytes = int64_t{256} << 20;  // all versions together
  int64_t file_bytes = 4 << 20;        // one version; a larger one is lost
  size_t probes = 50'000;
  size_t message_bytes = 64 << 10;  // a message, which is cut there
  DiffLimits diff;
  SupportLimits imported;
};

// The question to a history.
struct HistoryRequest {
  std::string commit;  // the pinned one
  int depth = 0;       // commits, along first parents
  int64_t since = 0;   // seconds since 1970: no commit before it; 0: no such time
  // Say whether a file's history is read, and whether it may be imported: more files may.
  std::function<bool(absl::string_view path)> wanted, importable;
  std::vector<std::string> at_head;  // the paths that may hold kernels at the pinned commit
  // The ids of the files at the pinned commit that may be imported or included, by path.
  std::map<std::string, std::string> importable_files;
  std::vector<std::string> license_files;  // in the root at the pinned commit
};

// A version of a file, to be put into a shard.
struct VersionRef {
  std::string id;
  std::string path;
  int64_t bytes = 0;
};

struct WalkedHistory {
  v1::HistoryIndex index;
  std::vector<VersionRef> versions;  // sorted by id; their blobs are here
  int64_t version_bytes = 0;         // of the kernels' files
  int64_t imported_bytes = 0;        // of the files in `versions` that only others import
};

// Walks from the pinned commit back along first parents, and brings the commits, the folders that
// differ, both sides of the files that may hold kernels (FollowedFiles), and what these import
// (ImportedFiles), but nothing else.
// Errors: as PastObjects and FindChangedFiles.
absl::StatusOr<WalkedHistory> WalkHistory(PastObjects& objects, const HistoryRequest& request,
                                          const HistoryLimits& limits);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_WALK_HISTORY_H_
