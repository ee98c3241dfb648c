#include "services/validator/core/license/tree/others_notices.h"

#include <algorithm>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/source_files/source_files.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/tree/license_file.h"
#include "services/validator/core/license/words/origins.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxBytes = 2 << 20;  // of all texts
constexpr size_t kMaxKnown = 4096;
constexpr int kNoticeLines = 2;

bool IsNoticeOrLicense(absl::string_view path) {
  const source_files::Kind kind = source_files::KindOf(path);
  return kind == source_files::Kind::kLicense || kind == source_files::Kind::kLicenseText ||
         kind == source_files::Kind::kNotice;
}

}  // namespace

bool OthersNotices::Cover(const v1::Adaptation& adaptation, const v1::License& license) {
  const bool holds = absl::c_any_of(license.copyrights(), [&](absl::string_view line) {
    return NamesOrigin(line, adaptation.origin());
  });
  const bool says = absl::c_any_of(license.found(), [&](const v1::LicenseEvidence& found) {
    if (found.expression().empty() || found.path() != adaptation.path()) return false;
    const int after = found.rule() == "notice" ? kNoticeLines : 0;
    return found.first_line() <= adaptation.line() + after &&
           adaptation.line() <= found.last_line();
  });
  return holds || says || TreeNames(adaptation.origin());
}

bool OthersNotices::TreeNames(const std::string& origin) {
  if (!read_) {
    read_ = true;
    for (const v1::SourceFile& file : tree_.license_files()) {
      if (words_.size() > kMaxBytes) break;
      if (!IsNoticeOrLicense(file.path())) continue;
      const absl::string_view text = absl::string_view(file.content()).substr(0, kMaxLicenseBytes);
      absl::StrAppend(&words_, spdx::NormalizeWords(file.path()), spdx::NormalizeWords(text));
    }
    words_.resize(std::min(words_.size(), kMaxBytes));
  }
  const auto known = known_.find(origin);
  if (known != known_.end()) return known->second;
  if (known_.size() == kMaxKnown) return false;
  return known_[origin] = HaveOneOf(words_, NamesOf(origin));
}

}  // namespace kernelmill::validator
