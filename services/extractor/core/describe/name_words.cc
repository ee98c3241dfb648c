#include "services/extractor/core/describe/name_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace kernelmill::extractor {

// "numHeads_q" has the words "_num_heads_q_". The fragment "_num_" is in it, and so is "heads_";
// "_dim_" is not.

// Points and colons of qualified names separate words as well.
std::string SplitWords(absl::string_view name) {
  std::string words = "_";
  words.reserve(name.size() + 8);
  for (size_t i = 0; i < name.size(); ++i) {
    const bool starts_word = absl::ascii_isupper(static_cast<unsigned char>(name[i])) && i > 0 &&
                             absl::ascii_islower(static_cast<unsigned char>(name[i - 1]));
    if (starts_word) words += '_';
    words += name[i] == '.' || name[i] == ':'
                 ? '_'
                 : absl::ascii_tolower(static_cast<unsigned char>(name[i]));
  }
  words += '_';
  return words;
}

// Fragments are numbered in the order of the lists, so that a sort by number groups what is found
// by list, with the first fragment of each list in front.
Fragments::Fragments(const std::vector<List>& lists) {
  for (size_t list = 0; list < lists.size(); ++list) {
    for (const absl::string_view text : lists[list]) {
      buckets_[GetBucket(text)].push_back(fragments_.size());
      fragments_.push_back({list, text});
    }
  }
}

// Each place of the name looks only at the fragments that begin with the same two letters.
std::vector<Fragments::Found> Fragments::FindIn(absl::string_view words) const {
  std::vector<size_t> places;
  for (; words.size() >= 2; words.remove_prefix(1)) {
    for (const size_t place : buckets_[GetBucket(words)]) {
      if (absl::StartsWith(words, fragments_[place].text)) places.push_back(place);
    }
  }
  std::sort(places.begin(), places.end());
  std::vector<Found> found;
  for (const size_t place : places) {
    auto [list, fragment] = fragments_[place];
    // The first fragment of the list is there already.
    if (!found.empty() && found.back().list == list) continue;
    absl::ConsumePrefix(&fragment, "_");
    absl::ConsumeSuffix(&fragment, "_");
    found.push_back({list, fragment});
  }
  return found;
}

}  // namespace kernelmill::extractor
