#include "services/coordinator/adapters/store/owner_name.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::coordinator {
namespace {

constexpr size_t kDigits = 8;

bool IsOwnerName(const std::string& name) {
  return name.size() == kDigits && std::all_of(name.begin(), name.end(), absl::ascii_isxdigit);
}

}  // namespace

absl::StatusOr<std::string> OwnerName(const std::string& data_dir) {
  const std::string path = data_dir + "/owner";
  absl::StatusOr<std::string> kept = ReadFile(path, 1024);
  if (kept.ok() && !IsOwnerName(*kept)) {
    return absl::DataLossError(absl::StrCat(path, ": not ", kDigits, " hexadecimal digits"));
  }
  if (!absl::IsNotFound(kept.status())) return kept;
  std::random_device random;
  const std::string made = absl::StrCat(absl::Hex(random(), absl::kZeroPad8));
  const std::string whole = path + ".new";
  RETURN_IF_ERROR(WriteFile(whole, made));
  if (std::rename(whole.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, path);
  return made;
}

}  // namespace kernelmill::coordinator
