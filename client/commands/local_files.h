#ifndef KERNELMILL_CLIENT_COMMANDS_LOCAL_FILES_H_
#define KERNELMILL_CLIENT_COMMANDS_LOCAL_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::client {

struct LocalFile {
  std::string shown;     // as the user would write it
  std::string absolute;  // without a leading '/'
};

// The files that `paths` name: files as they are, and of directories every *.py below, links and
// hidden folders aside. Sorted within each directory; each file once. NOT_FOUND: a path is not
// there.
absl::StatusOr<std::vector<LocalFile>> FindPythonFiles(const std::vector<std::string>& paths);

// Files with a licence's name, and what a Python package says of itself, beside one of `files` or
// in a folder above it, by absolute path.
std::vector<LocalFile> FindLicenseFiles(const std::vector<LocalFile>& files);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_LOCAL_FILES_H_
