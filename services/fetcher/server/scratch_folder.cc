#include "services/fetcher/server/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelmill::fetcher {
namespace {

constexpr char kLock[] = "/fetcher.lock";
constexpr int kTries = 10;

// Removes the folder that `lock` is in, if its process is gone.
void RemoveIfLeft(const std::filesystem::path& folder) {
  const FileDescriptor lock(::open((folder.string() + kLock).c_str(), O_RDWR | O_CLOEXEC));
  if (!lock.is_open()) return;  // not a scratch folder, or not ours to remove
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  LogInfo("removed what a fetcher left behind", {{"folder", folder.string()}});
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
    // Another process may take the file, before it is locked, for one that was left behind.
    if (::flock(scratch.lock_.get(), LOCK_EX | LOCK_NB) == 0 && scratch.Exists()) {
      RemoveLeftovers(std::filesystem::path(scratch.path()).parent_path());
      return scratch;
    }
    if (tries == kTries) return absl::UnavailableError(path + ": cannot be locked");
  }
}

bool ScratchFolder::Exists() const {
  struct stat held, named;
  return ::fstat(lock_.get(), &held) == 0 && ::stat((path() + kLock).c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace kernelmill::fetcher
