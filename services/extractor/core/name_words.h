#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_NAME_WORDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_NAME_WORDS_H_

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// "_words_of_a_name_", in small letters; capitals within a word begin one of their own. What is
// looked for in it may begin or end with '_', which is where a word does.
std::string WordsOf(absl::string_view name);

// The first of the fragments that stands in `words`, without the '_' at its ends; empty if none
// does.
absl::string_view FindFragment(absl::string_view words,
                               std::initializer_list<absl::string_view> fragments);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_NAME_WORDS_H_
