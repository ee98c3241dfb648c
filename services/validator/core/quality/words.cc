#include "services/validator/core/quality/words.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/text.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxShown = 80;

// Whether a word begins at the capital `at`: "aB" and the C of "ABCd".
bool BeginsWord(absl::string_view name, size_t at) {
  if (!absl::ascii_isupper(name[at]) || at == 0) return false;
  if (absl::ascii_islower(name[at - 1])) return true;
  return absl::ascii_isupper(name[at - 1]) && at + 2 < name.size() &&
         absl::ascii_islower(name[at + 1]) && absl::ascii_islower(name[at + 2]);
}

}  // namespace

std::vector<std::string> WordsOfName(absl::string_view name) {
  std::vector<std::string> words;
  bool open = false;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!absl::ascii_isalnum(name[i])) {
      open = false;
      continue;
    }
    if (!open || BeginsWord(name, i)) words.emplace_back();
    open = true;
    words.back() += absl::ascii_tolower(name[i]);
  }
  return words;
}

std::vector<std::string> WordsOfProse(absl::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  for (const char c : text) {
    if (absl::ascii_isalnum(c)) {
      if (!open) words.emplace_back();
      open = true;
      words.back() += absl::ascii_tolower(c);
      continue;
    }
    open = false;
    const bool ends = c == '.' || c == ';' || c == '!' || c == '?';
    if (ends && !words.empty() && !words.back().empty()) words.emplace_back();
  }
  return words;
}

std::vector<absl::string_view> Segments(absl::string_view path) {
  return absl::StrSplit(path, '/', absl::SkipEmpty());
}

std::string RuleText(absl::string_view rule, absl::string_view what) {
  return ToUtf8(absl::StrCat(rule, ":", what.substr(0, kMaxShown)));
}

}  // namespace kernelmill::validator
