#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_TREE_SELECTION_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_TREE_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/base/glob.h"
#include "services/fetcher/core/selection/snapshot.h"

namespace kernelmill::fetcher {

// Bounds on what a tree may make us hold. Over one of them the source fails.
struct TreeLimits {
  int64_t entries = 2'000'000;              // files and folders
  int depth = 512;                          // folders in folders
  size_t path_bytes = 4096;                 // of one path
  int64_t held_bytes = int64_t{256} << 20;  // of all paths that are kept
  size_t header_bytes = 32 << 20;  // of paths of C++ headers that no glob names; over it: none
  size_t licenses = 256;           // the shallowest are kept, metadata last
  size_t requirements = 16;        // files that state some
};

// Sorts a tree's files, met in any order, into those to take, licence files, those that state
// requirements and the rest. Not thread-safe.
class TreeSelection {
 public:
  // `globs` must outlive this object.
  TreeSelection(const GlobSet* globs, const TreeLimits& limits) : globs_(globs), limits_(limits) {}

  // FAILED_PRECONDITION: the tree is over a limit.
  absl::Status AddFile(absl::string_view path, EntryKind kind, absl::string_view id);
  // Counts a folder, `depth` folders below the root.
  absl::Status AddFolder(absl::string_view path, int depth);

  // Fills listing.files, .headers, .licenses, .requirements and .unselected. Licence files are
  // those with a source_files::Kind which are about the root or an ancestor of a taken file, or any
  // that `always` names. Call once.
  using PathRule = bool (*)(absl::string_view path);
  void Finish(Listing& listing, PathRule always = nullptr);

 private:
  absl::Status Count(absl::string_view path);
  absl::Status Hold(absl::string_view path);
  void HoldHeader(absl::string_view path, absl::string_view id);

  const GlobSet* const globs_;
  const TreeLimits limits_;
  int64_t entries_ = 0;
  int64_t held_bytes_ = 0;
  int64_t unselected_ = 0;
  std::vector<Entry> files_;
  std::vector<Entry> headers_;
  size_t header_bytes_ = 0;
  std::vector<Entry> candidates_;  // for licences
  std::vector<Entry> requirements_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_TREE_SELECTION_H_
