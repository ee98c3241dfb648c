#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FORMS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FORMS_H_

#include "absl/types/span.h"

namespace kernelmill::validator {

// A phrase, as NormalizeWords leaves it, that stands for terms of which the SPDX list has no text.
struct LicensePhrase {
  const char* id;  // LicenseRef- of ours, or an SPDX exception
  const char* phrase;
};
absl::Span<const LicensePhrase> LicensePhrases();

// How licences begin that are often altered, or cut off: where one begins and no text of the list
// follows, nothing may be concluded.
absl::Span<const char* const> LicenseBeginnings();

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FORMS_H_
