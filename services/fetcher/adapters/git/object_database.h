#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_OBJECT_DATABASE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_OBJECT_DATABASE_H_

#include <git2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/fetcher/core/history/past_objects.h"
#include "services/fetcher/core/selection/tree_selection.h"

namespace kernelmill::fetcher {

// The objects of a bare repository, read with libgit2 without opening the repository, so that its
// configuration, refs and attributes have no effect. Every object's hash is checked. Ids are 40
// hexadecimal digits. NOT_FOUND: the object does not exist; DATA_LOSS: it is damaged or of another
// type. Not thread-safe.
class ObjectDatabase {
 public:
  struct Commit {
    git_oid tree;
    int64_t time;
  };

  // The objects that a walk over a tree met, besides the files that the selection got.
  struct Walk {
    std::vector<std::string> trees;  // each once
    std::vector<std::string> known;  // the blobs, each once, that the cached fetch has
    std::string new_blob;            // a blob that it does not have; empty: it has all of them
  };

  static absl::StatusOr<ObjectDatabase> Open(const std::string& objects_folder);

  // Returns whether the object was there at the last Refresh (or Open).
  bool Has(const std::string& id) const;
  absl::Status Refresh();

  absl::StatusOr<int64_t> BlobSize(const std::string& id) const;
  absl::StatusOr<std::string> ReadBlob(const std::string& id) const;
  absl::StatusOr<Commit> ReadCommit(const std::string& id) const;
  // Reads a commit with its message and parents, and the entries of one folder.
  absl::StatusOr<PastCommit> ReadPastCommit(const std::string& id) const;
  absl::StatusOr<std::vector<PastEntry>> ReadTree(const std::string& id) const;

  // Adds every file below the tree to the selection, folder by folder. Uses a stack of its own, and
  // holds only the trees of one path's folders in memory at a time, so that a hostile tree cannot
  // exhaust either. `cached` holds the objects of an earlier fetch; null: no such fetch.
  // FAILED_PRECONDITION: the tree is over a limit of the selection.
  absl::StatusOr<Walk> WalkTree(const git_oid& tree, const ObjectDatabase* cached,
                                TreeSelection& selection) const;

 private:
  template <typename T, void (*Free)(T*)>
  struct Freer {
    void operator()(T* object) const { Free(object); }
  };
  using OdbPtr = std::unique_ptr<git_odb, Freer<git_odb, git_odb_free>>;
  using RepositoryPtr = std::unique_ptr<git_repository, Freer<git_repository, git_repository_free>>;
  using TreePtr = std::unique_ptr<git_tree, Freer<git_tree, git_tree_free>>;

  // A folder between the root and the entry that the walk is at.
  struct Frame {
    TreePtr tree;
    size_t next;         // entry
    size_t path_length;  // the folder's path with its '/'
  };

  ObjectDatabase(OdbPtr odb, RepositoryPtr repository);
  using CommitPtr = std::unique_ptr<git_commit, Freer<git_commit, git_commit_free>>;
  absl::StatusOr<CommitPtr> LookupCommit(const std::string& id) const;
  absl::StatusOr<int64_t> CheckedSize(const git_oid& id, git_object_t kind) const;
  absl::StatusOr<TreePtr> LookupTree(const git_oid& id) const;

  OdbPtr odb_;
  RepositoryPtr repository_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_OBJECT_DATABASE_H_
