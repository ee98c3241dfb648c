#include "services/extractor/core/tags/phrases.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace kernelmill::extractor {

// Words are compared as runs: a phrase is looked up in a hash table by the letters of a run of up
// to kMaxRun words, joined. That is why "layer_norm", "LayerNorm" and "layernorm" are one phrase.
// The bounds keep a hostile name of many words linear: at most kMaxWords runs of each length.

namespace {

constexpr size_t kMaxWords = 64;
constexpr size_t kMaxRun = 6;       // words of a phrase
constexpr size_t kMaxLetters = 48;  // of a phrase
constexpr size_t kMinPlural = 4;

bool IsUpper(char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)); }
bool IsLower(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// Returns whether the letter or digit at `at` begins a word rather than continuing one.
bool BeginsWord(absl::string_view name, size_t at) {
  if (at == 0) return true;
  const char before = name[at - 1];
  const char c = name[at];
  if (IsDigit(c) != IsDigit(before)) return true;
  if (!IsUpper(c)) return false;
  // A capital after a capital begins a word only if a small letter follows: FFTKernel is FFT and
  // Kernel.
  return !IsUpper(before) || (at + 1 < name.size() && IsLower(name[at + 1]));
}

}  // namespace

// Bytes that are neither letters nor digits end a word and are dropped.
std::vector<std::string> NameWords(absl::string_view name) {
  std::vector<std::string> words;
  bool within = false;  // a word
  for (size_t at = 0; at < name.size(); ++at) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(name[at]))) {
      within = false;
      continue;
    }
    if (!within || BeginsWord(name, at)) {
      if (words.size() == kMaxWords) break;
      words.emplace_back();
    }
    words.back() += absl::ascii_tolower(static_cast<unsigned char>(name[at]));
    within = true;
  }
  return words;
}

void Phrases::Add(absl::string_view phrase) { numbers_.try_emplace(std::string(phrase)); }

void Phrases::Add(absl::string_view phrase, int number) {
  numbers_[std::string(phrase)].push_back(number);
}

// Tries the longest runs of words first, and marks the words of each phrase as taken, so that
// shorter phrases within it are not found.
std::vector<Phrases::Found> Phrases::FindIn(const std::vector<std::string>& words) const {
  std::vector<Found> all;
  std::vector<bool> taken(words.size(), false);
  for (size_t run = std::min(kMaxRun, words.size()); run > 0; --run) {
    for (size_t begin = 0; begin + run <= words.size(); ++begin) {
      if (std::find(taken.begin() + begin, taken.begin() + begin + run, true) !=
          taken.begin() + begin + run) {
        continue;
      }
      std::string phrase;
      for (size_t i = begin; i < begin + run && phrase.size() <= kMaxLetters; ++i) {
        phrase += words[i];
      }
      if (phrase.size() > kMaxLetters) continue;
      auto found = numbers_.find(phrase);
      // The plural of a phrase is the phrase.
      if (found == numbers_.end() && phrase.size() > kMinPlural && phrase.back() == 's') {
        phrase.pop_back();
        found = numbers_.find(phrase);
      }
      if (found == numbers_.end()) continue;
      std::fill_n(taken.begin() + begin, run, true);
      all.push_back({found->first, &found->second});
    }
  }
  return all;
}

}  // namespace kernelmill::extractor
