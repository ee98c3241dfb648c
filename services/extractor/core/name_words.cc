#include "services/extractor/core/name_words.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/extractor/core/text_lines.h"

namespace kernelmill::extractor {

std::string WordsOf(absl::string_view name) {
  std::string words = "_";
  for (size_t i = 0; i < name.size(); ++i) {
    const bool starts_word = absl::ascii_isupper(static_cast<unsigned char>(name[i])) && i > 0 &&
                             absl::ascii_islower(static_cast<unsigned char>(name[i - 1]));
    if (starts_word) words += '_';
    words += name[i] == '.' || name[i] == ':'
                 ? '_'
                 : absl::ascii_tolower(static_cast<unsigned char>(name[i]));
  }
  return absl::StrCat(words, "_");
}

absl::string_view FindFragment(absl::string_view words,
                               std::initializer_list<absl::string_view> fragments) {
  for (absl::string_view fragment : fragments) {
    if (!Contains(words, fragment)) continue;
    absl::ConsumePrefix(&fragment, "_");
    absl::ConsumeSuffix(&fragment, "_");
    return fragment;
  }
  return "";
}

}  // namespace kernelmill::extractor
