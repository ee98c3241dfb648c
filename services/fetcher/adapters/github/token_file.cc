#include "services/fetcher/adapters/github/token_file.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"

namespace kernelmill::fetcher {
namespace {

constexpr int64_t kMaxBytes = 4096;

}  // namespace

absl::StatusOr<std::string> ReadTokenFile(const std::string& path) {
  if (path.empty()) return "";
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxBytes);
  if (!text.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("the token file: ", text.status().message()));
  }
  const std::string token(absl::StripAsciiWhitespace(*text));
  if (!std::all_of(token.begin(), token.end(), absl::ascii_isgraph)) {
    return absl::FailedPreconditionError(absl::StrCat("the token file: ", path, ": is no token"));
  }
  return token;
}

}  // namespace kernelmill::fetcher
