#ifndef KERNELMILL_SERVICES_FETCHER_CORE_LOCAL_FOLDERS_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_LOCAL_FOLDERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// The folders of this machine that sources may lie in; without any, local sources are refused. "/"
// is everything.
class LocalFolders {
 public:
  LocalFolders() = default;
  explicit LocalFolders(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  bool none() const { return folders_.empty(); }

  // PERMISSION_DENIED: the path, links followed, is in none of the folders. A path that does not
  // exist is judged by the part that does.
  absl::Status Check(absl::string_view path) const;

 private:
  std::vector<std::string> folders_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_LOCAL_FOLDERS_H_
