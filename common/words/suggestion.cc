#include "common/words/suggestion.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kernelmill {
namespace {

constexpr size_t kMaxBytes = 256;  // a longer text is no word, and costs time
constexpr size_t kMinBeginning = 3;

std::string LettersAndDigits(absl::string_view word) {
  std::string letters;
  for (const char c : word.substr(0, kMaxBytes)) {
    if (absl::ascii_isalnum(c)) letters.push_back(absl::ascii_tolower(c));
  }
  return letters;
}

struct Nearest {
  std::string word;
  size_t edits = std::numeric_limits<size_t>::max();
};

// Takes the first of several that are equally near.
Nearest Find(const std::string& wanted, const std::vector<std::string>& known) {
  Nearest nearest;
  for (const std::string& word : known) {
    const std::string letters = LettersAndDigits(word);
    const bool begins = wanted.size() >= kMinBeginning && absl::StartsWith(letters, wanted);
    const size_t edits = begins ? (letters == wanted ? 0 : 1) : CountEdits(wanted, letters);
    if (edits < nearest.edits) nearest = {word, edits};
  }
  return nearest;
}

}  // namespace

// Keeps three rows of the usual table: the last one gives replacements, the one before it swaps.
size_t CountEdits(absl::string_view a, absl::string_view b) {
  std::vector<size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
    }
    before_last = std::exchange(last, row);
  }
  return last.back();
}

std::string FindNearest(absl::string_view written, const std::vector<std::string>& known) {
  return Find(LettersAndDigits(written), known).word;
}

// A third of the letters may be wrong, and one in a short word.
std::string DidYouMean(absl::string_view written, const std::vector<std::string>& known) {
  const std::string wanted = LettersAndDigits(written);
  const Nearest nearest = Find(wanted, known);
  const size_t most = wanted.size() < 2 ? 0 : std::max<size_t>(1, wanted.size() / 3);
  if (nearest.word.empty() || nearest.edits > most) return "";
  return absl::StrCat(" (did you mean ", nearest.word, "?)");
}

}  // namespace kernelmill
