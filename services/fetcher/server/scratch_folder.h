#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_SCRATCH_FOLDER_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_SCRATCH_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace kernelmill::fetcher {

// This process's own folder for temporary repositories. It holds a file that is locked for as long
// as this object, or the process, lives; a folder whose file is not locked was left behind by a
// process that was killed, and whoever makes the next one under the same parent removes it.
// Movable.
class ScratchFolder {
 public:
  // Under `parent`, or the system's temporary folder if that is empty.
  static absl::StatusOr<ScratchFolder> Create(const std::string& parent);

  const std::string& path() const { return folder_.path(); }
  // False once somebody has cleaned it up from under us.
  bool Exists() const;

 private:
  ScratchFolder(TempDir folder, FileDescriptor lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  TempDir folder_;
  FileDescriptor lock_;  // open for as long as the folder is there
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_SCRATCH_FOLDER_H_
