#ifndef KERNELMILL_CLIENT_COMMANDS_LOCAL_FILES_H_
#define KERNELMILL_CLIENT_COMMANDS_LOCAL_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::client {

// A file of this machine.
struct LocalFile {
  std::string shown;     // as the user wrote it
  std::string absolute;  // without a leading '/'
};

// Returns the files that `paths` name: each file, and every *.py file below each folder, without
// links and hidden folders. Sorted within each folder; each file once. NOT_FOUND: a path does not
// exist.
absl::StatusOr<std::vector<LocalFile>> FindPythonFiles(const std::vector<std::string>& paths);

// Returns the licence files and the metadata files of Python packages in the folders of `files` and
// in every folder above, by absolute path. Below the current folder they are shown relative to it.
std::vector<LocalFile> FindLicenseFiles(const std::vector<LocalFile>& files);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_LOCAL_FILES_H_
