#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_RESIDUE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_RESIDUE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::validator {

// A sentence or line beside a licence's text that is not known to be harmless.
struct ResidueUnit {
  std::string text;  // as written, with single blanks
  int line = 0;      // from 1
  // It only says under which licence some paths are ("the files in python/x are under Y"): these.
  std::vector<std::string> paths;
  bool harmless = false;  // see FindOtherLicenseFiles
};

// Returns what of `rest` may take away a right or add a duty: all that is not known to be harmless,
// at most 8 units. Harmless are (residue.cc has the words of each):
//   - copyright lines: years, holders, "all rights reserved"
//   - titles of licences, headings, rules, names of files, addresses
//   - lines that name authors, thank somebody or ask for a citation
//   - statements that only say which licence applies, or where its text is
//   - sentences of well-known permissive licences and of `licenses`, such as disclaimers
//   - sentences of plain words that can neither forbid nor require anything
// `licenses`: the SPDX identifiers of the texts that were found. Linear in `rest`.
std::vector<ResidueUnit> FindResidue(absl::string_view rest,
                                     const std::vector<std::string>& licenses);

// Calls `visit` with each sentence that is not known to be harmless, as a whole, line by line or
// clause by clause, and with its line, until it returns false.
void VisitResidue(absl::string_view text, const std::vector<std::string>& licenses,
                  const std::function<bool(absl::string_view, int)>& visit);

// Returns whether words in the place of a holder's name can be one: at most 24, none
// with which a sentence can forbid or require anything.
bool IsNameLike(const std::vector<std::string>& words);

// Returns whether the words change nothing wherever they are put in or left out: articles,
// prepositions, words for the work and its holders.
bool IsNeutral(const std::vector<std::string>& words);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_RESIDUE_H_
