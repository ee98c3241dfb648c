#ifndef KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_FOLLOWED_FILES_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_FOLLOWED_FILES_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/history.pb.h"
#include "services/fetcher/core/history/changed_files.h"

namespace kernelmill::fetcher {

// Which files of a history may hold kernels, without reading all of them.
//
// The basic idea: a file that may hold a kernel at the pinned commit is followed back to the commit
// that adds it, through moves that leave its content as it is. A question that such a walk cannot
// answer is asked by reading one content for each file (a probe): a file that a commit deletes; and
// the others that a commit changes where it adds a followed file, since a kernel may have come from
// one of them. A probe that may hold a kernel is followed from there on. A file far from all that
// are followed is not probed, unless its path speaks of kernels: of some 560 such probes in
// eight repositories none held one. Nor is one of another top folder than the new files: in twelve
// repositories none of 312 handed a kernel over, and 4 of 1,408 others did. A kernel that was taken
// out of a file which stays, without going into a new file, is not found.
class FollowedFiles {
 public:
  // `steps`: the newest first. Must outlive this object.
  FollowedFiles(const std::vector<HistoryStep>& steps, const std::vector<std::string>& at_head)
      : steps_(steps), at_head_(at_head.begin(), at_head.end()) {}

  // Walks from the newest step to the oldest, and keeps what it selects. Returns the blobs that
  // have to be probed before the walk is complete, in order; empty: it is.
  std::vector<std::string> Walk();

  // Notes whether the probed blob may hold a kernel.
  void AddProbe(const std::string& id, bool marked) { probed_[id] = marked; }

  // Returns by step the files of the last walk.
  const std::vector<std::vector<v1::HistoryFile>>& selected() const { return selected_; }
  size_t probes() const { return probed_.size(); }

 private:
  // The other files that are probed where a commit adds a followed file.
  static constexpr size_t kMostProbed = 64;

  // Notes a path that is followed from here on.
  void Add(const std::string& path);
  // Says whether a path's folder has followed files, or is above, below or beside such a folder.
  bool IsNear(absl::string_view path) const;
  void Want(const std::string& id);
  bool WasMarked(const ChangedFile& file);
  // Wants the probes of files beside new ones: a file's newest and oldest, and those between only
  // if one of the two may hold a kernel. An __init__.py is beside every new file.
  void WantBeside();
  void WalkStep(size_t index);

  const std::vector<HistoryStep>& steps_;
  const absl::flat_hash_set<std::string> at_head_;
  absl::flat_hash_map<std::string, bool> probed_;
  std::vector<std::vector<v1::HistoryFile>> selected_;
  absl::flat_hash_set<std::string> live_;  // paths that are followed, as they are named at the step
  absl::flat_hash_set<std::string> folders_;                // that have had followed files
  absl::flat_hash_set<std::string> above_;                  // those and all folders above them
  absl::flat_hash_set<std::string> parents_;                // the folders right above them
  std::map<std::string, std::vector<std::string>> beside_;  // the probes by path, the newest first
  std::vector<std::string> wanted_;
  absl::flat_hash_set<std::string> wanted_set_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_FOLLOWED_FILES_H_
