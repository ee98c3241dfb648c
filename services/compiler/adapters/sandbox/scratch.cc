// The basic idea: untrusted code wrote this folder, and may have prepared it for the worker that
// cleans up: with links to other files, folders without permissions, deep nesting, strange names,
// or huge numbers of files. So every access is relative to an open folder, never follows links, and
// uses constant memory and descriptors.

#include "services/compiler/adapters/sandbox/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelmill::compiler {
namespace {

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

// Opens a folder, never through a link.
Folder OpenFolder(int at, const char* name) {
  const int fd = ::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  Folder folder(fd < 0 ? nullptr : ::fdopendir(fd), &::closedir);
  if (folder == nullptr && fd >= 0) ::close(fd);
  return folder;
}

// Returns the next name other than . and .., or null at the end.
const char* NextName(DIR* folder) {
  while (const dirent* entry = ::readdir(folder)) {
    const absl::string_view name = entry->d_name;
    if (name != "." && name != "..") return entry->d_name;
  }
  return nullptr;
}

// Counts a folder's entries and blocks, recursively up to kMaxScratchDepth.
void Count(DIR* folder, int depth, int max_entries, ScratchUsage& usage) {
  while (const char* name = NextName(folder)) {
    if (++usage.entries > max_entries) return;
    struct stat status;
    if (::fstatat(::dirfd(folder), name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;  // removed meanwhile
    usage.bytes += status.st_blocks * int64_t{512};
    if (!S_ISDIR(status.st_mode)) continue;
    const Folder below = OpenFolder(::dirfd(folder), name);
    if (depth == kMaxScratchDepth || (below == nullptr && errno == EACCES)) usage.hidden = true;
    if (depth < kMaxScratchDepth && below != nullptr)
      Count(below.get(), depth + 1, max_entries, usage);
  }
}

// Makes a folder accessible: untrusted code may have removed its permissions. Skips links, which
// chmod would follow.
void GiveRights(int at, const char* name) {
  struct stat status;
  if (::fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode)) {
    ::fchmodat(at, name, 0700, 0);
  }
}

// Empties the folder `root`/`name`: removes its files and moves its folders to `root` under new
// names. So folders of any depth need no more than two descriptors. Returns false if something is
// left.
bool Flatten(int root, const char* name, int64_t& next_name) {
  GiveRights(root, name);
  const Folder folder = OpenFolder(root, name);
  if (folder == nullptr) return false;
  bool emptied = true;
  while (const char* entry = NextName(folder.get())) {
    if (::unlinkat(::dirfd(folder.get()), entry, 0) == 0) continue;
    GiveRights(::dirfd(folder.get()), entry);  // moving a folder changes its ".."
    const std::string moved = absl::StrCat(".km-", next_name++);
    if (::renameat(::dirfd(folder.get()), entry, root, moved.c_str()) != 0) emptied = false;
  }
  return emptied;
}

// Removes everything in a folder. No process uses it any more, so that nothing changes meanwhile.
void Empty(const std::string& path) {
  int64_t next_name = 0;
  bool progress = true;
  while (progress) {
    const Folder root = OpenFolder(AT_FDCWD, path.c_str());
    if (root == nullptr) return;
    progress = false;
    while (const char* name = NextName(root.get())) {
      const std::string entry = name;
      if (::unlinkat(::dirfd(root.get()), entry.c_str(), 0) == 0 ||
          (Flatten(::dirfd(root.get()), entry.c_str(), next_name) &&
           ::unlinkat(::dirfd(root.get()), entry.c_str(), AT_REMOVEDIR) == 0)) {
        progress = true;
      }
    }
  }
}

constexpr char kPrefix[] = "kernelmill-compile-";

// Removes the user's folders that no process has locked.
void RemoveLeftovers(const std::string& parent, uid_t uid) {
  const Folder folder = OpenFolder(AT_FDCWD, parent.c_str());
  if (folder == nullptr) return;
  while (const char* name = NextName(folder.get())) {
    struct stat status;
    if (!absl::StartsWith(name, kPrefix) ||
        ::fstatat(::dirfd(folder.get()), name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        status.st_uid != uid) {
      continue;
    }
    const Folder left = OpenFolder(::dirfd(folder.get()), name);
    if (left == nullptr || ::flock(::dirfd(left.get()), LOCK_EX | LOCK_NB) != 0) continue;
    const std::string path = absl::StrCat(parent, "/", name);
    LogInfo("removing the scratch folder of a killed compiler", {{"folder", path}});
    RemoveScratch(path);
  }
}

}  // namespace

// Creates an empty folder that belongs to the sandbox's user. The lock says that a process uses it:
// a worker that was killed leaves its folder without a lock, and the next worker that runs as root
// removes it.
absl::StatusOr<Scratch> Scratch::Create(const std::string& parent, uid_t uid) {
  const bool root = ::geteuid() == 0;
  if (root) RemoveLeftovers(parent, uid);
  std::string path = absl::StrCat(parent, "/", kPrefix, "XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return ErrnoStatus(errno, absl::StrCat("cannot create a scratch folder in ", parent));
  }
  Scratch scratch(std::move(path));
  // Locks the folder before the user owns it.
  scratch.held_ =
      FileDescriptor(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!scratch.held_.is_open() || ::flock(scratch.held_.get(), LOCK_EX | LOCK_NB) != 0) {
    return ErrnoStatus(errno, absl::StrCat("cannot lock ", scratch.path()));
  }
  if (root && ::chown(scratch.path().c_str(), uid, static_cast<gid_t>(uid)) != 0) {
    return ErrnoStatus(errno, absl::StrCat("cannot change the owner of ", scratch.path()));
  }
  return scratch;
}

Scratch::~Scratch() {
  if (!path_.empty()) RemoveScratch(path_);
}

void RemoveScratch(const std::string& path) {
  Empty(path);
  ::rmdir(path.c_str());
}

// `gone`: the folder does not exist any more. `hidden`: a part could not be counted.
ScratchUsage Scratch::Usage(int max_entries) const {
  ScratchUsage usage;
  if (is_private()) {
    struct statvfs state;
    // Somebody removed the folder, which takes the file system off it.
    usage.gone = ::access(path_.c_str(), F_OK) != 0;
    if (::fstatvfs(private_.get(), &state) != 0) return usage;
    usage.bytes = static_cast<int64_t>((state.f_blocks - state.f_bfree) * state.f_frsize);
    usage.entries = static_cast<int>(state.f_files - state.f_ffree) - 1;  // the folder itself
    return usage;
  }
  const Folder root = OpenFolder(AT_FDCWD, path_.c_str());
  if (root == nullptr) {
    usage.hidden = errno == EACCES;
    usage.gone = errno == ENOENT;
    return usage;
  }
  Count(root.get(), 1, max_entries, usage);
  return usage;
}

}  // namespace kernelmill::compiler
