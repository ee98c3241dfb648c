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
  int64_t bytes = 0;    // blocks; holes do not count
  int entries = 0;      // files, folders, links
  bool hidden = false;  // some folder is unreadable or deeper than kMaxScratchDepth; not counted
  bool gone = false;    // the folder itself is missing, which untrusted code cannot do
};

// The depth to which folders are walked. A deeper folder exceeds the limit.
inline constexpr int kMaxScratchDepth = 64;

// A folder that untrusted code writes to, removed with everything in it by the destructor. Links in
// it are never followed. It is locked (flock) as long as this object, or the process, lives. Files
// that are open but already removed are not counted; a kernel's process (A in sandbox.py) cannot
// remove files and so has none. Movable, not thread-safe.
class Scratch {
 public:
  // Creates a folder under `parent`, which this process must be able to write to. If this process
  // is root, the folder gets the owner `uid`, who must be able to pass through the parent. It then
  // first removes folders of that owner that no process has locked: a killed process left them. A
  // folder gets its owner only after it is locked. Errors: NOT_FOUND, PERMISSION_DENIED.
  static absl::StatusOr<Scratch> Create(const std::string& parent, uid_t uid);
  Scratch(Scratch&& other) noexcept
      : path_(std::exchange(other.path_, "")),
        held_(std::move(other.held_)),
        private_(std::move(other.private_)) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const std::string& path() const { return path_; }

  // Says that a private file system is mounted there, with the root `folder`, for Usage().
  void SetPrivate(FileDescriptor folder) { private_ = std::move(folder); }
  bool is_private() const { return private_.is_open(); }

  // Measures the folder. On a disk, stops counting after `max_entries` entries.
  ScratchUsage Usage(int max_entries) const;

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
  FileDescriptor held_;
  FileDescriptor private_;
};

// Removes the folder without following links. No process may still write to it.
void RemoveScratch(const std::string& path);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SCRATCH_H_
