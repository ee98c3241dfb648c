#include "common/toolchains/attempts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/dsl/dialects.h"
#include "common/dsl/names.h"

namespace kernelmill::toolchains {
namespace {

// Returns the name of a kernel's language. A caller that does not say it means Triton.
absl::string_view GetLanguage(const v1::Kernel& kernel) {
  return kernel.dsl().empty() ? dsl::kTriton : absl::string_view(kernel.dsl());
}

// Returns the toolchains of the job that have the kernel's language.
std::vector<const PinnedToolchain*> FindToolchains(const v1::Kernel& kernel,
                                                   const v1::CompileParams& params) {
  std::vector<const PinnedToolchain*> found;
  for (const v1::Toolchain& wanted : params.toolchains()) {
    const PinnedToolchain* const pinned = FindToolchain(wanted.name());
    if (pinned != nullptr && pinned->HasLanguage(GetLanguage(kernel))) found.push_back(pinned);
  }
  return found;
}

}  // namespace

std::vector<Attempt> FindAttempts(const v1::Kernel& kernel, const v1::CompileParams& params) {
  std::vector<Attempt> attempts;
  for (const PinnedToolchain* const pinned : FindToolchains(kernel, params)) {
    Attempt attempt = {pinned, {}};
    for (const std::string& target : params.targets()) {
      if (std::find(pinned->targets.begin(), pinned->targets.end(), target) !=
          pinned->targets.end()) {
        attempt.targets.push_back(target);
      }
    }
    if (!attempt.targets.empty()) attempts.push_back(std::move(attempt));
  }
  return attempts;
}

// The first reason that holds, in the order of the header.
std::string NotAttempted(const v1::Kernel& kernel, const v1::CompileParams& params) {
  if (kernel.form() == v1::KERNEL_FORM_FILE) return "file";
  if (FindToolchains(kernel, params).empty()) return absl::StrCat("dsl:", GetLanguage(kernel));
  if (FindAttempts(kernel, params).empty()) return "target";
  if (dsl::FindDialect(kernel)) return "dialect";
  if (kernel.form() == v1::KERNEL_FORM_TEMPLATE) return "template";
  if (kernel.role() == v1::KERNEL_ROLE_DEVICE) return "role:device";
  if (kernel.role() == v1::KERNEL_ROLE_HOST) return "role:host";
  if (kernel.parse_error()) return "parse_error";
  if (!kernel.self_contained() || kernel.module().empty()) return "not_self_contained";
  return "";
}

}  // namespace kernelmill::toolchains
