#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SAMPLES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SAMPLES_H_

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/spdx/license_list.h"

namespace kernelmill::validator {

// Returns, for tests, the SPDX list's text of a licence as its words in lines of ten. `extra` is
// inserted in its middle.
inline std::string SampleText(absl::string_view id, absl::string_view extra = "") {
  for (const spdx::LicenseTemplate& text : spdx::LicenseTemplates()) {
    if (text.id() != id) continue;
    std::string sample;
    for (size_t i = 0; i < text.last; ++i) {
      if (i == text.last / 2) absl::StrAppend(&sample, extra, " ");
      absl::StrAppend(&sample, text.words[i] == 0 ? "X" : spdx::LicenseWords()[text.words[i] - 1],
                      i % 10 == 9 ? "\n" : " ");
    }
    return sample + "\n";
  }
  return "";
}

// Returns a text as a comment block, with '#' before every line.
inline std::string Commented(absl::string_view text) {
  std::string commented = "# ";
  for (const char c : text) {
    commented.push_back(c);
    if (c == '\n') commented += "# ";
  }
  return commented + "\n";
}

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SAMPLES_H_
