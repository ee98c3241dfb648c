#include "client/catalog/web/site_file.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::client {

absl::Status WriteSiteFile(const std::string& site, absl::string_view path,
                           absl::string_view content) {
  if (content.size() > kMaxSiteFile) {
    return absl::InternalError(absl::StrCat(path, " would have ", content.size(),
                                            " bytes, more than a file of a site may"));
  }
  const std::filesystem::path file = absl::StrCat(site, "/", path);
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) return ErrnoStatus(error.value(), file.parent_path().string());
  FileDescriptor descriptor(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) return ErrnoStatus(errno, file.string());
  RETURN_IF_ERROR(WriteAll(descriptor.get(), content, file.string()));
  return descriptor.Close() == 0 ? absl::OkStatus() : ErrnoStatus(errno, file.string());
}

}  // namespace kernelmill::client
