#ifndef KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_PAST_OBJECTS_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_PAST_OBJECTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::fetcher {

struct PastCommit {
  std::string tree;
  std::vector<std::string> parents;
  int64_t author_time = 0;
  int64_t commit_time = 0;
  std::string message;
};

// An entry of a folder at some commit.
struct PastEntry {
  std::string name;
  std::string id;
  bool folder = false;
  bool file = false;  // a regular file
};

// The objects of a repository before the pinned commit, which are transferred when they are asked
// for: the port between WalkHistory and the git adapter. Ids are 40 hexadecimal digits. Objects
// that are here are not transferred again. Not thread-safe.
class PastObjects {
 public:
  virtual ~PastObjects() = default;

  // Brings the commits from `commit` back, at most `depth` generations, without trees and blobs.
  virtual absl::Status BringCommits(const std::string& commit, int depth) = 0;
  // Brings exactly these objects. One that the server lacks is NOT_FOUND when it is read.
  virtual absl::Status BringTrees(const std::vector<std::string>& ids) = 0;
  virtual absl::Status BringBlobs(const std::vector<std::string>& ids) = 0;

  // NOT_FOUND: the object is not here; DATA_LOSS: it is damaged.
  virtual absl::StatusOr<PastCommit> ReadCommit(const std::string& id) = 0;
  virtual absl::StatusOr<std::vector<PastEntry>> ReadTree(const std::string& id) = 0;
  virtual absl::StatusOr<int64_t> BlobSize(const std::string& id) = 0;
  virtual absl::StatusOr<std::string> ReadBlob(const std::string& id) = 0;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_PAST_OBJECTS_H_
