#include "services/validator/core/license/text/units.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxShown = 200;

// The punctuation of Unicode that separates words: Latin-1's signs, dashes, quotes, bullets, boxes.
bool IsMark(uint32_t c) {
  return (c >= 0x80 && c <= 0xbf) || c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f) ||
         (c >= 0x2100 && c <= 0x214f) || (c >= 0x2190 && c <= 0x27bf) || c == 0xfeff ||
         (c >= 0x3000 && c <= 0x303f) || c == 0xfffd;
}

// Reads the code point at `at`; a byte that begins none is U+FFFD.
uint32_t CodePoint(absl::string_view text, size_t at, size_t* size) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
  *size = 1;
  if (byte < 0x80) return byte;
  if (more == 0 || at + static_cast<size_t>(more) >= text.size()) return 0xfffd;
  uint32_t c = byte & (0x3f >> more);
  for (int i = 1; i <= more; ++i) {
    const auto next = static_cast<unsigned char>(text[at + static_cast<size_t>(i)]);
    if ((next & 0xc0) != 0x80) return 0xfffd;
    c = c << 6 | (next & 0x3f);
  }
  *size = static_cast<size_t>(more) + 1;
  return c;
}

// Returns whether an address or a file's name says that there are terms: TERMS.md.
bool NamesTerms(absl::string_view token) {
  const std::string lower = absl::AsciiStrToLower(token);
  for (const char* word : {"term", "addend", "rider", "polic", "restrict", "condition", "eula",
                           "usage", "use-", "use_", "commercial", "noai", "no-ai", "no_ai"}) {
    if (absl::StrContains(lower, word)) return true;
  }
  return false;
}

// Returns whether the token is an address of the web or of mail, or the name of a file.
bool IsAddress(absl::string_view token) {
  if (absl::StrContains(token, "://") || absl::StartsWith(token, "www.")) return true;
  if (absl::StrContains(token, '@')) return true;
  if (absl::StartsWith(token, "LICENSE-") || absl::StartsWith(token, "LICENCE-")) return true;
  const size_t dot = token.rfind('.');
  const bool inner = dot != absl::string_view::npos && dot > 0 && dot + 1 < token.size();
  if (inner && absl::ascii_isalpha(token[dot + 1])) return true;
  return absl::StrContains(token, '/') && token.find_first_not_of("/") != std::string::npos &&
         !absl::StartsWith(token, "and/") && !absl::EndsWith(token, "/or");
}

// Returns whether the dot at `at` belongs to an initial or an abbreviation: "Isaac Z. Schlueter".
bool IsAbbreviated(absl::string_view text, size_t at) {
  if (text[at] != '.') return false;
  size_t begin = at;
  while (begin > 0 && absl::ascii_isalpha(text[begin - 1])) --begin;
  const absl::string_view word = text.substr(begin, at - begin);
  if (word.size() == 1) return true;
  for (const absl::string_view known : {"Inc", "Ltd", "Co", "Corp", "Dr", "St", "Jr", "al", "v"}) {
    if (word == known) return true;
  }
  return false;
}

}  // namespace

// Cuts a unit into lower-case words. Addresses and names of files become "@".
std::vector<std::string> Tokens(absl::string_view unit) {
  std::vector<std::string> tokens;
  for (absl::string_view token : absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n"))) {
    while (!token.empty() && absl::StrContains("<>()[]{}\"'`,;:*_.!?", token.back()))
      token.remove_suffix(1);
    while (!token.empty() && absl::StrContains("<>()[]{}\"'`,;:*_", token.front()))
      token.remove_prefix(1);
    if (token.empty()) continue;
    if (IsAddress(token)) {
      // The page of a licence is its name.
      const bool gnu = absl::StrContains(token, "gnu.org/licenses");
      const bool cc = absl::StrContains(token, "creativecommons.org/licenses");
      tokens.emplace_back(gnu ? "gpl" : cc ? "cc" : NamesTerms(token) ? "terms" : "@");
      continue;
    }
    std::string word;
    for (size_t at = 0; at < token.size();) {
      size_t size = 1;
      const uint32_t c = CodePoint(token, at, &size);
      const bool letter =
          c < 0x80 ? absl::ascii_isalnum(static_cast<char>(c)) || c == '+' : !IsMark(c);
      if (letter) {
        absl::StrAppend(&word, absl::AsciiStrToLower(token.substr(at, size)));
      } else if (!word.empty() && c == '.' && absl::ascii_isdigit(word.back())) {
        word.push_back('.');
      } else if (!word.empty()) {
        tokens.push_back(std::exchange(word, ""));
      }
      at += size;
    }
    if (!word.empty()) tokens.push_back(std::move(word));
  }
  return tokens;
}

std::string Joined(const std::vector<std::string>& words) {
  return absl::StrCat(" ", absl::StrJoin(words, " "), " ");
}

// Cuts a text at blank lines.
std::vector<Unit> Paragraphs(absl::string_view text) {
  std::vector<Unit> paragraphs;
  bool open = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const absl::string_view line = text.substr(at, end - at);
    const bool blank = line.find_first_not_of("#/*<!-;%|>=_~. \t\r") == absl::string_view::npos;
    if (blank) {
      open = false;
    } else if (open) {
      paragraphs.back().end = end;
    } else {
      paragraphs.push_back({at, end});
      open = true;
    }
    at = end + 1;
  }
  return paragraphs;
}

// Cuts a paragraph behind each dot or question mark that a blank follows.
std::vector<Unit> Sentences(absl::string_view text, const Unit& paragraph) {
  std::vector<Unit> sentences;
  size_t begin = paragraph.begin;
  for (size_t i = paragraph.begin; i < paragraph.end; ++i) {
    const bool stop = absl::StrContains(".?!", text[i]) && i + 1 < paragraph.end &&
                      absl::ascii_isspace(text[i + 1]) && !IsAbbreviated(text, i);
    if (!stop && i + 1 < paragraph.end) continue;
    sentences.push_back({begin, i + 1});
    begin = i + 1;
  }
  return sentences;
}

std::vector<Unit> Lines(absl::string_view text, const Unit& sentence) {
  std::vector<Unit> lines;
  for (size_t at = sentence.begin; at < sentence.end;) {
    const size_t end = std::min(text.find('\n', at), sentence.end);
    lines.push_back({at, end});
    at = end + 1;
  }
  return lines;
}

// Cuts a sentence behind each semicolon, and before a copyright that follows other words: "BSD
// 3-Clause License Copyright (c) 2023, Ann". Each clause must be harmless by itself.
std::vector<Unit> Clauses(absl::string_view text, const Unit& sentence) {
  std::vector<Unit> clauses;
  size_t begin = sentence.begin;
  const auto cut = [&](size_t at) {
    if (at > begin) clauses.push_back({begin, at});
    begin = at;
  };
  for (size_t i = sentence.begin; i < sentence.end; ++i) {
    const absl::string_view rest = text.substr(i, sentence.end - i);
    if (text[i] == ';') cut(i + 1);
    const bool holds =
        absl::StartsWith(rest, "Copyright (c) ") || absl::StartsWith(rest, "Copyright (C) ");
    if (holds) cut(i);
  }
  cut(sentence.end);
  return clauses;
}

// Returns a unit on one line, without marks at its beginning.
std::string Shown(absl::string_view unit) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  return absl::StrJoin(words, " ").substr(0, kMaxShown);
}

void VisitSentences(absl::string_view text,
                    const std::function<void(absl::string_view, int)>& visit) {
  size_t counted = 0;
  int line = 1;
  for (const Unit& paragraph : Paragraphs(text)) {
    for (const Unit& sentence : Sentences(text, paragraph)) {
      line += static_cast<int>(
          std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                     text.begin() + static_cast<std::ptrdiff_t>(sentence.begin), '\n'));
      counted = sentence.begin;
      visit(text.substr(sentence.begin, sentence.end - sentence.begin), line);
    }
  }
}

}  // namespace kernelmill::validator
