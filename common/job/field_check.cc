// Texts of a job end up in arguments of programs (git), in paths and in terminals. '-' at the
// beginning would be an option, and a control character could hide a part of a message, so both are
// refused everywhere.
#include "common/job/field_check.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"

namespace kernelmill::job {
namespace {

constexpr size_t kMaxText = 4096;

}  // namespace

absl::Status FieldError(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

// The message goes to a terminal, and parts of it may come from the file: control characters and
// broken UTF-8 are replaced.
absl::Status FileError(absl::string_view file, int line, absl::string_view what) {
  std::string message = absl::StrCat(file, ":", std::max(line, 1), ": ", what);
  for (char& c : message) {
    if (absl::ascii_iscntrl(c)) c = '?';
  }
  return absl::InvalidArgumentError(ToUtf8(message));
}

absl::Status CheckText(absl::string_view where, absl::string_view text) {
  if (text.size() > kMaxText)
    return FieldError(where, absl::StrCat("must be at most ", kMaxText, " bytes long"));
  for (const char c : text) {
    if (absl::ascii_iscntrl(c)) return FieldError(where, "must not contain a control character");
  }
  if (!text.empty() && text[0] == '-') return FieldError(where, "must not begin with '-'");
  return absl::OkStatus();
}

// NaN fails both comparisons.
absl::Status CheckShare(absl::string_view where, double share) {
  if (share >= 0 && share <= 1) return absl::OkStatus();
  return FieldError(where, "must be between 0 and 1");
}

}  // namespace kernelmill::job
