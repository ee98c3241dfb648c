#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"

namespace kernelmill::validator {

// The licences whose full texts stand in a text.
struct TextMatches {
  std::vector<SpdxExpression> licenses;  // in order of appearance, each once
  // Something begins like a licence that is known, and goes on differently: nothing may be
  // concluded.
  bool altered = false;
  size_t covered = 0;  // words that belong to the licences found
  std::string rest;    // the other words, normalized
};

// Looks for licence texts in `normalized` (see NormalizeWords). Also finds terms that take freedoms
// away again, such as the Commons Clause, as LicenseRef- terms. Linear in the text's length.
TextMatches MatchLicenseTexts(const std::string& normalized);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_H_
