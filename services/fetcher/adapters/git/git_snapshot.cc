#include "services/fetcher/adapters/git/git_snapshot.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/git/git_transfer.h"
#include "services/fetcher/adapters/git/object_database.h"
#include "services/fetcher/core/path_policy.h"

namespace kernelmill::fetcher {
namespace {

class GitSnapshot : public Snapshot {
 public:
  GitSnapshot(std::unique_ptr<GitTransfer> transfer, ObjectDatabase objects)
      : transfer_(std::move(transfer)), objects_(std::move(objects)) {}

  absl::Status Load(const std::string& commit, const GlobSet& globs, const TreeLimits& limits);

  const Listing& listing() const override { return listing_; }

  absl::StatusOr<int64_t> Size(const Entry& entry) override {
    if (missing_.count(entry.id) > 0) return absl::NotFoundError(entry.id);
    return objects_.BlobSize(entry.id);
  }
  absl::StatusOr<std::string> Read(const Entry& entry) override {
    return objects_.ReadBlob(entry.id);
  }

 private:
  std::vector<std::string> Wanted() const;

  const std::unique_ptr<GitTransfer> transfer_;  // holds the files that objects_ reads
  ObjectDatabase objects_;
  Listing listing_;
  std::set<std::string> missing_;
};

// The blobs that are to be read and have not come with the trees; each once.
std::vector<std::string> GitSnapshot::Wanted() const {
  std::set<std::string> wanted;
  for (const std::vector<Entry>* entries : {&listing_.files, &listing_.licenses}) {
    for (const Entry& entry : *entries) {
      const bool read = entry.kind == EntryKind::kFile && !IsUnsafePath(entry.path);
      if (read && !objects_.Has(entry.id)) wanted.insert(entry.id);
    }
  }
  return std::vector<std::string>(wanted.begin(), wanted.end());
}

absl::Status GitSnapshot::Load(const std::string& commit, const GlobSet& globs,
                               const TreeLimits& limits) {
  ASSIGN_OR_RETURN(const ObjectDatabase::Commit root, objects_.ReadCommit(commit));
  listing_.commit = commit;
  listing_.commit_time = root.time;
  TreeSelection selection(&globs, limits);
  ASSIGN_OR_RETURN(const std::string some_blob, objects_.WalkTree(root.tree, selection));
  selection.Finish(listing_);
  listing_.unfiltered = !some_blob.empty() && objects_.Has(some_blob);
  ASSIGN_OR_RETURN(const std::vector<std::string> missing, transfer_->FetchObjects(Wanted()));
  missing_.insert(missing.begin(), missing.end());
  RETURN_IF_ERROR(objects_.Refresh());
  ASSIGN_OR_RETURN(const GitTransfer::Stats stats, transfer_->Measure());
  listing_.bytes_received = stats.bytes;
  listing_.objects_received = stats.objects;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Snapshot>> FetchGit(absl::string_view url, const std::string& commit,
                                                   const GlobSet& globs,
                                                   const GitOptions& options) {
  ASSIGN_OR_RETURN(GitUrl checked, CheckGitUrl(url, options.allow_local));
  ASSIGN_OR_RETURN(std::unique_ptr<GitTransfer> transfer,
                   GitTransfer::Create(std::move(checked), options));
  RETURN_IF_ERROR(Annotate(transfer->FetchCommit(commit), absl::StrCat("commit ", ToUtf8(commit))));
  ASSIGN_OR_RETURN(ObjectDatabase objects, ObjectDatabase::Open(transfer->ObjectsFolder()));
  auto snapshot = std::make_unique<GitSnapshot>(std::move(transfer), std::move(objects));
  RETURN_IF_ERROR(snapshot->Load(commit, globs, options.tree));
  return std::unique_ptr<Snapshot>(std::move(snapshot));
}

}  // namespace kernelmill::fetcher
