#ifndef KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_IMPORTED_FILES_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_IMPORTED_FILES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cpp/include_paths.h"
#include "common/python/module_paths.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/history.pb.h"
#include "services/fetcher/core/history/changed_files.h"
#include "services/fetcher/core/history/needed_imports.h"
#include "services/fetcher/core/history/past_objects.h"
#include "services/fetcher/core/selection/support_files.h"

namespace kernelmill::fetcher {

// The files that versions of kernel files import or include, each as it is at the version's commit.
//
// The basic idea: a commit's files are those of the pinned commit with the changes of all newer
// commits taken back, so no further tree is needed. A walk goes from each version to the files of
// which its kernels need names (NeededImports), and from these to further ones; in C++ to each file
// that an #include means (cpp::IncludePaths). All walks go on
// together, a level at a time: what they lack is brought in one transfer, and they begin anew.
// Files beyond the bounds (SupportLimits) are left out: the farther ones first, then the older.
class ImportedFiles {
 public:
  struct Version {
    std::string path, id;
    size_t side = 0;  // 0: the pinned commit; i: the commit before step i - 1
  };

  // Says whether files of such a path may be imported or included.
  static bool MayBe(absl::string_view path);

  // `head`: the ids of such files at the pinned commit, by path. `steps`: all changes of them, the
  // newest first.
  ImportedFiles(PastObjects& objects, std::map<std::string, std::string> head,
                const std::vector<HistoryStep>& steps, const SupportLimits& limits);

  // Finds what the versions import, and brings it. They are here, in ascending order of their
  // sides, and have so many bytes together. Once. Errors are those of PastObjects and the parser.
  absl::Status Bring(const std::vector<Version>& versions, int64_t bytes);

  // Returns what a version imports: places in `files`, ascending.
  const std::vector<int32_t>& GetPlaces(const std::string& path, size_t side) const;

  // All imported files, sorted by path, then by id.
  const std::vector<v1::ImportedFile>& files() const { return files_; }
  // The blobs that were brought for them, each with a path and its size, by id.
  const std::map<std::string, std::pair<std::string, int64_t>>& blobs() const { return blobs_; }

 private:
  using Names = std::optional<std::set<std::string>>;  // without a value: all names
  using Asked = std::map<std::string, Names>;          // of a file, by path
  using PathAndId = std::pair<std::string, std::string>;
  // A path that a step adds or deletes.
  struct Turn {
    std::string path;
    bool was_there;
  };
  struct Walked {
    std::set<PathAndId> files;
    std::vector<PathAndId> lacking;
  };

  // Returns the blob of a path at a side; empty: the file is not there.
  std::string FindId(const std::string& path, size_t side) const;
  // Goes to the paths at a side that is not before the last one.
  void GoTo(size_t side);
  // How imports and includes find the paths of the side.
  const python::ModulePaths& GetModulePaths();
  const cpp::IncludePaths& GetIncludePaths();
  void GoToHead();
  // Returns the names in a text's #include lines; null: it is not here.
  absl::StatusOr<const std::vector<cpp::IncludeName>*> ReadIncludes(const std::string& id);
  // Returns what a text needs; null: it is no Python that can be read; nullopt: it is not here.
  absl::StatusOr<std::optional<const NeededImports*>> Read(const std::string& id);
  // Walks from a version as far as texts are here.
  absl::StatusOr<Walked> Walk(const Version& version);
  absl::StatusOr<Walked> WalkIncludes(const Version& version);
  // Asks the files that the imports load. Files that are asked for more names go into `open`.
  void Follow(const std::string& importer, const Needed& needed, Asked& asked,
              std::vector<std::string>& open);
  // Adds each __init__.py that makes a package of a folder around the files.
  void AddPackages(const Version& version, std::set<PathAndId>& files) const;
  absl::Status BringLacking(const std::vector<PathAndId>& lacking);
  void SetPlaces(const std::vector<Version>& versions, const std::vector<Walked>& walks);

  PastObjects& objects_;
  const std::map<std::string, std::string> head_;
  const SupportLimits limits_;
  const python::StandardParser parser_;
  // By path, the steps that change it, ascending, each with the blob before it.
  absl::flat_hash_map<std::string, std::vector<std::pair<size_t, std::string>>> before_;
  std::vector<std::vector<Turn>> turns_;  // by step
  // The place of the walks: a side, its paths, and how imports load these.
  size_t side_ = 0;
  std::set<std::string> paths_;
  std::optional<python::ModulePaths> module_paths_;
  std::vector<std::string> include_names_;  // the paths that include_paths_ has
  std::optional<cpp::IncludePaths> include_paths_;
  absl::flat_hash_map<std::string, std::unique_ptr<NeededImports>> read_;  // by id
  absl::flat_hash_map<std::string, std::unique_ptr<const std::vector<cpp::IncludeName>>>
      includes_;                               // by id
  absl::flat_hash_set<std::string> here_;      // ids of versions and of `blobs_`
  absl::flat_hash_set<std::string> left_out_;  // ids
  int64_t left_ = 0;                           // bytes that may still be brought
  std::map<std::string, std::pair<std::string, int64_t>> blobs_;
  std::vector<v1::ImportedFile> files_;
  std::map<std::pair<std::string, size_t>, std::vector<int32_t>> places_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_IMPORTED_FILES_H_
