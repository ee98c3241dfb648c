#include "common/version/version.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernelmill_version.h"  // written by write_version.cmake

namespace kernelmill {

std::string Version() {
  constexpr absl::string_view kCommit = KERNELMILL_COMMIT;
  if (kCommit.empty()) return KERNELMILL_RELEASE;
  return absl::StrCat(KERNELMILL_RELEASE, " (", kCommit, ")");
}

}  // namespace kernelmill
