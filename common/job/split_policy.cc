#include "common/job/split_policy.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/base/url.h"
#include "common/job/field_check.h"

namespace kernelmill::job {
namespace {

// `known`: where each repository was named before, by its key.
absl::Status CheckNames(const std::string& list,
                        const google::protobuf::RepeatedPtrField<std::string>& names,
                        std::map<std::string, std::string>* known) {
  for (int i = 0; i < names.size(); ++i) {
    const std::string where = absl::StrCat("splits.", list, "[", i, "]");
    RETURN_IF_ERROR(CheckText(where, names.Get(i)));
    if (names.Get(i).empty()) return FieldError(where, "is empty");
    const auto [at, added] =
        known->try_emplace(RepositoryKey(names.Get(i)), absl::StrCat(list, "[", i, "]"));
    if (!added) return FieldError(where, absl::StrCat("the same repository as ", at->second));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSplits(const v1::SplitPolicy& policy) {
  RETURN_IF_ERROR(CheckShare("splits.validation", policy.validation()));
  RETURN_IF_ERROR(CheckShare("splits.test", policy.test()));
  if (policy.validation() + policy.test() >= 1) {
    return FieldError("splits", "validation and test leave nothing for train");
  }
  RETURN_IF_ERROR(CheckText("splits.seed", policy.seed()));
  std::map<std::string, std::string> known;
  RETURN_IF_ERROR(CheckNames("validation_repositories", policy.validation_repositories(), &known));
  return CheckNames("test_repositories", policy.test_repositories(), &known);
}

bool Divides(const v1::SplitPolicy& policy) {
  return policy.validation() > 0 || policy.test() > 0 ||
         !policy.validation_repositories().empty() || !policy.test_repositories().empty();
}

}  // namespace kernelmill::job
