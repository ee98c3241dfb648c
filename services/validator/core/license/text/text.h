#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_TEXT_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "services/validator/core/license/text/evidence.h"

namespace kernelmill::validator {

using spdx::kNoAssertion;
using spdx::SpdxExpression;

// The licences whose full texts stand in a text.
struct TextMatches {
  std::vector<SpdxExpression> licenses;  // in order of appearance, each once
  // Something is nearly a licence that is known, or begins like one: nothing may be concluded.
  bool altered = false;
  Evidence evidence;   // of all that was found, the altered too
  double score = 1;    // the least of the texts'
  size_t covered = 0;  // words that belong to the licences found
  size_t words = 0;    // in all, without copyright lines
  std::string rest;    // the text with blanks in place of the licences
};

// Looks for texts of the SPDX list in `text`, and for phrases of terms that it does not have, such
// as those that take freedoms away again, as LicenseRef- terms.
TextMatches MatchLicenseTexts(absl::string_view text);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_TEXT_H_
