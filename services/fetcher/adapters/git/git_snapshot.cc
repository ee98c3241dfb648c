#include "services/fetcher/adapters/git/git_snapshot.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/git/git_transfer.h"
#include "services/fetcher/adapters/git/object_database.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::fetcher {
namespace {

class GitSnapshot : public Snapshot {
 public:
  GitSnapshot(std::unique_ptr<GitTransfer> transfer, ObjectDatabase objects)
      : transfer_(std::move(transfer)), objects_(std::move(objects)) {}

  // Lists the commit, which must be there with its trees, and fetches the blobs that are to be
  // read. `cached` as for ObjectDatabase::WalkTree.
  absl::Status Load(const std::string& commit, const ObjectDatabase* cached, const GlobSet& globs,
                    const TreeLimits& limits);

  const Listing& listing() const override { return listing_; }

  absl::Status Bring(const std::vector<Entry>& entries) override {
    std::set<std::string> ids;
    for (const Entry& entry : entries) ids.insert(entry.id);
    return Fetch(ids);
  }

  absl::StatusOr<int64_t> Size(const Entry& entry) override {
    if (missing_.count(entry.id) > 0) return absl::NotFoundError(entry.id);
    return objects_.BlobSize(entry.id);
  }
  absl::StatusOr<std::string> Read(const Entry& entry) override {
    return objects_.ReadBlob(entry.id);
  }

  // A pack for the next fetch: the commit, its trees, the blobs that are read, and those of earlier
  // fetches, for other globs, that the tree still names.
  absl::StatusOr<std::string> Pack() const;

 private:
  std::set<std::string> Wanted() const;
  // Those that are not here yet.
  absl::Status Fetch(const std::set<std::string>& ids);

  const std::unique_ptr<GitTransfer> transfer_;  // holds the files that objects_ reads
  ObjectDatabase objects_;
  Listing listing_;
  ObjectDatabase::Walk walk_;
  std::set<std::string> missing_;
};

// The blobs that are to be read.
std::set<std::string> GitSnapshot::Wanted() const {
  std::set<std::string> wanted;
  for (const std::vector<Entry>* entries :
       {&listing_.files, &listing_.licenses, &listing_.requirements}) {
    for (const Entry& entry : *entries) {
      const bool read = entry.kind == EntryKind::kFile && !IsUnsafePath(entry.path);
      if (read) wanted.insert(entry.id);
    }
  }
  return wanted;
}

absl::Status GitSnapshot::Load(const std::string& commit, const ObjectDatabase* cached,
                               const GlobSet& globs, const TreeLimits& limits) {
  ASSIGN_OR_RETURN(const ObjectDatabase::Commit root, objects_.ReadCommit(commit));
  listing_.commit = commit;
  listing_.commit_time = root.time;
  TreeSelection selection(&globs, limits);
  ASSIGN_OR_RETURN(walk_, objects_.WalkTree(root.tree, cached, selection));
  selection.Finish(listing_);
  listing_.unfiltered = !walk_.new_blob.empty() && objects_.Has(walk_.new_blob);
  return Fetch(Wanted());
}

absl::Status GitSnapshot::Fetch(const std::set<std::string>& ids) {
  std::vector<std::string> lacking;
  for (const std::string& id : ids) {
    if (!objects_.Has(id)) lacking.push_back(id);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> missing, transfer_->FetchObjects(lacking));
  missing_.insert(missing.begin(), missing.end());
  RETURN_IF_ERROR(objects_.Refresh());
  ASSIGN_OR_RETURN(const GitTransfer::Stats stats, transfer_->Measure());
  listing_.bytes_received = stats.bytes;
  listing_.objects_received = stats.objects;
  return absl::OkStatus();
}

absl::StatusOr<std::string> GitSnapshot::Pack() const {
  std::set<std::string> ids = Wanted();
  for (const std::string& id : missing_) ids.erase(id);
  ids.insert(walk_.known.begin(), walk_.known.end());
  ids.insert(walk_.trees.begin(), walk_.trees.end());
  ids.insert(listing_.commit);
  return transfer_->Pack({ids.begin(), ids.end()});
}

absl::StatusOr<std::unique_ptr<GitSnapshot>> Open(const GitUrl& url, const std::string& commit,
                                                  const std::optional<CachedFetch>& cached,
                                                  const GlobSet& globs, const GitOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<GitTransfer> transfer, GitTransfer::Create(url, options));
  std::optional<ObjectDatabase> known;
  if (cached.has_value()) {
    RETURN_IF_ERROR(transfer->AddCached(*cached));
    ASSIGN_OR_RETURN(known, ObjectDatabase::Open(transfer->CachedFolder()));
  }
  if (!known.has_value() || !known->Has(commit)) {
    RETURN_IF_ERROR(
        Annotate(transfer->FetchCommit(commit), absl::StrCat("commit ", ToUtf8(commit))));
  }
  ASSIGN_OR_RETURN(ObjectDatabase objects, ObjectDatabase::Open(transfer->ObjectsFolder()));
  auto snapshot = std::make_unique<GitSnapshot>(std::move(transfer), std::move(objects));
  RETURN_IF_ERROR(
      snapshot->Load(commit, known.has_value() ? &*known : nullptr, globs, options.tree));
  return snapshot;
}

// A cached fetch that was of no use is no reason to fail: whatever went wrong is tried once more
// without it, unless that took the time of a whole command or the server wants to be left alone.
absl::StatusOr<std::unique_ptr<GitSnapshot>> OpenWithCached(
    const GitUrl& url, const std::string& commit, const std::optional<CachedFetch>& cached,
    const GlobSet& globs, const GitOptions& options) {
  absl::StatusOr<std::unique_ptr<GitSnapshot>> snapshot = Open(url, commit, cached, globs, options);
  const absl::Status& failure = snapshot.status();
  if (failure.ok() || !cached.has_value() || absl::IsDeadlineExceeded(failure) ||
      GetRetryAfter(failure).has_value()) {
    return snapshot;
  }
  LogInfo("fetching again without the cached fetch", {{"error", failure.ToString()}});
  return Open(url, commit, std::nullopt, globs, options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Snapshot>> FetchGit(absl::string_view url, const std::string& commit,
                                                   const GlobSet& globs, const GitOptions& options,
                                                   FetchCache* cache) {
  ASSIGN_OR_RETURN(const GitUrl checked, CheckGitUrl(url, options.local));
  const std::optional<CachedFetch> cached = cache == nullptr ? std::nullopt : cache->Load(url);
  ASSIGN_OR_RETURN(std::unique_ptr<GitSnapshot> snapshot,
                   OpenWithCached(checked, commit, cached, globs, options));
  if (cache != nullptr && snapshot->listing().objects_received > 0) {
    absl::StatusOr<std::string> pack = snapshot->Pack();
    if (pack.ok()) {
      cache->Save(url, {commit, *std::move(pack)});
    } else {
      LogInfo("fetch not cached", {{"url", ToUtf8(url)}, {"error", pack.status().ToString()}});
    }
  }
  return std::unique_ptr<Snapshot>(std::move(snapshot));
}

}  // namespace kernelmill::fetcher
