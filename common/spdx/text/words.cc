#include "common/spdx/text/words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::spdx {
namespace {

constexpr char kSentenceEnd[] = ".";

bool IsDigitAt(absl::string_view text, size_t at) {
  return at < text.size() && absl::ascii_isdigit(text[at]);
}

// Calls `word` with each word and its line, and with "." where a sentence or paragraph ends.
template <typename Callback>
void ForEachWord(absl::string_view text, const Callback& word) {
  std::string current;
  int line = 1;
  int line_ends = 0;
  const auto finish = [&] {
    if (current.empty()) return;
    if (absl::StartsWith(current, "licence")) current[5] = 's';
    word(current, line);
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (absl::ascii_isalnum(c)) {
      if (line_ends > 1) word(kSentenceEnd, line);
      line_ends = 0;
      current.push_back(absl::ascii_tolower(c));
      continue;
    }
    if (c == '.' && i > 0 && IsDigitAt(text, i - 1) && IsDigitAt(text, i + 1)) {
      current.push_back(c);
      continue;
    }
    finish();
    // "v. 2.0" does not end a sentence; neither does a dot inside a name such as LICENSE.txt.
    const bool abbreviated = current == "v";
    const bool before_blank = i + 1 == text.size() || absl::ascii_isspace(text[i + 1]);
    if ((c == '.' || c == ';') && before_blank && !abbreviated) word(kSentenceEnd, line);
    if (c == '\n') {
      ++line_ends;
      ++line;
    }
    current.clear();
  }
  finish();
}

}  // namespace

std::string NormalizeWords(absl::string_view text) {
  std::string normalized = " ";
  normalized.reserve(text.size() + 2);
  ForEachWord(text, [&](absl::string_view word, int) {
    if (word != kSentenceEnd) absl::StrAppend(&normalized, word, " ");
  });
  return normalized;
}

std::vector<std::string> SentenceWords(absl::string_view text, std::vector<int>* lines) {
  std::vector<std::string> words;
  ForEachWord(text, [&](absl::string_view word, int line) {
    words.emplace_back(word);
    if (lines != nullptr) lines->push_back(line);
  });
  return words;
}

size_t CountWords(absl::string_view normalized) {
  const size_t blanks = std::count(normalized.begin(), normalized.end(), ' ');
  return blanks == 0 ? 0 : blanks - 1;
}

size_t FindPhrase(const std::string& normalized, absl::string_view phrase, size_t from) {
  return normalized.find(absl::StrCat(" ", phrase, " "), from);
}

}  // namespace kernelmill::spdx
