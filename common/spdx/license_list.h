#ifndef KERNELMILL_COMMON_SPDX_LICENSE_LIST_H_
#define KERNELMILL_COMMON_SPDX_LICENSE_LIST_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::spdx {

// A licence's text as the numbers of its words (see LicenseWords); 0 is a wildcard.
struct LicenseTemplate {
  // All identifiers of this text, separated by blanks. The first, which is the shortest, stands for
  // the text: "GPL-2.0-only" for the GPL's.
  const char* ids;
  const char16_t* words;
  uint32_t size;
  // The licence without its title and instructions: words [first, last).
  uint32_t first;
  uint32_t last;

  absl::string_view id() const {
    const absl::string_view all = ids;
    return all.substr(0, all.find(' '));
  }
};

// Returns every text of the SPDX licence list once, without those of deprecated identifiers.
// Generated when this is built (generate_list.cc) from the npm package that
// deploy/fetch_grammars.sh pins.
absl::Span<const LicenseTemplate> LicenseTemplates();

// Returns the words of all texts: word n of a template is LicenseWords()[n - 1].
absl::Span<const char* const> LicenseWords();

// Returns the identifiers of the list, without deprecated ones, in ASCII order of their lower case.
absl::Span<const char* const> LicenseIds();

}  // namespace kernelmill::spdx

#endif  // KERNELMILL_COMMON_SPDX_LICENSE_LIST_H_
