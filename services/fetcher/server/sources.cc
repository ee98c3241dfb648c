#include "services/fetcher/server/sources.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/source_spec.h"
#include "services/fetcher/adapters/git/git_pin.h"
#include "services/fetcher/adapters/git/git_snapshot.h"
#include "services/fetcher/adapters/local/local_tree.h"
#include "services/fetcher/adapters/wheel/index_setting.h"

namespace kernelmill::fetcher {
namespace {

absl::StatusOr<GlobSet> GlobsOf(const v1::Source& source) {
  std::vector<std::string> include(source.include().begin(), source.include().end());
  if (include.empty()) include.push_back("**/*.py");
  return GlobSet::Compile(include, {source.exclude().begin(), source.exclude().end()});
}

// The folder that a local source is; null for one that comes from elsewhere.
const std::string* LocalFolder(const v1::Source& source) {
  if (source.has_path()) return &source.path();
  return source.has_inductor() ? &source.inductor() : nullptr;
}

absl::Status NoOrigin() { return absl::InvalidArgumentError("the source has no origin"); }

}  // namespace

// What an earlier process left is cleaned up at once. Should that fail, whoever needs the folder
// tries again and reports it.
Sources::Sources(const FetcherOptions& options) : options_(options) { GitSettings().IgnoreError(); }

absl::StatusOr<GitOptions> Sources::GitSettings() {
  GitOptions git;
  git.local = options_.local;
  git.allow_private = options_.allow_private || !options_.local.none();
  git.timeout = options_.command_timeout;
  git.pack_bytes = options_.git_bytes;
  git.tree = options_.tree;
  git.smart_http = smart_http_;
  absl::MutexLock lock(&mutex_);
  if (scratch_.empty() || !scratch_.back().Exists()) {
    ASSIGN_OR_RETURN(ScratchFolder scratch, ScratchFolder::Create(options_.temp_dir));
    scratch_.push_back(std::move(scratch));
  }
  git.temp_dir = scratch_.back().path();
  return git;
}

absl::StatusOr<WheelOptions> Sources::WheelSettings() {
  WheelOptions wheel;
  wheel.download_bytes = options_.wheel_bytes;
  wheel.timeout = options_.command_timeout;
  wheel.tree = options_.tree;
  wheel.archive.member_bytes = options_.content.file_bytes;
  absl::MutexLock lock(&mutex_);
  if (index_url_.empty()) {
    ASSIGN_OR_RETURN(index_url_, ResolvePackageIndex(options_.package_index));
  }
  wheel.index_url = index_url_;
  return wheel;
}

absl::StatusOr<v1::Source> Sources::Pin(const v1::Source& source) {
  ASSIGN_OR_RETURN(const GlobSet globs, GlobsOf(source));
  v1::Source pinned = source;
  if (job::IsPinned(source)) return pinned;
  switch (source.origin_case()) {
    case v1::Source::kGit: {
      ASSIGN_OR_RETURN(const GitOptions git, GitSettings());
      ASSIGN_OR_RETURN(*pinned.mutable_ref(), PinGit(source.git(), source.ref(), git));
      return pinned;
    }
    case v1::Source::kPackage: {
      ASSIGN_OR_RETURN(const WheelOptions wheel, WheelSettings());
      ASSIGN_OR_RETURN(*pinned.mutable_sha256(), PinWheel(source.package(), wheel));
      return pinned;
    }
    case v1::Source::kPath:
    case v1::Source::kInductor: {
      ASSIGN_OR_RETURN(const FetchedSource local, ReadLocal(source, globs));
      pinned.set_sha256(ContentHash(local.tree));
      return pinned;
    }
    case v1::Source::kDiscover:
    case v1::Source::kList:
    case v1::Source::ORIGIN_NOT_SET:
      break;
  }
  return NoOrigin();
}

absl::StatusOr<FetchedSource> Sources::ReadLocal(const v1::Source& source,
                                                 const GlobSet& globs) const {
  const std::string& folder = *LocalFolder(source);
  RETURN_IF_ERROR(options_.local.Check(folder));
  FetchedSource fetched;
  ASSIGN_OR_RETURN(fetched.snapshot, OpenLocalTree(folder, globs, options_.tree));
  ASSIGN_OR_RETURN(fetched.tree, DescribeTree(*fetched.snapshot, job::SourceName(source),
                                              options_.content, source.keep()));
  return fetched;
}

// A tree that is not the pinned one is read again: one that holds still has changed since, or never
// was the one; one that does not may become it yet.
absl::StatusOr<FetchedSource> Sources::FetchLocal(const v1::Source& source,
                                                  const GlobSet& globs) const {
  const std::string shown = JsonString(*LocalFolder(source));
  std::string before;
  for (int reads = 0; reads < 2; ++reads) {
    ASSIGN_OR_RETURN(FetchedSource fetched, ReadLocal(source, globs));
    const std::string hash = ContentHash(fetched.tree);
    fetched.tree.set_commit(absl::StrCat("sha256:", hash));
    if (hash == source.sha256()) return fetched;
    if (hash == before) {
      return absl::FailedPreconditionError(
          absl::StrCat("wrong hash: ", shown, " has SHA-256 ", hash, ", not ", source.sha256()));
    }
    before = hash;
  }
  return absl::AbortedError(absl::StrCat(shown, ": changed while it was read"));
}

absl::StatusOr<std::unique_ptr<Snapshot>> Sources::OpenRemote(const v1::Source& source,
                                                              const GlobSet& globs,
                                                              FetchCache& cache) {
  if (source.has_git()) {
    ASSIGN_OR_RETURN(const GitOptions git, GitSettings());
    return FetchGit(source.git(), source.ref(), globs, git, &cache);
  }
  ASSIGN_OR_RETURN(const WheelOptions wheel, WheelSettings());
  return FetchWheel(source.package(), source.sha256(), globs, wheel);
}

absl::StatusOr<FetchedSource> Sources::Fetch(const v1::Source& source, FetchCache& cache) {
  if (source.origin_case() == v1::Source::ORIGIN_NOT_SET) return NoOrigin();
  if (!job::IsPinned(source)) return absl::InvalidArgumentError("the source is not pinned");
  ASSIGN_OR_RETURN(const GlobSet globs, GlobsOf(source));
  if (LocalFolder(source) != nullptr) return FetchLocal(source, globs);
  FetchedSource fetched;
  ASSIGN_OR_RETURN(fetched.snapshot, OpenRemote(source, globs, cache));
  ASSIGN_OR_RETURN(fetched.tree, DescribeTree(*fetched.snapshot, job::SourceName(source),
                                              options_.content, source.keep()));
  return fetched;
}

}  // namespace kernelmill::fetcher
