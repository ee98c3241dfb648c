#include "common/job/field_check.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::job {
namespace {

constexpr size_t kMaxText = 4096;

}  // namespace

absl::Status FieldError(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

absl::Status CheckText(absl::string_view where, absl::string_view text) {
  if (text.size() > kMaxText)
    return FieldError(where, absl::StrCat("longer than ", kMaxText, " bytes"));
  for (const char c : text) {
    if (absl::ascii_iscntrl(c)) return FieldError(where, "has a control character");
  }
  if (!text.empty() && text[0] == '-') return FieldError(where, "begins with '-'");
  return absl::OkStatus();
}

absl::Status CheckShare(absl::string_view where, double share) {
  if (share >= 0 && share <= 1) return absl::OkStatus();
  return FieldError(where, "is not between 0 and 1");
}

}  // namespace kernelmill::job
