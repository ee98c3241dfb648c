#include "common/manifest/kernel_reference.h"

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/job/review_list.h"

namespace kernelmill::manifest {
namespace {

bool HasId(absl::string_view id, const v1::Kernel& kernel) {
  if (absl::ConsumePrefix(&id, job::kSha256Prefix)) return id == kernel.sha256();
  return id == kernel.id();
}

}  // namespace

bool NamesKernel(const v1::KernelReference& reference, const std::string& repository,
                 const v1::Kernel& kernel) {
  if (!reference.repository().empty() && reference.repository() != repository) return false;
  if (!reference.id().empty() && !HasId(reference.id(), kernel)) return false;
  if (!reference.path().empty() && reference.path() != kernel.path()) return false;
  if (!reference.name().empty() && reference.name() != kernel.name() &&
      reference.name() != kernel.qualname()) {
    return false;
  }
  const int line = reference.line();
  return line == 0 || (kernel.first_line() <= line && line <= kernel.last_line());
}

}  // namespace kernelmill::manifest
