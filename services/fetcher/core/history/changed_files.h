#ifndef KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_CHANGED_FILES_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_CHANGED_FILES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/fetcher/core/history/past_objects.h"

namespace kernelmill::fetcher {

// A regular file that differs between a commit and its first parent.
struct ChangedFile {
  std::string path;
  std::string before;  // the blob's id; empty: the commit adds the file
  std::string after;   // empty: the commit deletes it
};

// A commit of the walk, beside its first parent.
struct HistoryStep {
  std::string commit;
  PastCommit read;
  std::string parent_tree;         // empty: the commit is a root
  std::vector<ChangedFile> files;  // sorted by path
};

// Bounds on what trees can make us hold. A source over one of them fails.
struct DiffLimits {
  int64_t entries = 50'000'000;  // in folders that differ
  int64_t files = 4'000'000;     // changed by all commits
  int depth = 512;               // nested folders
  size_t path_bytes = 4096;
};

// Fills the files of all steps: those that `wanted` accepts and whose blob differs.
//
// The basic idea: all steps go down together, a level of folders at a time. Only folders that
// differ from their parent's are brought, all of a level in one transfer, so that the number of
// transfers is the depth of the deepest changed folder. FAILED_PRECONDITION: a limit is exceeded;
// other errors: as PastObjects.
absl::Status FindChangedFiles(PastObjects& objects,
                              const std::function<bool(absl::string_view path)>& wanted,
                              const DiffLimits& limits, std::vector<HistoryStep>& steps);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_CHANGED_FILES_H_
