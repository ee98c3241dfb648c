#include "common/dataset/kernel_reference.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/config/job_spec.h"

namespace kernelmill::dataset {
namespace {

bool HasId(absl::string_view id, const v1::Kernel& kernel) {
  if (absl::ConsumePrefix(&id, config::kSha256Prefix)) return id == kernel.sha256();
  return id == kernel.id();
}

bool Names(const v1::KernelReference& reference, const std::string& repository,
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

}  // namespace

void KernelReferences::Add(const v1::KernelReference& reference) {
  const std::string& key = reference.path().empty() ? reference.id() : reference.path();
  by_key_[key].push_back(static_cast<uint32_t>(references_.size()));
  references_.push_back(&reference);
}

std::vector<uint32_t> KernelReferences::Naming(const std::string& repository,
                                               const v1::Kernel& kernel) const {
  std::vector<uint32_t> naming;
  if (references_.empty()) return naming;
  const std::string hash = absl::StrCat(config::kSha256Prefix, kernel.sha256());
  for (const std::string* key : {&kernel.id(), &kernel.path(), &hash}) {
    const auto found = by_key_.find(*key);
    if (found == by_key_.end()) continue;
    for (const uint32_t number : found->second) {
      if (Names(*references_[number], repository, kernel)) naming.push_back(number);
    }
  }
  std::sort(naming.begin(), naming.end());
  return naming;
}

}  // namespace kernelmill::dataset
