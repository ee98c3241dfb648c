#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_TREE_SELECTION_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_TREE_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/base/glob.h"
#include "services/fetcher/core/selection/snapshot.h"

namespace kernelmill::fetcher {

// Bounds on what a tree can make us hold in memory. A source over one of them fails.
struct TreeLimits {
  int64_t entries = 2'000'000;              // files and folders
  int depth = 512;                          // nested folders
  size_t path_bytes = 4096;                 // one path
  int64_t held_bytes = int64_t{256} << 20;  // all paths that are kept
  // Paths of C++ headers that no glob selects; a tree with more gets none of them.
  size_t header_bytes = 32 << 20;
  size_t licenses = 256;     // the shallowest are kept, metadata last
  size_t requirements = 16;  // files that state requirements
};

// Sorts a tree's files, added in any order, into selected files, licence files, files that state
// requirements and the rest. Not thread-safe.
class TreeSelection {
 public:
  // `globs` must outlive this object.
  TreeSelection(const GlobSet* globs, const TreeLimits& limits) : globs_(globs), limits_(limits) {}

  // Adds a file. FAILED_PRECONDITION: the tree is over a limit.
  absl::Status AddFile(absl::string_view path, EntryKind kind, absl::string_view id);
  // Counts a folder, `depth` folders below the root.
  absl::Status AddFolder(absl::string_view path, int depth);

  // Fills listing.files, .headers, .licenses, .requirements, .unselected and .unasked. A licence
  // file is one with a source_files::Kind that is about the root or an ancestor of a selected file,
  // or one that `always` accepts. May be called once.
  using PathRule = bool (*)(absl::string_view path);
  void Finish(Listing& listing, PathRule always = nullptr);

 private:
  absl::Status Count(absl::string_view path);
  absl::Status Hold(absl::string_view path);
  void HoldHeader(absl::string_view path, absl::string_view id);
  void CountKind(absl::string_view path, bool selected);

  const GlobSet* const globs_;
  const TreeLimits limits_;
  int64_t entries_ = 0;
  int64_t held_bytes_ = 0;
  int64_t unselected_ = 0;
  // Files whose names alone say that they hold code, by the glob of their kind.
  struct KindCount {
    bool selected = false;  // one of them is
    int64_t unasked = 0;
    std::vector<std::string> paths;  // the first by path
  };
  std::map<absl::string_view, KindCount> kinds_;
  std::vector<Entry> files_;
  std::vector<Entry> headers_;
  size_t header_bytes_ = 0;
  std::vector<Entry> candidates_;  // licence files, before Finish selects them
  std::vector<Entry> requirements_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_TREE_SELECTION_H_
