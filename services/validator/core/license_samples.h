#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SAMPLES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SAMPLES_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/validator/core/license_forms.h"
#include "common/spdx/words.h"

namespace kernelmill::validator {

// For tests: a text of the licence's form (its phrases and its length), not the licence itself.
// `extra` is slipped in before its end.
inline std::string SampleText(absl::string_view id, absl::string_view extra = "") {
  for (const LicenseForm& form : LicenseForms()) {
    if (id != form.id) continue;
    std::string body = form.anchor;
    for (const char* phrase : form.has) {
      if (phrase != nullptr) absl::StrAppend(&body, "\n", phrase);
    }
    const bool closed = form.end[0] != '\0';
    const size_t words = closed ? (form.min_words + form.max_words) / 2 : form.max_words;
    for (size_t n = CountWords(NormalizeWords(body)); n < words; ++n)
      absl::StrAppend(&body, "\nfiller");
    return absl::StrCat(body, "\n", extra, "\n", form.end, "\n");
  }
  return "";
}

// As a comment block, a '#' before every line.
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
