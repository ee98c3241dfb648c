#include "services/validator/core/license/text/evidence.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "common/base/text.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxText = 200;

}  // namespace

v1::LicenseEvidence MakeEvidence(absl::string_view rule, absl::string_view expression,
                                 absl::string_view text, double score, int first_line,
                                 int last_line) {
  v1::LicenseEvidence evidence;
  evidence.set_rule(std::string(rule));
  evidence.set_expression(ToUtf8(expression));
  evidence.set_text(ToUtf8(text.substr(0, kMaxText)));
  evidence.set_score(std::round(score * 1000) / 1000);
  evidence.set_first_line(first_line);
  evidence.set_last_line(last_line);
  return evidence;
}

void SetPath(absl::string_view path, Evidence* evidence) {
  for (v1::LicenseEvidence& one : *evidence) {
    if (one.path().empty()) one.set_path(ToUtf8(path));
  }
}

void Append(const Evidence& from, Evidence* to) { to->insert(to->end(), from.begin(), from.end()); }

}  // namespace kernelmill::validator
