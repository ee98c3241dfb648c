#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_MATCH_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_MATCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/spdx/text/words.h"

namespace kernelmill::validator {

// A run of words that two texts share: a[at_a, at_a + size) equals b[at_b, at_b + size).
struct EqualRun {
  size_t at_a = 0;
  size_t at_b = 0;
  size_t size = 0;
};

// Bounds on a comparison: words inserted or deleted, and the work of all comparisons together.
struct DiffLimits {
  size_t edits = 0;
  size_t steps = 0;
};

// Appends the equal runs of a shortest edit script from `a` to `b`, in order. Returns false if that
// takes more edits than the limit. Adds the work to *steps, about limits.edits^2 at most, and also
// returns false once that exceeds limits.steps.
bool DiffWords(absl::Span<const uint16_t> a, absl::Span<const uint16_t> b, const DiffLimits& limits,
               size_t* steps, std::vector<EqualRun>* runs);

// Words [begin, end) of a text.
struct WordRange {
  size_t begin = 0;
  size_t end = 0;
};

// Words [begin, end) of a text that are a text of the SPDX list, or nearly.
struct LicenseMatch {
  std::string id;
  size_t begin = 0;
  size_t end = 0;
  // The Sørensen-Dice coefficient of the two texts' words in order: 2 * common / (words of one +
  // words of the other). Words that the list leaves open (names, titles, instructions) do not
  // count.
  double score = 0;
  // Too different, or words of the licence are left out or replaced by others that may change it.
  bool altered = false;
  // For an altered text: the first words of the licence that are missing, and those in their place.
  std::string change;
  // Words put in between [begin, end) that the caller has to judge (FindResidue), as ranges.
  std::vector<WordRange> inserted;
  // Words put into the title or the instructions: they are beside the licence.
  std::vector<WordRange> beside;
};

struct LicenseMatches {
  std::vector<LicenseMatch> matches;  // by begin; they do not overlap
  bool exhausted = false;             // too much to compare: the text may have more licences
};

// Finds the texts of the SPDX list in `words`. If several fit the same place, the one that shares
// most words wins. Takes time linear in the text, plus a bounded amount of about a second.
LicenseMatches MatchTemplates(const std::vector<spdx::LegalWord>& words);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_MATCH_H_
