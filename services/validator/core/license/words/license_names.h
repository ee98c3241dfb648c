#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_LICENSE_NAMES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_LICENSE_NAMES_H_

#include "absl/types/span.h"

namespace kernelmill::validator {

// A name, as SentenceWords leaves it, and the expression that it means. An id that ends in "*" is a
// family; one that ends in "-?" is a GNU licence whose version follows.
struct LicenseName {
  const char* words;
  const char* id;
};

// What licences are called. Longer names stand before those that they begin with.
absl::Span<const LicenseName> LicenseNames();

// Sentences that give the work away without a name to read.
absl::Span<const LicenseName> Dedications();

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_LICENSE_NAMES_H_
