#include "services/validator/core/license/policy.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/spdx/expression.h"

namespace kernelmill::validator {
namespace {

using spdx::LicenseTerm;
using spdx::SpdxExpression;

constexpr const char* kDefaults[] = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC"};

std::string Canonical(absl::string_view term) {
  const absl::StatusOr<SpdxExpression> parsed = SpdxExpression::Parse(term);
  return parsed.ok() ? parsed->ToString() : std::string(term);
}

}  // namespace

LicensePolicy::LicensePolicy(const v1::LicensePolicy& policy)
    : rejects_adapted_(policy.adapted() == v1::ADAPTED_POLICY_REJECT) {
  for (const std::string& id : policy.allow()) allowed_.insert(Canonical(id));
  if (policy.allow().empty()) allowed_.insert(std::begin(kDefaults), std::end(kDefaults));
}

bool LicensePolicy::Allows(absl::string_view expression) const {
  const absl::StatusOr<SpdxExpression> parsed = SpdxExpression::Parse(expression);
  if (!parsed.ok()) return false;
  return parsed->Holds([this](const LicenseTerm& term) {
    if (allowed_.contains(term.id)) return true;
    absl::string_view base = term.id;
    // "GPL-2.0-or-later" may be taken as GPL-2.0-only.
    if (absl::ConsumeSuffix(&base, "-or-later") && allowed_.contains(absl::StrCat(base, "-only"))) {
      return true;
    }
    return !term.exception.empty() &&
           allowed_.contains(absl::StrCat(term.id, " WITH ", term.exception));
  });
}

}  // namespace kernelmill::validator
