// Two forms of a legal text. LegalWords serves to compare a text with the SPDX list's, word by
// word: everything that two copies of one licence may differ in (case, punctuation, numbering,
// copyright lines, spelling) is gone. NormalizeWords and SentenceWords serve to look for phrases:
// they keep copyright lines and versions, and the latter keeps the ends of sentences.
#include "common/spdx/text/words.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kernelmill::spdx {
namespace {

constexpr size_t kMaxCopyrightLine = 300;  // a longer line is a text without line breaks
constexpr size_t kMaxPlaceholder = 80;
constexpr char kMarks[] = "#/*<!-;%{\"'`|>=_~. \t\r";

// Words of the guidelines' list that count as equal, and links of either scheme.
constexpr std::pair<const char*, const char*> kEqualWords[] = {
    {"acknowledgement", "acknowledgment"},
    {"acknowledgements", "acknowledgments"},
    {"analogue", "analog"},
    {"analyse", "analyze"},
    {"artefact", "artifact"},
    {"authorisation", "authorization"},
    {"authorised", "authorized"},
    {"calibre", "caliber"},
    {"cancelled", "canceled"},
    {"catalogue", "catalog"},
    {"categorise", "categorize"},
    {"centre", "center"},
    {"emphasised", "emphasized"},
    {"favour", "favor"},
    {"favourite", "favorite"},
    {"fulfilment", "fulfillment"},
    {"https", "http"},
    {"initialise", "initialize"},
    {"judgement", "judgment"},
    {"labelling", "labeling"},
    {"labour", "labor"},
    {"maximise", "maximize"},
    {"modelling", "modeling"},
    {"normalise", "normalize"},
    {"optimise", "optimize"},
    {"organisation", "organization"},
    {"organisations", "organizations"},
    {"organise", "organize"},
    {"owner", "holder"},
    {"owners", "holders"},
    {"practise", "practice"},
    {"programme", "program"},
    {"realise", "realize"},
    {"recognise", "recognize"},
    {"signalling", "signaling"},
    {"utilisation", "utilization"},
    {"while", "whilst"},
    {"wilful", "willful"},
};

// Two words that are also written as one.
constexpr std::pair<const char*, const char*> kJoinedWords[] = {
    {"sub", "license"}, {"sub", "licensed"},     {"sub", "licensing"},  {"sub", "licenses"},
    {"per", "cent"},    {"merchant", "ability"}, {"non", "commercial"}, {"non", "infringement"},
};

bool IsDigits(absl::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), absl::ascii_isdigit);
}

// Returns whether the word may be a small Roman number.
bool IsRoman(absl::string_view word) {
  return word.size() <= 5 && std::all_of(word.begin(), word.end(),
                                         [](char c) { return c == 'i' || c == 'v' || c == 'x'; });
}

// Returns the length of the bullet or number that a line begins with: "1.", "(a)", "iv)", "2.1", "o
// ".
size_t BulletLength(absl::string_view line) {
  size_t at = 0;
  if (at < line.size() && (line[at] == '(' || line[at] == '[')) ++at;
  const size_t begin = at;
  while (at < line.size() && (absl::ascii_isalnum(line[at]) || (line[at] == '.' && at > begin))) {
    ++at;
  }
  std::string word = absl::AsciiStrToLower(line.substr(begin, at - begin));
  const bool dot = absl::EndsWith(word, ".");
  while (absl::EndsWith(word, ".")) word.pop_back();
  const bool closed =
      dot || (at < line.size() && (line[at] == ')' || line[at] == ']' || line[at] == ':'));
  const bool blank = at < line.size() && absl::ascii_isspace(line[at]);
  if (word == "o" && blank) return at;
  if (word.empty()) return 0;
  const bool number = IsDigits(word) && word.size() <= 2;
  const bool section = absl::ascii_isdigit(word[0]) && absl::StrContains(word, '.');
  const bool letter = word.size() == 1 || IsRoman(word);
  if ((closed && (number || letter || section)) || (blank && section)) return at;
  return 0;
}

// Reads a text line by line into LegalWords. Each word remembers its line and its first byte, so
// that a match can be shown in the file.
class Reader {
 public:
  Reader(absl::string_view text, bool placeholders) : text_(text), placeholders_(placeholders) {}

  // Reads one line: comment marks and a bullet are dropped, and a copyright line is skipped.
  void Line(absl::string_view line, int number) {
    line_ = number;
    const size_t text = line.find_first_not_of(kMarks);
    if (text == absl::string_view::npos) return;
    // kMarks has '<', but a placeholder at the beginning of a line keeps its bracket.
    const bool held = placeholders_ && text > 0 && line[text - 1] == '<';
    absl::string_view rest = line.substr(held ? text - 1 : text);
    if (IsCopyrightLine(rest)) return;
    rest.remove_prefix(BulletLength(rest));
    Words(rest);
  }

  std::vector<LegalWord> Finish() { return std::move(words_); }

 private:
  void Words(absl::string_view line) {
    std::string word;
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (absl::ascii_isalnum(c)) {
        if (word.empty()) at_ = static_cast<size_t>(line.data() - text_.data()) + i;
        word.push_back(absl::ascii_tolower(c));
        continue;
      }
      Add(std::exchange(word, ""));
      if (c == '<' && placeholders_) i = Placeholder(line, i);
    }
    Add(std::move(word));
  }

  // Adds the wildcard for a placeholder whose bracket is at `open`. Returns its last byte; `open`
  // if the brackets hold a link or are not closed.
  size_t Placeholder(absl::string_view line, size_t open) {
    const size_t close = line.find('>', open);
    if (close == absl::string_view::npos || close - open > kMaxPlaceholder) return open;
    if (absl::StrContains(line.substr(open, close - open), "://")) return open;
    if (words_.empty() || !words_.back().text.empty()) words_.push_back({"", line_, at_});
    return close;
  }

  // Brings the word to its common form, and joins it with the word before if the two are also
  // written as one.
  void Add(std::string word) {
    // "the Author's" and "the Authors" differ only in the apostrophe.
    if (word.empty() || word == "s") return;
    const size_t licence = word.find("licence");
    if (licence != std::string::npos) word[licence + 5] = 's';
    for (const auto& [from, to] : kEqualWords) {
      if (word == from) word = to;
    }
    if (!words_.empty()) {
      for (const auto& [first, second] : kJoinedWords) {
        if (word == second && words_.back().text == first) {
          words_.back().text += word;
          return;
        }
      }
    }
    words_.push_back({std::move(word), line_, at_});
  }

  const absl::string_view text_;
  const bool placeholders_;
  int line_ = 0;
  size_t at_ = 0;
  std::vector<LegalWord> words_;
};

}  // namespace

// Tells "Copyright 2020 X" from "copyright notice" by what follows the word: a year, a sign, "by",
// or a capitalized name that is not one of the words of legal texts.
bool IsCopyrightLine(absl::string_view line) {
  if (line.size() > kMaxCopyrightLine) return false;
  std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(line));
  absl::string_view rest = lower;
  for (const absl::string_view before : {"portions ", "parts ", "all modifications "}) {
    absl::ConsumePrefix(&rest, before);
  }
  const absl::string_view text = rest;
  if (absl::StartsWith(rest, "all rights reserved")) return rest.size() < 25;
  if (absl::ConsumePrefix(&rest, "\xc2\xa9") || absl::ConsumePrefix(&rest, "(c)")) {
    rest = absl::StripLeadingAsciiWhitespace(rest);
    return !rest.empty() && (absl::ascii_isdigit(rest[0]) || absl::StartsWith(rest, "copyright"));
  }
  if (!absl::ConsumePrefix(&rest, "copyright")) return false;
  absl::ConsumePrefix(&rest, "s");
  absl::ConsumePrefix(&rest, ":");
  if (rest.empty() || !absl::ascii_isspace(rest[0])) {
    return absl::StartsWith(rest, "(c)") || absl::StartsWith(rest, "\xc2\xa9");
  }
  rest = absl::StripLeadingAsciiWhitespace(rest);
  if (rest.empty()) return false;
  if (absl::ascii_isdigit(rest[0]) || absl::StrContains("<[{(", rest[0])) return true;
  for (const absl::string_view sign : {"\xc2\xa9", "&copy;", "by ", "year", "yyyy", "the "}) {
    if (absl::StartsWith(rest, sign)) {
      return sign != "the " || absl::StrContains(rest, "authors");
    }
  }
  // "Copyright Facebook, Inc." goes on with a name, "copyright notice" does not.
  const size_t at = text.size() - rest.size();
  const absl::string_view original = absl::StripAsciiWhitespace(line);
  const size_t offset = original.size() - text.size() + at;
  if (offset >= original.size() || !absl::ascii_isupper(original[offset])) return false;
  if (!absl::ascii_islower(original[offset + 1 < original.size() ? offset + 1 : offset])) {
    return false;
  }
  for (const absl::string_view word :
       {"notice", "holder", "owner", "license", "law", "act", "and"}) {
    if (absl::StartsWith(rest, word)) return false;
  }
  return true;
}

std::vector<LegalWord> LegalWords(absl::string_view text, bool placeholders) {
  Reader reader(text, placeholders);
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) reader.Line(line, ++number);
  return reader.Finish();
}

namespace {

constexpr char kSentenceEnd[] = ".";

bool IsDigitAt(absl::string_view text, size_t at) {
  return at < text.size() && absl::ascii_isdigit(text[at]);
}

// Calls `word` with each word and its line, and with "." at the end of each sentence and paragraph.
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
      // A blank line ends a paragraph, and so a sentence.
      if (line_ends > 1) word(kSentenceEnd, line);
      line_ends = 0;
      current.push_back(absl::ascii_tolower(c));
      continue;
    }
    // A dot within a version is part of the word.
    if (c == '.' && i > 0 && IsDigitAt(text, i - 1) && IsDigitAt(text, i + 1)) {
      current.push_back(c);
      continue;
    }
    finish();
    // "v. 2.0" does not end a sentence, and neither does a dot inside a name such as LICENSE.txt.
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

// Returns the words between single blanks, with a blank at both ends, so that a phrase is found as
// whole words by a plain search (FindPhrase).
std::string NormalizeWords(absl::string_view text) {
  std::string normalized = " ";
  normalized.reserve(text.size() + 2);
  ForEachWord(text, [&](absl::string_view word, int) {
    if (word != kSentenceEnd) absl::StrAppend(&normalized, word, " ");
  });
  return normalized;
}

// `lines` gets the line of each word, if it is given.
std::vector<std::string> SentenceWords(absl::string_view text, std::vector<int>* lines) {
  std::vector<std::string> words;
  ForEachWord(text, [&](absl::string_view word, int line) {
    words.emplace_back(word);
    if (lines != nullptr) lines->push_back(line);
  });
  return words;
}

// Counts the blanks between words, since the text has one at both ends.
size_t CountWords(absl::string_view normalized) {
  const size_t blanks = std::count(normalized.begin(), normalized.end(), ' ');
  return blanks == 0 ? 0 : blanks - 1;
}

size_t FindPhrase(const std::string& normalized, absl::string_view phrase, size_t from) {
  return normalized.find(absl::StrCat(" ", phrase, " "), from);
}

}  // namespace kernelmill::spdx
