#ifndef KERNELMILL_COMMON_SPDX_LICENSE_LIST_H_
#define KERNELMILL_COMMON_SPDX_LICENSE_LIST_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::spdx {

// A licence's text, as numbers of words (see LicenseWords); 0 is a wildcard.
struct LicenseTemplate {
  const char* ids;  // all identifiers that the list has this text for, a blank between; the first
                    // stands for the text: the shortest, so "GPL-2.0-only" of the GPL's
  const char16_t* words;
  uint32_t size;
  // Without title and instructions: words [first, last) are the licence.
  uint32_t first;
  uint32_t last;

  absl::string_view id() const {
    const absl::string_view all = ids;
    return all.substr(0, all.find(' '));
  }
};

// Every text of the SPDX licence list, without deprecated identifiers, each once. Generated where
// this is built (generate_list.cc) from the npm package that deploy/fetch_grammars.sh pins.
absl::Span<const LicenseTemplate> LicenseTemplates();

// The words of all texts: word n of a template is LicenseWords()[n - 1].
absl::Span<const char* const> LicenseWords();

// The list's identifiers that are not deprecated, in ASCII order of their lower case.
absl::Span<const char* const> LicenseIds();

}  // namespace kernelmill::spdx

#endif  // KERNELMILL_COMMON_SPDX_LICENSE_LIST_H_
