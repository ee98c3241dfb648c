#include "services/compiler/adapters/toolchain/environment.h"

#include <unistd.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/toolchains/toolchains.h"

namespace kernelmill::compiler {
namespace {

constexpr int64_t kStampBytes = 1024;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string DefaultToolchainsFolder() {
  const std::string folder = Environment("KERNELMILL_TOOLCHAINS");
  if (!folder.empty()) return folder;
  // Compilers run as another user than root, who cannot look into root's home.
  if (::geteuid() == 0) return "/var/lib/kernelmill/toolchains";
  const std::string cache = Environment("XDG_CACHE_HOME");
  return absl::StrCat(cache.empty() ? Environment("HOME") + "/.cache" : cache,
                      "/kernelmill/toolchains");
}

absl::StatusOr<std::string> FindEnvironment(const std::string& folder,
                                            absl::string_view toolchain) {
  const toolchains::PinnedToolchain* pinned = toolchains::FindToolchain(toolchain);
  if (pinned == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("no toolchain is called ", toolchain));
  }
  const std::string environment = absl::StrCat(folder, "/", toolchain);
  const absl::StatusOr<std::string> stamp = ReadFile(environment + "/.requirements", kStampBytes);
  if (stamp.ok() && absl::StripAsciiWhitespace(*stamp) == pinned->requirements_sha256) {
    return environment;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the toolchain ", toolchain,
                   stamp.ok() ? " is installed from other pins" : " is not installed", " in ",
                   folder, ": deploy/install_toolchains.sh installs it"));
}

}  // namespace kernelmill::compiler
