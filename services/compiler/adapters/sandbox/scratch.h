#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SCRATCH_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SCRATCH_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace kernelmill::compiler {

struct ScratchUsage {
  int64_t bytes = 0;  // blocks on the disk; a hole takes none
  int entries = 0;    // files, folders, links
  bool hidden =
      false;  // a folder that cannot be read, or lies deeper than kMaxScratchDepth: not counted
  bool gone = false;  // the folder itself, which strangers cannot remove
};

// Deeper folders are not walked; to make one is over the limit.
inline constexpr int kMaxScratchDepth = 64;

// A folder that strangers write to, removed with all that is in it when this object goes. Links in
// it are never followed. It is locked (flock) as long as this object, or the process, lives. What
// has no name any more (a file that is open and removed) is not counted: of A in sandbox.py, which
// may remove nothing, there is none. Movable; not thread-safe.
class Scratch {
 public:
  // A new folder under `parent`, which this process must be able to write to. If this process is
  // root, it is the user's that `uid` is, and the name of the parent must be open to him; and what
  // is there of the same user's, and locked by nobody, was left by a process that was killed, and
  // is removed. A folder is the user's only once it is locked. NOT_FOUND, PERMISSION_DENIED.
  static absl::StatusOr<Scratch> Create(const std::string& parent, uid_t uid);
  Scratch(Scratch&& other) noexcept
      : path_(std::exchange(other.path_, "")), held_(std::move(other.held_)) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const std::string& path() const { return path_; }

  // Stops counting when there are more than `max_entries`.
  ScratchUsage Usage(int max_entries) const;

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
  FileDescriptor held_;
};

// Removes the folder, and follows no link in it. No process may write to it any more.
void RemoveScratch(const std::string& path);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SCRATCH_H_
