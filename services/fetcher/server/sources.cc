// Pinning and fetching, for every kind of source. Pinning answers a question about the world (which
// commit is this branch, which wheel is this version) and is never cached. Fetching is a function
// of the pin: the same pinned source gives the same tree and shards on every machine, so its result
// is. A local folder is the exception in the middle: its pin is a hash over its contents, and the
// fetch checks that the folder still has them.
#include "services/fetcher/server/sources.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/source_spec.h"
#include "common/source_files/content_hash.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/local/local_tree.h"
#include "services/fetcher/adapters/wheel/package_index.h"

namespace kernelmill::fetcher {
namespace {

// The lock of a scratch folder. flock releases it when the process ends in any way, also by
// SIGKILL, so an unlocked folder has no owner.
constexpr char kLock[] = "/fetcher.lock";
constexpr int kTries = 10;

// Removes a scratch folder if its process has ended.
void RemoveIfLeft(const std::filesystem::path& folder) {
  const FileDescriptor lock(::open((folder.string() + kLock).c_str(), O_RDWR | O_CLOEXEC));
  if (!lock.is_open()) return;  // not a scratch folder, or not ours to remove
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  LogInfo("removed the temporary folder of an earlier fetcher", {{"folder", folder.string()}});
}

void RemoveLeftovers(const std::filesystem::path& parent) {
  std::error_code error;
  std::filesystem::directory_iterator entries(parent, error);
  while (!error && entries != std::filesystem::directory_iterator()) {
    RemoveIfLeft(entries->path());
    entries.increment(error);
  }
}

}  // namespace

absl::StatusOr<ScratchFolder> ScratchFolder::Create(const std::string& parent) {
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(TempDir folder, TempDir::Create(parent));
    const std::string path = folder.path() + kLock;
    FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.is_open()) return ErrnoStatus(errno, path);
    ScratchFolder scratch(std::move(folder), std::move(lock));
    // Before the file is locked, another process may take the folder for one that was left, and
    // remove it.
    if (::flock(scratch.lock_.get(), LOCK_EX | LOCK_NB) == 0 && scratch.Exists()) {
      RemoveLeftovers(std::filesystem::path(scratch.path()).parent_path());
      return scratch;
    }
    if (tries == kTries) return absl::UnavailableError(path + ": cannot be locked");
  }
}

// Returns whether the lock's path still leads to the file that this process has locked.
bool ScratchFolder::Exists() const {
  struct stat held, named;
  return ::fstat(lock_.get(), &held) == 0 && ::stat((path() + kLock).c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

absl::StatusOr<GlobSet> CompileGlobs(const v1::Source& source) {
  std::vector<std::string> include(source.include().begin(), source.include().end());
  if (include.empty()) include.emplace_back(job::kDefaultInclude);
  return GlobSet::Compile(include, {source.exclude().begin(), source.exclude().end()});
}

namespace {

// Returns the folder of a local source; null for other sources.
const std::string* LocalFolder(const v1::Source& source) {
  if (source.has_path()) return &source.path();
  return source.has_inductor() ? &source.inductor() : nullptr;
}

TreeOptions GetTreeOptions(const v1::Source& source) {
  return {source.keep(), source.role(), {source.languages().begin(), source.languages().end()}};
}

absl::Status NoOrigin() { return absl::InvalidArgumentError("the source has no origin"); }

}  // namespace

absl::StatusOr<LocalSize> MeasureLocal(const v1::Source& source) {
  if (LocalFolder(source) == nullptr) return absl::InvalidArgumentError("the source is not local");
  ASSIGN_OR_RETURN(const GlobSet globs, CompileGlobs(source));
  ASSIGN_OR_RETURN(const std::unique_ptr<Snapshot> tree,
                   OpenLocalTree(*LocalFolder(source), globs, TreeLimits()));
  LocalSize sum;
  for (const Entry& file : tree->listing().files) {
    if (file.kind != EntryKind::kFile) continue;
    const absl::StatusOr<int64_t> size = tree->Size(file);
    if (!size.ok()) continue;  // it is gone since it was listed
    ++sum.files;
    sum.bytes += *size;
  }
  return sum;
}

// Removes what an earlier process left. If that fails, the first call that needs the folder tries
// again and reports the error.
Sources::Sources(const FetcherOptions& options) : options_(options) { GitSettings().IgnoreError(); }

// The scratch folder is made again if somebody has cleaned up the temporary folder. The old one is
// kept in the list, since fetches that still run in it must not lose their lock.
absl::StatusOr<std::string> Sources::FindScratch() {
  if (scratch_.empty() || !scratch_.back().Exists()) {
    ASSIGN_OR_RETURN(ScratchFolder scratch, ScratchFolder::Create(options_.temp_dir));
    scratch_.push_back(std::move(scratch));
  }
  return scratch_.back().path();
}

absl::StatusOr<GitOptions> Sources::GitSettings() {
  GitOptions git;
  git.local = options_.local;
  git.hosts = options_.hosts;
  git.timeout = options_.command_timeout;
  git.rate = options_.rate;
  git.pack_bytes = options_.git_bytes;
  git.tree = options_.tree;
  git.smart_http = smart_http_;
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(git.temp_dir, FindScratch());
  return git;
}

// The index is looked up when the first package is asked for: a fetcher without packages needs no
// pip.
absl::StatusOr<WheelOptions> Sources::WheelSettings() {
  WheelOptions wheel;
  wheel.hosts = options_.hosts;
  wheel.download_bytes = options_.wheel_bytes;
  wheel.timeout = options_.command_timeout;
  wheel.rate = options_.rate;
  wheel.tree = options_.tree;
  wheel.archive.member_bytes = options_.content.file_bytes;
  absl::MutexLock lock(&mutex_);
  if (index_url_.empty()) {
    ASSIGN_OR_RETURN(index_url_, ResolvePackageIndex(options_.package_index));
  }
  wheel.index_url = index_url_;
  ASSIGN_OR_RETURN(wheel.temp_dir, FindScratch());
  return wheel;
}

// Returns the source with its ref or hash filled in. A pinned source is returned as it is. The
// globs are compiled first, so that a bad one fails before the host is asked.
absl::StatusOr<v1::Source> Sources::Pin(const v1::Source& source, bool require_hashes) {
  ASSIGN_OR_RETURN(const GlobSet globs, CompileGlobs(source));
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
      ASSIGN_OR_RETURN(const WheelPin pin, PinWheel(source.package(), require_hashes, wheel));
      pinned.set_sha256(pin.sha256);
      pinned.set_hash_computed(pin.computed);
      return pinned;
    }
    case v1::Source::kPath:
    case v1::Source::kInductor: {
      ASSIGN_OR_RETURN(const FetchedSource local, ReadLocal(source, globs));
      pinned.set_sha256(source_files::ContentHash(local.tree));
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
                                              options_.content, GetTreeOptions(source)));
  return fetched;
}

// Reads a tree whose hash is not the pinned one a second time. If the second hash is equal, the
// tree has changed since it was pinned (or never was the pinned one), and that is final. If not, it
// is still changing, and may be tried again.
absl::StatusOr<FetchedSource> Sources::FetchLocal(const v1::Source& source,
                                                  const GlobSet& globs) const {
  const std::string shown = JsonString(*LocalFolder(source));
  std::string before;
  for (int reads = 0; reads < 2; ++reads) {
    ASSIGN_OR_RETURN(FetchedSource fetched, ReadLocal(source, globs));
    const std::string hash = source_files::ContentHash(fetched.tree);
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

// INVALID_ARGUMENT: the source is not pinned, since the result of a fetch is cached and must not
// depend on time.
absl::StatusOr<FetchedSource> Sources::Fetch(const v1::Source& source, FetchCache& cache) {
  if (source.origin_case() == v1::Source::ORIGIN_NOT_SET) return NoOrigin();
  if (!job::IsPinned(source)) return absl::InvalidArgumentError("the source is not pinned");
  ASSIGN_OR_RETURN(const GlobSet globs, CompileGlobs(source));
  if (LocalFolder(source) != nullptr) return FetchLocal(source, globs);
  FetchedSource fetched;
  ASSIGN_OR_RETURN(fetched.snapshot, OpenRemote(source, globs, cache));
  ASSIGN_OR_RETURN(fetched.tree, DescribeTree(*fetched.snapshot, job::SourceName(source),
                                              options_.content, GetTreeOptions(source)));
  return fetched;
}

}  // namespace kernelmill::fetcher
