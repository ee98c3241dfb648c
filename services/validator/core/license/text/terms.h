#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_TERMS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_TERMS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/validator/core/license/text/residue.h"

namespace kernelmill::validator {

// Sentences about what may be done with a work, in texts that are mostly about something else.

// Returns the sentences of a file's comments that speak of what may be done with the work, and are
// not known to be harmless, at most 8. Other sentences describe code. `prose`: whether a line is
// more likely about code, as those of a docstring are; there a sentence must state terms.
std::vector<ResidueUnit> FindTermsInComments(absl::string_view comments,
                                             const std::vector<std::string>& licenses,
                                             const std::function<bool(int)>& prose);

// Returns the sentences that forbid something or limit it to a purpose, at most 8. `prose`: only
// those in a section about the licence, or that speak of a licence.
std::vector<ResidueUnit> FindRestrictions(absl::string_view text, bool prose);

// Returns the sentences that speak of training models with the work, at most 8.
std::vector<ResidueUnit> FindTrainingTerms(absl::string_view text);

// Returns the sentences that speak of the folder that the text is in, at most 8.
std::vector<ResidueUnit> FindStatementsOfFolder(absl::string_view text);

// Returns whether a sentence that names a licence may take something of it back. `prose`: see
// FindTermsInComments.
bool LimitsLicense(absl::string_view sentence, bool prose);

// Returns what such a sentence says: "forbidden", "limited" or "permitted"; empty for other
// sentences.
absl::string_view GetTrainingUse(absl::string_view sentence);

// Returns the paragraphs of comments that refer to a licence file which is not simply the source's
// LICENSE: COPYRIGHT, LICENSE.bsd. `paths` has the names, `text` the notice that names the first of
// them, without copyright lines. `harmless`: the paragraph says nothing that FindResidue finds.
std::vector<ResidueUnit> FindOtherLicenseFiles(absl::string_view comments,
                                               const std::vector<std::string>& licenses);

// Returns whether a sentence names such a file.
bool NamesLicenseFile(absl::string_view sentence);

// Returns whether a sentence names a licence, known or not: "under the terms of the X License".
bool NamesLicense(absl::string_view sentence);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_TERMS_H_
