// The words of a text for the search. The site's script splits queries by the same rules (web/src),
// and word_cases.json tests both, so a change here needs the same change there.
//
//   - A run of ASCII letters and digits is split at capitals: "LayerNormFwd" is layer, norm, fwd;
//     "HTTPServer" is http, server. Digits stay with the letters before them: "fp16".
//   - A run of letters beyond ASCII is one word; in scripts that use no blanks, such as Chinese,
//     each two neighbours are one word, so that a query can find a part of a run.
//   - Other characters separate words. Too short and too long words are dropped.
//
// One pass over the text: linear time.

#include "client/catalog/search/words.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::client {
namespace {

constexpr std::array<absl::string_view, 30> kStopWords = {
    "and",  "as",     "be",     "by",   "def", "elif", "else", "false", "for",   "from",
    "if",   "in",     "import", "is",   "it",  "none", "not",  "of",    "on",    "or",
    "pass", "return", "self",   "that", "the", "this", "to",   "true",  "while", "with"};

// Returns whether a word ends before text[at]: at a character that is no letter or digit, at a
// capital after a small letter, and at the last capital of a run of capitals that a small letter
// follows.
bool EndsWord(absl::string_view text, size_t at) {
  const char c = text[at];
  if (absl::ascii_islower(c) || absl::ascii_isdigit(c)) return false;
  if (!absl::ascii_isupper(c)) return true;
  if (absl::ascii_islower(text[at - 1])) return true;
  return absl::ascii_isupper(text[at - 1]) && at + 1 < text.size() &&
         absl::ascii_islower(text[at + 1]);
}

// A letter beyond ASCII: its code point and its bytes; zeros if it is not a letter.
struct Letter {
  uint32_t code = 0;
  size_t size = 0;
};

// Returns whether a code point is a letter, by blocks: Latin to Greek Extended without the signs
// for times and division; Glagolitic to Cyrillic Extended; kana, Han and Hangul; and compatibility
// forms of Han. Characters of four bytes in UTF-8 are not words.
bool IsWordCode(uint32_t code) {
  return (code >= 0xc0 && code < 0x2000 && code != 0xd7 && code != 0xf7) ||
         (code >= 0x2c00 && code < 0x2e00) || (code >= 0x3040 && code < 0xd800) ||
         (code >= 0xf900 && code < 0xfb00);
}

// Decodes UTF-8 of two and three bytes. Wrong bytes are not letters, so they separate words.
Letter LetterAt(absl::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  Letter letter;
  if ((byte(0) & 0xe0) == 0xc0 && follows(1)) {
    letter = {((byte(0) & 0x1f) << 6) | (byte(1) & 0x3f), 2};
  } else if ((byte(0) & 0xf0) == 0xe0 && follows(1) && follows(2)) {
    letter = {((byte(0) & 0x0f) << 12) | ((byte(1) & 0x3f) << 6) | (byte(2) & 0x3f), 3};
  }
  return IsWordCode(letter.code) ? letter : Letter{};
}

// Adds the words of a run of such letters.
void AddForeign(const std::vector<absl::string_view>& letters, bool pairs,
                std::vector<std::string>* words) {
  if (!pairs) {
    std::string word;
    for (absl::string_view letter : letters) absl::StrAppend(&word, letter);
    if (letters.size() >= 2 && letters.size() <= kMaxWord) words->push_back(std::move(word));
    return;
  }
  if (letters.size() == 1) words->emplace_back(letters[0]);
  for (size_t i = 0; i + 1 < letters.size(); ++i) {
    words->push_back(absl::StrCat(letters[i], letters[i + 1]));
  }
}

}  // namespace

bool IsStopWord(absl::string_view word) {
  return std::find(kStopWords.begin(), kStopWords.end(), word) != kStopWords.end();
}

// A word of one ASCII letter says nothing; a single letter of Han is a word.
std::vector<std::string> Words(absl::string_view text) {
  std::vector<std::string> words;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = begin + 1;
    if (absl::ascii_isalnum(text[begin])) {
      while (end < text.size() && !EndsWord(text, end)) ++end;
      const absl::string_view word = text.substr(begin, end - begin);
      if (word.size() >= 2 && word.size() <= kMaxWord) words.push_back(absl::AsciiStrToLower(word));
    } else if (Letter letter = LetterAt(text, begin); letter.size > 0) {
      // From here on the blocks of IsWordCode are scripts that mostly use no blanks.
      const bool pairs = letter.code >= 0x2e00;
      std::vector<absl::string_view> letters;
      for (end = begin; letter.size > 0; letter = LetterAt(text, end)) {
        letters.push_back(text.substr(end, letter.size));
        end += letter.size;
      }
      AddForeign(letters, pairs, &words);
    }
    begin = end;
  }
  return words;
}

}  // namespace kernelmill::client
