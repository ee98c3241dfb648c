#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FORMS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FORMS_H_

#include <cstddef>

#include "absl/types/span.h"

namespace kernelmill::validator {

// How to tell a licence's text: see license_text.cc. Phrases are written as NormalizeWords leaves
// them.
struct LicenseForm {
  const char* id;      // an SPDX identifier or exception
  const char* anchor;  // how it begins, at the latest; shared by its relatives
  const char* end;     // the phrase before which it ends; empty: it ends after max_words
  size_t min_words;    // from anchor to end
  size_t max_words;
  const char* has[3];    // phrases in it; null where there are fewer
  const char* lacks[2];  // phrases not in it
};

// All forms known. Those with the same anchor stand together, special ones before general ones.
absl::Span<const LicenseForm> LicenseForms();

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FORMS_H_
