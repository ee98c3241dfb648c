#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_MATCH_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_MATCH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "common/spdx/text/legal_words.h"

namespace kernelmill::validator {

// Words [begin, end) of a text that are a text of the SPDX list, or nearly.
struct LicenseMatch {
  std::string id;
  size_t begin = 0;
  size_t end = 0;
  // The Sørensen-Dice coefficient of the two texts' words in order: 2 * common / (words of the one
  // + words of the other). What the list leaves open (names, titles, instructions) does not count.
  double score = 0;
  // Too different, or different in what matters: a word like "not" or "commercial" put in, a right
  // taken out.
  bool altered = false;
};

struct LicenseMatches {
  std::vector<LicenseMatch> matches;  // by begin; they do not overlap
  bool exhausted = false;             // too much to compare: what else the text has is not known
};

// Finds the texts of the SPDX list in `words`. Of those that fit the same place, the one that has
// most of its words. Time is linear in the text, plus a bound of about a second.
LicenseMatches MatchTemplates(const std::vector<spdx::LegalWord>& words);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_MATCH_H_
