#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_TEXT_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/validator/core/license/text/residue.h"

namespace kernelmill::validator {

// The places that say something about a licence, in the order in which they were found.
using Evidence = std::vector<v1::LicenseEvidence>;

// Lines of a file, both included, from 1; 0 if there are no lines.
struct LineRange {
  int first = 0;
  int last = 0;
};

// Makes the evidence for something that a rule recognized (LicenseEvidence lists the rules). At
// most 200 bytes of `text` are kept.
v1::LicenseEvidence MakeEvidence(absl::string_view rule, absl::string_view expression,
                                 absl::string_view text, double score, LineRange lines = {});

// Sets the path of evidence that has none; bytes that are not UTF-8 are replaced.
void SetPath(absl::string_view path, Evidence* evidence);

void Append(const Evidence& from, Evidence* to);

// The licence of words beside a known one that are not known to be harmless.
inline constexpr char kAdditionalTerms[] = "LicenseRef-AdditionalTerms";

using spdx::kNoAssertion;
using spdx::SpdxExpression;

// The licences whose full texts a text contains.
struct TextMatches {
  // In order of appearance, each once. A text of the list with other words put in or taken out is
  // LicenseRef-ID-altered.
  std::vector<SpdxExpression> licenses;
  // The text has something that begins like a known licence. Nothing may be concluded.
  bool altered = false;
  Evidence evidence;                // for everything that was found, altered texts too
  double score = 1;                 // the lowest score of the texts
  size_t covered = 0;               // words that belong to the licences found
  size_t words = 0;                 // all words, without copyright lines
  std::vector<ResidueUnit> scoped;  // statements inside licences that are about some paths
  std::string rest;                 // the text with blanks in place of the licences
};

// Looks for texts of the SPDX list in `text`, and, as LicenseRef- terms, for phrases of terms that
// the list does not have, such as those that take freedoms away again.
TextMatches MatchLicenseTexts(absl::string_view text);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_TEXT_H_
